"""The trials of a run: one line each, in the order that `TrialRows` gives them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from engine import trial_state
from screens import format as fmt
from screens.columns import Column
from screens.pieces import Pieces, cells, cut
from screens.trial_columns import COLUMNS, STATE_STYLES, cell
from screens.trial_facts import CUT_OFF
from screens.trial_rows import GROUPINGS, TrialRows
from screens.widgets.line_table import LineTable


class TrialsTable(LineTable):
    """`now` is the moment that running times are counted to; set it before painting."""

    COLUMNS = COLUMNS

    def __init__(self, rows: TrialRows, now: datetime, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.rows = rows
        self.now = now
        self.stale = False
        self.waiting_text = ""
        self._wanted: tuple[int, dict[str, int]] | None = None

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
            idle |= {"activity", "cpu", "memory"}
        return [column for column in COLUMNS if column.name not in idle]

    def marked(self, key: str) -> bool:
        return key in self.rows.marked

    def wanted_widths(self) -> dict[str, int]:
        trials = self.rows.state.trials
        if self._wanted is None or self._wanted[0] != len(trials):
            longest = max((cells(trial.task) for trial in trials.values()), default=0)
            self._wanted = (len(trials), {"task": longest, "activity": 24})
        return self._wanted[1]

    def cell(self, key: str, column: str) -> Pieces:
        trial = self.rows.trial(key)
        if trial is None:
            return []
        if self.stale and trial.state == trial_state.RUNNING and column == "state":
            return CUT_OFF
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
            self.move_to(self.cursor_row + 1)
            self.repaint(self.visible_keys())

    def to_problem(self, step: int) -> bool:
        """To the next trial that wants a look; False where there is none."""
        row = self.rows.next_problem(self.cursor_row, step)
        if row is not None:
            self.move_to(row)
        return row is not None
