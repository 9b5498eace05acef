"""The trials of a run: one line each, in the order that `TrialRows` gives them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from engine import state as st
from screens import format as fmt
from screens.columns import Column
from screens.pieces import Pieces, cells, cut
from screens.trial_columns import COLUMNS, STATE_STYLES, cell
from screens.trial_rows import TrialRows
from screens.widgets.line_table import LineTable


class TrialsTable(LineTable):
    """`now` is the moment that running times are counted to; set it before painting."""

    COLUMNS = COLUMNS

    def __init__(self, rows: TrialRows, now: datetime, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.rows = rows
        self.now = now
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
        """The number of the attempt tells nothing where each trial is the only one."""
        plan = self.rows.state.plan
        several = plan is None or plan.attempts > 1
        return [column for column in COLUMNS if several or column.name != "attempt"]

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
        for state in (st.RUNNING, st.WAITING, st.PASSED, st.FAILED, st.UNSCORED, st.QUEUED):
            if group.counts.get(state):
                pieces.append((f" {fmt.GLYPHS[state]} {group.counts[state]} ", STATE_STYLES[state]))
        return pieces

    def running_keys(self) -> list[str]:
        """Visible rows on which time goes by."""
        found = []
        for key in self.visible_keys():
            trial = self.rows.trial(key)
            if trial is not None and trial.state == st.RUNNING:
                found.append(key)
        return found
