"""Everything is failing: said early, from the last trials of an arm that ended."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

from engine import trial_state
from engine.issues import Severity
from engine.state import RunState
from engine.trial_state import TrialState

SAME = 5
"""So many trials of an arm in a row that end without a pass and with the same issue are no chance."""
NONE_PASSED = 10
"""So many trials of an arm that end, none of them with a pass, whatever they say."""
_ENDED = frozenset({trial_state.PASSED, trial_state.FAILED, trial_state.UNSCORED})


@dataclass(frozen=True)
class Alarm:
    """`code` is what the last trials of the arm have in common, "" where it is only that none has passed."""

    arm: str
    many: int
    code: str

    def text(self, letter: str) -> str:
        if self.code:
            return f"{letter}: the last {self.many} trials all ended with {self.code}"
        return f"{letter}: none of {self.many} trials has passed"


class AlarmWatch:
    """Fed with the trials that changed; remembers the last few ends of each arm."""

    def __init__(self, state: RunState) -> None:
        self._state = state
        self._ends: dict[str, deque[tuple[str, str, bool]]] = {}
        self._known: set[str] = set()

    def update(self, dirty: Iterable[str]) -> None:
        trials = [self._state.trials[key] for key in dirty if key in self._state.trials]
        new = [trial for trial in trials if trial.state in _ENDED and trial.trial not in self._known]
        for trial in trials:
            if trial.state not in _ENDED:
                self._known.discard(trial.trial)  # it runs again
        for trial in sorted(new, key=_when):
            self._known.add(trial.trial)
            ends = self._ends.setdefault(trial.arm, deque(maxlen=NONE_PASSED))
            ends.append((trial.trial, _code(trial), trial.state == trial_state.PASSED))

    def alarms(self) -> list[Alarm]:
        found = []
        for arm in self._state.arms:
            ends = list(self._ends.get(arm, ()))
            last = ends[-SAME:]
            codes = {code for _, code, passed in last if not passed}
            if len(last) == SAME and not any(passed for _, _, passed in last) and len(codes) == 1 and "" not in codes:
                code = codes.pop()
                many = 0
                for _, one, passed in reversed(ends):
                    if passed or one != code:
                        break
                    many += 1
                found.append(Alarm(arm, many, code))
            elif self._state.arms[arm].passed == 0 and self._state.arms[arm].finished >= NONE_PASSED:
                found.append(Alarm(arm, self._state.arms[arm].finished, ""))
        return found


def _when(trial: TrialState) -> tuple[bool, float, int]:
    at = trial.finished_at or trial.last_event_at
    return (at is None, at.timestamp() if at is not None else 0.0, trial.position)


def _code(trial: TrialState) -> str:
    """The gravest issue that speaks of more than a warning; a trial without a verdict always has something."""
    for severity in (Severity.FATAL, Severity.ERROR):
        for issue in trial.issues:
            if issue.severity is severity:
                return str(issue.code)
    return "no verdict" if trial.state == trial_state.UNSCORED else ""
