"""What the run cards of two sides differ in beyond what their events tell: the acceptance rule, variables of the host,
caps, retries, the content of single tasks, what was asked.

Cards are read again only where their file changed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from engine.analysis.arms import Arm
from engine.analysis.run_differences import Differences
from engine.analysis.wording import listed, many
from engine.layout import CARD
from engine.runs.card import CardInvalid, RunCard, read_card
from engine.text import clean_line

_ONLY_IN_CARDS = "acceptance rule, variables of the host, retry policy"


def card_words(a: Arm, b: Arm, folders: Mapping[str, Path]) -> Differences:
    """`folders` are those of our own runs, by their labels; other systems have no card. Reads files: call it in a
    thread. `question` is the one that both sides' cards state, "" where they state none or not the same."""
    cards: dict[str, RunCard | None] = {}
    problems: list[str] = []
    for ref in (*a.refs, *b.refs):
        if ref.run in cards:
            continue
        cards[ref.run], problem = _card(folders[ref.run]) if ref.run in folders else (None, "")
        if problem:
            problems.append(problem)
    sides = [[card for ref in arm.refs if (card := cards[ref.run]) is not None] for arm in (a, b)]
    first_a, first_b = (side[0] if side else None for side in sides)
    words: list[str] = []
    unknown: tuple[str, ...] = ()
    if first_a is not None and first_b is not None:
        words += between(first_a, first_b)
    elif first_a is not None or first_b is not None:
        unknown = (f"not known of {'B' if first_b is None else 'A'}: {_ONLY_IN_CARDS}",)
    for letter, side in zip("AB", sides, strict=True):
        inside = [text for card in side[1:] for text in between(side[0], card, ("the first", "another"))]
        words += [f"the runs of {letter}: {text}" for text in dict.fromkeys(inside)]
    asked = {str(card.question or "") for card in (first_a, first_b) if card is not None}
    return Differences(
        cards=(*problems, *words),
        unknown=unknown,
        question=asked.pop() if len(asked) == 1 and first_a and first_b else "",
    )


def between(a: RunCard, b: RunCard, names: tuple[str, str] = ("A", "B")) -> list[str]:
    """In words, one a difference."""
    found: list[str] = []
    for what, one, two in (
        ("question", a.question or "not stated", b.question or "not stated"),
        ("acceptance rule", a.acceptance, b.acceptance),
        ("number to be looked at first", a.primary_metric, b.primary_metric),
        ("hypothesis", a.hypothesis or "none", b.hypothesis or "none"),
        ("variables of the host for the tasks", _names(a.allowed_host_env), _names(b.allowed_host_env)),
        ("cap of CPUs", _cap(a.cpus_cap, ""), _cap(b.cpus_cap, "")),
        ("cap of memory", _cap(a.memory_mb_cap, " MB"), _cap(b.memory_mb_cap, " MB")),
        ("retry policy", _retries(a), _retries(b)),
        ("order of trials", a.order, b.order),
        ("pilot tasks", _names(a.split.pilot), _names(b.split.pilot)),
        ("held-out tasks", _names(a.split.held_out), _names(b.split.held_out)),
        ("tasks left out", _left_out(a), _left_out(b)),
    ):
        if one != two:
            found.append(clean_line(f"{what}: {names[0]} {one}, {names[1]} {two}", 400))
    content_a, content_b = ({task.id: task.digest for task in card.tasks if task.digest} for card in (a, b))
    other = sorted(task for task in content_a.keys() & content_b.keys() if content_a[task] != content_b[task])
    if other:
        found.append(clean_line(f"content of {many(len(other), 'task')} of the same name: {listed(other)}", 400))
    return found


def _names(values: Sequence[str]) -> str:
    return listed(sorted(values), 5) or "none"


def _cap(value: float | None, unit: str) -> str:
    return "none" if value is None else f"{value:g}{unit}"


def _retries(card: RunCard) -> str:
    policy = card.retries
    redo = f", verdicts redone for {_names(policy.redo_verdicts)}" if policy.redo_verdicts else ""
    return f"{_names(policy.causes)} {policy.how_often}{redo}"


def _left_out(card: RunCard) -> str:
    return _names([*(one.task for one in card.exclusions), *card.exclude])


def _card(folder: Path) -> tuple[RunCard | None, str]:
    """The card, and what is wrong with it: one that is not there is no fault of the measurement."""
    try:
        stat = (folder / CARD).stat()
    except OSError:
        return None, ""
    return _read(folder, stat.st_mtime_ns, stat.st_size)


@lru_cache(maxsize=64)
def _read(folder: Path, changed_ns: int, size: int) -> tuple[RunCard | None, str]:
    try:
        return read_card(folder), ""
    except CardInvalid as error:
        return None, clean_line(f"the run card can't be relied on: {error}", 400)
