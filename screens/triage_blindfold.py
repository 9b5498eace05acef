"""What a trial looks like where its arm is hidden: no name, no price, and logs that are not called after the agent."""

from __future__ import annotations

import msgspec

from engine.layout import LogFile
from engine.state import RunState
from engine.text import clean_line
from engine.triage.blind import HIDDEN, Blindfold
from engine.trial_state import EarlierRun, TrialState


class Cover:
    """On or off; off it changes nothing. Knows the names of a run's arms as far as they are planned."""

    def __init__(self, state: RunState) -> None:
        self._state = state
        self._made_for = (-1, -1)
        self._blindfold: Blindfold | None = None
        self.on = False

    @property
    def blindfold(self) -> Blindfold:
        size = (len(self._state.trials), len(self._state.arms))
        if self._blindfold is None or size != self._made_for:
            self._made_for, self._blindfold = size, Blindfold(self._state)
        return self._blindfold

    def text(self, text: str) -> str:
        """Text of ours, on one line; safe to be shown either way."""
        line = clean_line(text)
        return self.blindfold.text(line) if self.on else line

    def several_lines(self, text: str) -> str:
        """The same of a text that may have several lines."""
        return "\n".join(self.text(line) for line in text.splitlines())

    def trial(self, trial: TrialState) -> TrialState:
        """Models are known by their prices, so these go too."""
        if not self.on:
            return trial
        return msgspec.structs.replace(
            trial,
            trial=HIDDEN,
            arm=HIDDEN,
            project="",
            tokens_in=None,
            tokens_cached=None,
            tokens_out=None,
            tokens_cache_written=None,
            tokens_reasoning=None,
            cost_usd=None,
            cost_partial=False,
            cost_source="",
            discarded_cost_usd=None,
            discarded_cost_partial=False,
            earlier=[self._earlier(run) for run in trial.earlier],
        )

    def _earlier(self, run: EarlierRun) -> EarlierRun:
        return msgspec.structs.replace(run, cost_usd=None, cost_partial=False, reason=self.text(run.reason), folder="")

    def log(self, log: LogFile) -> str:
        if self.on and log.kind == "agent":
            return "agent"
        return self.text(clean_line(log.label, 40))
