"""The trials of a run: one line each, in the order that `TrialRows` gives them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from engine import trial_state
from screens import format as fmt
from screens.columns import Column
from screens.pieces import Pieces, cells, cut
from screens.trial_columns import COLUMNS, LOAD, STATE_STYLES, cause_pieces, cell, load_pieces
from screens.trial_facts import CUT_OFF
from screens.trial_rows import GROUPINGS, TrialRows
from screens.widgets.marking_table import MarkingTable

ROOM_FOR_BARS = 130
"""Cells from which on the share of the time limit has a bar of its own."""


class TrialsTable(MarkingTable):
    """`now` is the moment that running times are counted to; set it before painting."""

    COLUMNS = COLUMNS

    def __init__(self, rows: TrialRows, now: datetime, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.rows = rows
        self.now = now
        self.stale = False
        self.waiting_text = ""
        self.hidden_columns: set[str] = set()
        self._load: dict[str, deque[float]] = {}

    @property
    def keys(self) -> Sequence[str]:
        return self.rows.keys

    def find(self, key: str) -> int | None:
        return self.rows.index(key)

    def sorted_by(self) -> tuple[str, bool]:
        return self.rows.sort, self.rows.down

    def empty_text(self) -> str:
        if self.rows.state.trials:
            return "no trial matches; esc shows all again"
        return self.waiting_text

    def columns(self) -> Sequence[Column]:
        """What tells nothing leaves: the attempt where each trial has one, what is being done where all is over."""
        state = self.rows.state
        idle = {"attempt"} if state.plan is not None and state.plan.attempts == 1 else set()
        if state.finished is not None:
            idle |= {"activity", "cpu", "memory", "load"}
        if self.rows.causes is None or not self.rows.problem_keys:
            idle.add("cause")
        if self.room < ROOM_FOR_BARS:
            idle.add("used")  # the words of the issues tell more
        idle |= self.hidden_columns
        return [self._wide_enough(column) for column in COLUMNS if column.name not in idle]

    def _wide_enough(self, column: Column) -> Column:
        """No word for a state is cut, where a trial is in it."""
        if column.name != "state":
            return column
        there = [cells(f"✓ {state}") for state in trial_state.STATES if self.rows.state.count(state)]
        return replace(column, width=max([column.width, *there]))

    def marked(self, key: str) -> bool:
        return key in self.rows.marked

    def set_marks(self, keys: Iterable[str], on: bool) -> None:
        (self.rows.marked.update if on else self.rows.marked.difference_update)(keys)

    def flip_mark(self, key: str) -> None:
        self.rows.mark(key)

    def can_be_marked(self, key: str) -> bool:
        return key not in self.rows.groups

    def wanted_widths(self) -> dict[str, int]:
        return {"task": self.rows.longest_task, "activity": 24, "cause": 8}

    def sample_load(self) -> None:
        """Once a second: the CPU of what runs, for its little curve."""
        running = self.rows.running
        for key in self._load.keys() - running:
            del self._load[key]
        for key in running:
            trial = self.rows.trial(key)
            if trial is not None and trial.cpu_percent is not None:
                self._load.setdefault(key, deque(maxlen=LOAD)).append(trial.cpu_percent)

    def cell(self, key: str, column: str) -> Pieces:
        trial = self.rows.trial(key)
        if trial is None:
            return []
        if self.stale and trial.state == trial_state.RUNNING and column == "state":
            return CUT_OFF
        if column == "cause":
            return cause_pieces(self.rows.causes, trial)
        if column == "load":
            return load_pieces(self._load.get(key, ()), trial)
        return cell(column, trial, self.rows.letters.get(trial.arm, "?"), self.now)

    def whole_row(self, key: str) -> Pieces | None:
        group = self.rows.groups.get(key)
        if group is None:
            return None
        mark = "▸" if key in self.rows.collapsed else "▾"
        pieces: Pieces = [
            (f"{mark} ", "deck--accent"),
            (f"{cut(group.title, 48)}  ", "deck--group"),
            (f"{fmt.count(group.trials, 'trial')}  ", "deck--dim"),
        ]
        for state in (
            trial_state.RUNNING,
            trial_state.WAITING,
            trial_state.PASSED,
            trial_state.FAILED,
            trial_state.UNSCORED,
            trial_state.QUEUED,
        ):
            if group.counts.get(state):
                pieces.append((f" {fmt.GLYPHS[state]} {group.counts[state]} ", STATE_STYLES[state]))
        return pieces

    def running_keys(self) -> list[str]:
        """Visible rows on which time goes by."""
        found = []
        for key in self.visible_keys():
            trial = self.rows.trial(key)
            if trial is not None and trial.state == trial_state.RUNNING:
                found.append(key)
        return found

    # --- what a person does to the order; each time all is arranged anew ---

    def sort_by(self, column: str) -> None:
        """The same column again turns the direction round."""
        self.rows.set_sort(column, self.now)
        self.rows_changed()

    def sort_step(self, step: int) -> None:
        names = [column.name for column, _ in self.shares()] or [column.name for column in COLUMNS]
        at = names.index(self.rows.sort) if self.rows.sort in names else 0
        self.sort_by(names[(at + step) % len(names)])

    def group_step(self) -> None:
        at = GROUPINGS.index(self.rows.grouping)
        self.rows.set_grouping(GROUPINGS[(at + 1) % len(GROUPINGS)], self.now)
        self.rows_changed()

    def fold(self, folded: bool | None = None) -> None:
        """The group under the cursor, or the one that its trial is in; None turns it round."""
        key = self.cursor_key
        if key is None or not self.rows.grouping:
            return
        group = key if key in self.rows.groups else self.rows.group_of(key)
        if group is not None:
            self.rows.fold(group, folded)
            self.cursor = group
            self.rows_changed()

    def mark(self) -> None:
        """The row under the cursor; the cursor goes one down."""
        key = self.cursor_key
        if key is not None:
            self.rows.mark(key)
            self.last_marked = key
            self.move_to(self.cursor_row + 1)
            self.repaint(self.visible_keys())

    def mark_on(self, step: int) -> None:
        """Mark the row under the cursor, go one up or down, and mark that one."""
        for move in (0, step):
            self.move_to(self.cursor_row + move)
            key = self.cursor_key
            if key is not None and key not in self.rows.groups:
                self.rows.marked.add(key)
                self.last_marked = key

    def mark_range(self) -> None:
        """All from the row that was marked last to the one under the cursor."""
        if self.cursor_key is None:
            return
        start = self.find(self.last_marked) if self.last_marked is not None else None
        self.rows.mark_rows(self.cursor_row if start is None else start, self.cursor_row)
        self.last_marked = self.cursor_key

    def to_problem(self, step: int) -> bool:
        """To the next trial that wants a look; False where there is none."""
        row = self.rows.next_problem(self.cursor_row, step)
        if row is not None:
            self.move_to(row)
        return row is not None
