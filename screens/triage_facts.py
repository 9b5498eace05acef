"""What the triage screen says about a trial, as lines of pieces: no widget, no painting."""

from __future__ import annotations

from collections.abc import Mapping

from engine.text import clean_line
from engine.triage.labels import Label
from engine.triage.proposal import Proposal, Strength
from engine.trial_state import TrialState
from screens import format as fmt
from screens.pieces import Pieces
from screens.triage_blindfold import Cover
from screens.trial_facts import state_pieces, summary

STRENGTH_GLYPHS = {Strength.STRONG: "●", Strength.WEAK: "○"}


def proposed(proposal: Proposal | None, short: bool = False) -> Pieces:
    """`proposed  infrastructure  (2 rules, strong)`."""
    if proposal is None:
        return [("looking for findings …", "deck--dim")]
    if proposal.cause is None:
        others = len(proposal.findings)
        return [
            ("nothing proposed", "deck--dim"),
            (f"  ({fmt.count(others, 'finding')})" if others else "", "deck--dim"),
        ]
    rules = sum(finding.cause is proposal.cause for finding in proposal.findings)
    words = f"({fmt.count(rules, 'rule')}, {proposal.strength})" if not short else f"({proposal.strength})"
    return [
        ("proposed  ", "deck--dim"),
        (f"{STRENGTH_GLYPHS[proposal.strength]} {proposal.cause}", "deck--accent"),
        (f"  {words}", "deck--dim"),
    ]


def verdict(trial: TrialState, cover: Cover, stale: bool = False) -> Pieces:
    """State, time, and what decides."""
    shown = cover.trial(trial)
    rest = [(cover.text(text), style) for text, style in summary(shown)]
    return [
        *state_pieces(shown, stale),
        (f"  {fmt.clock_time(trial.seconds)}", "deck--strong"),
        (" ·", "deck--faint"),
        *rest,
    ]


def own_words(label: Label | None, skipped: bool, note: str) -> Pieces:
    """What stands under this person's name, and a note that waits for a label."""
    pieces: Pieces = []
    if label is not None:
        pieces += [("✓ you: ", "deck--good"), (str(label.cause), "deck--strong")]
        if label.note and not note:
            pieces.append((f"  “{clean_line(label.note)}”", "deck--dim"))
    elif skipped:
        pieces.append(("↷ skipped, undecided", "deck--dim"))
    if note:
        pieces += [("   " if pieces else "", ""), ("✎ note: ", "deck--accent"), (clean_line(note), "")]
        pieces.append(("  (goes with your label)", "deck--faint"))
    return pieces


def others_words(labels: Mapping[str, Label], who: str, cover: Cover) -> list[Pieces]:
    """Everybody else's labels, a line each; ask only for what this person may see."""
    lines: list[Pieces] = []
    own = labels[who].cause if who in labels else None
    for name, label in labels.items():
        if name == who:
            continue
        same = label.cause is own
        line: Pieces = [
            (f"{'=' if same else '≠'} {clean_line(name, 40)}: ", "deck--dim" if same else "deck--warn"),
            (str(label.cause), "" if same else "deck--warn"),
            (f"  {fmt.wall_date(label.at)}", "deck--faint"),
        ]
        if label.note:
            line.append((f"  “{cover.text(label.note)}”", "deck--dim"))
        lines.append(line)
    return lines


def notes_in_full(settled: Label | None, labels: Mapping[str, Label], cover: Cover) -> list[tuple[str, str]]:
    """Every note that this person may see, each with a line above it that says whose it is."""
    found = [(f"note of {name}, {label.cause}", label) for name, label in labels.items()]
    if settled is not None:
        found.insert(0, (f"note of the settlement by {settled.who}", settled))
    return [(clean_line(head, 100), cover.several_lines(label.note)) for head, label in found if label.note]


def settled_words(label: Label | None, cover: Cover) -> Pieces:
    if label is None:
        return []
    note = f"  “{cover.text(label.note)}”" if label.note else ""
    return [
        ("⚖ settled: ", "deck--good"),
        (str(label.cause), "deck--strong"),
        (f" by {clean_line(label.who, 40)}{note}", "deck--dim"),
    ]
