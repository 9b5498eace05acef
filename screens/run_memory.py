"""What is kept of how a person looked at a run: filter, order, marks, where they were, what they had seen."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, runtime_checkable

import msgspec

from screens.source import RunSource
from screens.trial_columns import BY_NAME
from screens.trial_rows import GROUPINGS, TrialRows

MOST_MARKS = 10_000
MOST_RECALLED = 50
"""Earlier filters."""


class RunMemory(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """As it lies in a file. Whatever it says is held against the run before it is used."""

    filter: str = ""
    recalled: tuple[str, ...] = ()
    problems: bool = False
    sort: str = "state"
    down: bool = False
    second: str = ""
    second_down: bool = False
    grouping: str = ""
    marked: tuple[str, ...] = ()
    cursor: str = ""
    seen_warnings: int = 0


@runtime_checkable
class Remembers(Protocol):
    """The app, to a screen that was left and is opened again."""

    def recall_run(self, source: RunSource) -> RunMemory | None:
        """Of this run; None where there is nothing yet."""

    def remember_run(self, source: RunSource, memory: RunMemory) -> None: ...


def of_rows(rows: TrialRows, text: str, recalled: Iterable[str], cursor: str, seen: int) -> RunMemory:
    return RunMemory(
        filter=text,
        recalled=tuple(recalled)[-MOST_RECALLED:],
        problems=rows.problems,
        sort=rows.sort,
        down=rows.down,
        second=rows.second,
        second_down=rows.second_down,
        grouping=rows.grouping,
        marked=tuple(sorted(rows.marked))[:MOST_MARKS],
        cursor=cursor,
        seen_warnings=seen,
    )


def give_back(memory: RunMemory, rows: TrialRows) -> None:
    """Into rows that are about to be arranged; what this version or this run doesn't know is passed over."""
    rows.problems = memory.problems
    if memory.sort in BY_NAME:
        rows.sort, rows.down = memory.sort, memory.down
    if memory.second in BY_NAME:
        rows.second, rows.second_down = memory.second, memory.second_down
    if memory.grouping in GROUPINGS:
        rows.grouping = memory.grouping
    rows.marked = set(memory.marked)
