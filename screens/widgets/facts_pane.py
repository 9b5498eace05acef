"""The facts of a trial, to be scrolled."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import VerticalScroll

from engine.events import ArmInfo
from engine.trial_state import TrialState
from screens.trial_facts import facts
from screens.widgets.lines import Line, Lines


class FactsText(Lines):
    trial: TrialState | None = None
    arm: ArmInfo | None = None

    def make(self, width: int) -> list[Line]:
        return facts(self.trial, width, self.arm) if self.trial is not None else []


class FactsPane(VerticalScroll, can_focus=True):
    def compose(self) -> ComposeResult:
        yield FactsText()

    def set_trial(self, trial: TrialState | None, arm: ArmInfo | None = None) -> None:
        """`arm` is the trial's."""
        text = self.query_one(FactsText)
        text.trial, text.arm = trial, arm
        text.show()
