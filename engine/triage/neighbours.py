"""The trials around a trial: those of its task, and what failed at the same time. Counted once a run, not a trial."""

from __future__ import annotations

import bisect
import weakref
from collections import Counter
from collections.abc import Iterable
from datetime import datetime, timedelta

from engine.issues import Code, Severity
from engine.state import RunState
from engine.trial_state import FAILED, PASSED, UNSCORED, TrialState

AT_ONE_TIME = timedelta(minutes=10)


class Neighbours:
    """Of a run as it stands; made anew when trials were planned or ended since."""

    def __init__(self, state: RunState) -> None:
        self._state = state
        self._by_task: dict[str, list[str]] = {}
        self._failed: dict[str, list[tuple[datetime, str]]] = {}
        self._over: list[datetime] = []
        self._ended: Counter[str] = Counter()
        self._with: dict[Code, Counter[str]] = {}
        for trial in tuple(state.trials.values()):
            self._by_task.setdefault(trial.task, []).append(trial.trial)
            if trial.state in (PASSED, FAILED, UNSCORED):
                self._ended[trial.task] += 1
                for code in {issue.code for issue in trial.issues}:
                    self._with.setdefault(code, Counter())[trial.task] += 1
            if trial.finished_at is None:
                continue
            self._over.append(trial.finished_at)
            for kind in failure_kinds(trial):
                self._failed.setdefault(kind, []).append((trial.finished_at, trial.trial))
        self._over.sort()
        for ends in self._failed.values():
            ends.sort()

    def of_task(self, task: str) -> list[TrialState]:
        known = self._state.trials
        return [known[trial] for trial in self._by_task.get(task, ()) if trial in known]

    def failed_alike(self, trial: TrialState, kind: str) -> list[TrialState]:
        """Trials that failed of this kind within ten minutes before or after this one, itself among them."""
        if trial.finished_at is None:
            return []
        ends = self._failed.get(kind, [])
        low = bisect.bisect_left(ends, (trial.finished_at - AT_ONE_TIME, ""))
        high = bisect.bisect_right(ends, (trial.finished_at + AT_ONE_TIME, "\U0010ffff"))
        known = self._state.trials
        return [known[name] for _, name in ends[low:high] if name in known]

    def without_issue(self, code: Code, but: str) -> int:
        """How many trials of other tasks ended, where none of those had this issue; else 0."""
        having = self._with.get(code, Counter())
        if having.total() > having[but]:
            return 0
        return self._ended.total() - self._ended[but]

    def over_at(self, moment: datetime) -> int:
        """How many trials ended within ten minutes of that moment."""
        low = bisect.bisect_left(self._over, moment - AT_ONE_TIME)
        return bisect.bisect_right(self._over, moment + AT_ONE_TIME) - low


ZERO_TOKENS = "zero tokens"
_HOST_WIDE = frozenset(
    {
        Code.ADDRESS_POOL_EXHAUSTED,
        Code.DISK_FULL,
        Code.DAEMON_UNREACHABLE,
        Code.OUT_OF_DESCRIPTORS,
        Code.PULL_RATE_LIMITED,
        Code.PULL_FAILED,
        Code.BUILD_FAILED,
        Code.BUILD_TIMEOUT,
        Code.START_TIMEOUT,
        Code.ENVIRONMENT_FAILED,
        Code.ENVIRONMENT_DIED,
        Code.AGENT_SETUP_FAILED,
        Code.VERIFIER_SETUP_FAILED,
    }
)


def failure_kinds(trial: TrialState) -> set[str]:
    """In what ways a trial failed that could strike many at once; empty where it passed."""
    if trial.state not in (FAILED, UNSCORED):
        return set()
    kinds = {
        str(issue.code) for issue in trial.issues if issue.code in _HOST_WIDE and issue.severity is not Severity.WARNING
    }
    if trial.tokens_in == 0 and not trial.tokens_out:
        kinds.add(ZERO_TOKENS)
    return kinds


_known: weakref.WeakKeyDictionary[RunState, tuple[tuple[int, int], Neighbours]] = weakref.WeakKeyDictionary()


def neighbours(state: RunState) -> Neighbours:
    stamp = (len(state.trials), state.done)
    known = _known.get(state)
    if known is None or known[0] != stamp:
        known = _known[state] = (stamp, Neighbours(state))
    return known[1]


def tasks(trials: Iterable[TrialState]) -> set[str]:
    return {trial.task for trial in trials}
