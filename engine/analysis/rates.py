"""Rates with their denominators: how many of what was assigned, never of what happened to be left.

Pure Python: NumPy is loaded only where several attempts per task make an interval need the bootstrap.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from statistics import NormalDist

import msgspec

from engine.analysis.outcomes import TrialOutcome, assigned, attempts_by_task

WILSON = "Wilson"
TASK_BOOTSTRAP = "task bootstrap"
WILSON_OVER_TASKS = "Wilson over tasks"
LIVE_DRAWS = 2_000


def wilson(passed: float, of: float, confidence: float = 0.95) -> tuple[float, float]:
    """Wilson's score interval (1927) for a share, as fractions; exactly 0 or 1 at the ends, (0, 1) of
    nothing.
    """
    if of == 0:
        return 0.0, 1.0
    if not 0 <= passed <= of:
        raise ValueError(f"{passed} of {of} is no share")
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    share = passed / of
    middle = share + z * z / (2 * of)
    spread = z * math.sqrt(share * (1 - share) / of + z * z / (4 * of * of))
    scale = 1 + z * z / of
    low = 0.0 if passed == 0 else max(0.0, (middle - spread) / scale)
    high = 1.0 if passed == of else min(1.0, (middle + spread) / scale)
    return low, high


class Denominators(msgspec.Struct, frozen=True, kw_only=True):
    """Trials, discarded records left out. An excluded trial stays among the assigned ones."""

    assigned: int
    finished: int
    completed: int
    scored: int
    excluded: int
    passed: int

    @property
    def rate(self) -> float | None:
        """The headline: passes of what was assigned."""
        return self.passed / self.assigned if self.assigned else None

    @property
    def rate_completed(self) -> float | None:
        """The conditional rate; only ever shown beside the headline and labelled "of completed"."""
        return self.passed / self.completed if self.completed else None

    @property
    def bounds(self) -> tuple[float, float] | None:
        """The headline if every missing verdict were a failure, and if every one were a pass."""
        if not self.assigned:
            return None
        missing = self.assigned - self.scored
        return self.passed / self.assigned, min(1.0, (self.passed + missing) / self.assigned)


def count(outcomes: Iterable[TrialOutcome]) -> Denominators:
    trials = assigned(outcomes)
    return Denominators(
        assigned=len(trials),
        finished=sum(trial.finished for trial in trials),
        completed=sum(trial.completed for trial in trials),
        scored=sum(trial.scored for trial in trials),
        excluded=sum(trial.excluded for trial in trials),
        passed=sum(trial.resolved for trial in trials),
    )


class Rate(msgspec.Struct, frozen=True, kw_only=True):
    """`passed` of `of` trials over `tasks` tasks; fractions. Rate and interval are None of nothing."""

    passed: int
    of: int
    tasks: int
    rate: float | None
    interval: tuple[float, float] | None
    method: str


def arm_rate(outcomes: Iterable[TrialOutcome], *, draws: int = 10_000, seed: int = 7) -> Rate:
    """Passes of assigned: Wilson for one attempt per task, task bootstrap for several (a task's attempts
    are not independent). Where every task did equally well, resampling has nothing to say and Wilson over
    tasks stands in.
    """
    tasks = attempts_by_task(outcomes)
    passes = [sum(trial.resolved for trial in trials) for trials in tasks.values()]
    attempts = [len(trials) for trials in tasks.values()]
    passed, of = sum(passes), sum(attempts)
    rate = passed / of if of else None
    interval: tuple[float, float] | None
    if rate is None:
        method, interval = WILSON, None
    elif of == len(tasks):
        method, interval = WILSON, wilson(passed, of)
    else:
        from engine.analysis.bootstrap import ratio_interval

        spread = ratio_interval(passes, attempts, draws=draws, seed=seed)
        if spread.degenerate:
            method, interval = WILSON_OVER_TASKS, wilson(rate * len(tasks), len(tasks))
        else:
            method, interval = TASK_BOOTSTRAP, (spread.low, spread.high)
    return Rate(passed=passed, of=of, tasks=len(tasks), rate=rate, interval=interval, method=method)


def live_rate(outcomes: Iterable[TrialOutcome], *, draws: int = LIVE_DRAWS, seed: int = 7) -> Rate:
    """Of finished trials, while the run goes on; whoever shows it says so."""
    return arm_rate((trial for trial in outcomes if trial.finished), draws=draws, seed=seed)
