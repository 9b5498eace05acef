"""A trial's phases in time, as wide as there is room."""

from __future__ import annotations

from datetime import datetime

from engine.trial_state import TrialState
from screens.trial_timeline import timeline
from screens.widgets.lines import Line, Lines


class TimelineLine(Lines):
    trial: TrialState | None = None
    now: datetime | None = None

    def make(self, width: int) -> list[Line]:
        if self.trial is None or self.now is None:
            return []
        return [(pieces, []) for pieces in timeline(self.trial, self.now, width)]
