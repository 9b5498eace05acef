"""What a trial is called in triage: by its case number and task, and by its arm only where arms aren't hidden."""

from __future__ import annotations

from collections.abc import Mapping

from engine.state import RunState
from engine.triage.blind import cases
from screens import format as fmt
from screens.triage_blindfold import Cover


class TrialNames:
    def __init__(self, state: RunState, cover: Cover) -> None:
        self._state = state
        self._cover = cover
        self._cases: Mapping[str, int] = {}

    def of(self, trial: str) -> str:
        """`case 8 live-database-cutover A`; safe to be shown."""
        known = self._state.trials.get(trial)
        if known is None:
            return "a trial that is not here" if self._cover.on else self._cover.text(trial)
        if len(self._cases) != len(self._state.trials):
            self._cases = cases(self._state)
        words = [f"case {self._cases[trial]}", known.task]
        arms = list(self._state.arms)
        if not self._cover.on and len(arms) > 1:
            words.append(fmt.arm_letter(arms.index(known.arm)))
        if self._state.plan is not None and self._state.plan.attempts > 1:
            words.append(str(known.attempt))
        return self._cover.text(" ".join(words))
