"""The run under the cursor of a list, in one line: what its columns have no room for."""

from __future__ import annotations

from datetime import datetime

from screens.pieces import Pieces
from screens.run_summary import RunSummary
from screens.widgets.lines import Line, Lines
from screens.widgets.runs_table import state_pieces, tail

_WIDEST_STATE = 60


class RunLine(Lines):
    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._run: RunSummary | None = None
        self._now: datetime | None = None

    def set(self, run: RunSummary | None, now: datetime) -> None:
        self._run, self._now = run, now
        self.show()

    def make(self, width: int) -> list[Line]:
        if self._run is None or self._now is None:
            return [([], [])]
        state = state_pieces(self._run, self._now, _WIDEST_STATE)
        left: Pieces = [(" ", ""), *state, (f"   {self._run.kind}", "deck--dim")]
        room = max(0, width - sum(len(text) for text, _ in left) - 4)
        return [(left, [(tail(str(self._run.folder), room), "deck--dim"), (" ", "")])]
