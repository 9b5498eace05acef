"""The line above triage: how far one is, whether arms are hidden, who decides; and what is wrong with the labels."""

from __future__ import annotations

from engine.text import clean_line
from screens import format as fmt
from screens.pieces import Pieces
from screens.source import RunSource
from screens.triage_blindfold import Cover
from screens.triage_deciding import Deciding
from screens.triage_desk import TriageDesk
from screens.triage_walk import Walk
from screens.widgets.lines import Line


def standing(desk: TriageDesk, walk: Walk, deciding: Deciding, cover: Cover) -> Pieces:
    """`7 of 19 decided · 2 came · blind · you: ada`."""
    decided = sum(desk.decided(trial) for trial in walk.items)
    pieces: Pieces = [(f"{decided} of {len(walk.items)} decided", "deck--strong")]
    for count, word in ((len(walk.came), "came"), (len(deciding.marked), "marked")):
        pieces.append((f" · {count} {word}" if count else "", "deck--accent"))
    pieces.append((" · blind" if cover.on else "", "deck--accent"))
    pieces.append((f" · you: {clean_line(desk.who, 24)}", "deck--dim"))
    return pieces


def run_name(source: RunSource, cover: Cover) -> str:
    plan = source.state.plan
    return cover.text(plan.name if plan else source.folder.name)


def blind(desk: TriageDesk, trial: str | None) -> Pieces:
    """What is said once, when arms are hidden from now on."""
    text = "blind: arms are hidden; logs are shown as they are and may name the model"
    if trial in desk.seen_by_name:
        text += "; this trial you have seen by name, its label will not count as blind"
    return [(text, "deck--accent")]


def order(cover: Cover, undecided_only: bool) -> str:
    return f"{'undecided only, ' if undecided_only else ''}{'mixed' if cover.on else 'most telling first ↓'}"


def problems(desk: TriageDesk, write: str) -> list[Line]:
    """Loud where something decided is not on the disk. `write` is the key that tries again."""
    if desk.problem and desk.unwritten:
        kept = f"! {fmt.count(desk.unwritten, 'decision')} NOT WRITTEN, kept here, tried again ({write}: now)"
        return [([(kept, "deck--bad")], []), ([(f"  {clean_line(desk.problem, 300)}", "deck--bad")], [])]
    if desk.problem:
        return [([(f"! {clean_line(desk.problem, 300)}", "deck--bad")], [])]
    if desk.gone:
        again = "" if desk.read_only else f" ({write}: write them there again)"
        file = clean_line(desk.path.name, 60) if desk.path is not None else "the file of labels"
        text = f"! {fmt.count(desk.gone, 'record')} taken out of {file} by somebody{again}"
        return [([(text, "deck--bad")], [])]
    if desk.damaged:
        more = f" (and {len(desk.damaged) - 1} more)" if len(desk.damaged) > 1 else ""
        return [([(f"▵ {clean_line(desk.damaged[-1])}{more}", "deck--warn")], [])]
    return []
