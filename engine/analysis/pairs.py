"""Two arms joined by task: the pairs, their 2×2 table, and the paired difference."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Literal

import msgspec

from engine.analysis.bootstrap import DRAWS, SEED, TOO_FEW_TASKS, mean_interval
from engine.analysis.outcomes import TrialOutcome, attempts_by_task

Attempts = Literal["all", "first"]

TASK_BOOTSTRAP = "task bootstrap"
CLUSTER_BOOTSTRAP = "cluster bootstrap over tasks"


class Pair(msgspec.Struct, frozen=True, kw_only=True):
    """One task and its finished trials of each arm, in order of attempt; a side is never empty.

    `first_a` and `first_b` are the first attempts, None while they haven't finished (a later one may have).
    """

    task: str
    a: tuple[TrialOutcome, ...]
    b: tuple[TrialOutcome, ...]
    first_a: TrialOutcome | None
    first_b: TrialOutcome | None


class Table(msgspec.Struct, frozen=True, kw_only=True):
    """Tasks by the verdicts of their first attempts; no verdict counts as not passed."""

    both: int
    a_only: int
    b_only: int
    neither: int

    @property
    def tasks(self) -> int:
        return self.both + self.a_only + self.b_only + self.neither


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """A − B, a fraction: the mean over tasks of each task's mean of A minus its mean of B. `p` is the
    bootstrap's two-sided one. All are None without a pair; `standard_error` also with a single one.
    `degenerate`: every task differs by the same amount, so the interval has no width. `too_few`: no
    result over so few tasks means anything.
    """

    estimate: float | None
    low: float | None
    high: float | None
    standard_error: float | None
    method: str
    draws: int
    seed: int
    degenerate: bool
    tasks: int
    p: float | None
    too_few: bool


def form_pairs(a: Iterable[TrialOutcome], b: Iterable[TrialOutcome]) -> list[Pair]:
    """Tasks with a finished trial on both sides, sorted by name."""
    side_a, side_b = attempts_by_task(a), attempts_by_task(b)
    pairs = []
    for task in (task for task in side_a if task in side_b):
        first_a, first_b = side_a[task][0], side_b[task][0]
        done_a = tuple(trial for trial in side_a[task] if trial.finished)
        done_b = tuple(trial for trial in side_b[task] if trial.finished)
        if done_a and done_b:
            pairs.append(
                Pair(
                    task=task,
                    a=done_a,
                    b=done_b,
                    first_a=first_a if first_a.finished else None,
                    first_b=first_b if first_b.finished else None,
                )
            )
    return pairs


def firsts(pairs: Iterable[Pair]) -> list[tuple[TrialOutcome, TrialOutcome]]:
    """Both first attempts of each task where both have finished."""
    return [(pair.first_a, pair.first_b) for pair in pairs if pair.first_a is not None and pair.first_b is not None]


def tabulate(first: Iterable[tuple[TrialOutcome, TrialOutcome]]) -> Table:
    verdicts = [(a.resolved, b.resolved) for a, b in first]
    return Table(
        both=verdicts.count((True, True)),
        a_only=verdicts.count((True, False)),
        b_only=verdicts.count((False, True)),
        neither=verdicts.count((False, False)),
    )


def difference(pairs: Sequence[Pair], *, draws: int = DRAWS, seed: int = SEED) -> Difference:
    """Of verdicts: what passed, of what was assigned and has finished."""
    values = [_share(pair.a) - _share(pair.b) for pair in pairs]
    several = any(len(pair.a) > 1 or len(pair.b) > 1 for pair in pairs)
    return _difference(values, several, draws, seed)


def reward_difference(pairs: Sequence[Pair], *, draws: int = DRAWS, seed: int = SEED) -> Difference | None:
    """Of rewards where some are graded, None where all are 0 or 1. A reward is never thresholded, a
    missing one is neither 0 nor filled in: tasks with a reward on both sides only, which `tasks` counts.
    """
    rewards = [(_rewards(pair.a), _rewards(pair.b)) for pair in pairs]
    if all(reward in (0, 1) for pair in rewards for side in pair for reward in side):
        return None
    judged = [(a, b) for a, b in rewards if a and b]
    several = any(len(a) > 1 or len(b) > 1 for a, b in judged)
    return _difference([_mean(a) - _mean(b) for a, b in judged], several, draws, seed)


def _difference(values: list[float], several: bool, draws: int, seed: int) -> Difference:
    method = CLUSTER_BOOTSTRAP if several else TASK_BOOTSTRAP
    if not values:
        return Difference(
            estimate=None,
            low=None,
            high=None,
            standard_error=None,
            method=method,
            draws=draws,
            seed=seed,
            degenerate=True,
            tasks=0,
            p=None,
            too_few=True,
        )
    spread = mean_interval(values, draws=draws, seed=seed)
    return Difference(
        estimate=spread.estimate,
        low=spread.low,
        high=spread.high,
        standard_error=spread.standard_error,
        method=method,
        draws=draws,
        seed=seed,
        degenerate=spread.degenerate,
        tasks=spread.tasks,
        p=spread.p,
        too_few=spread.tasks < TOO_FEW_TASKS,
    )


def _share(trials: Sequence[TrialOutcome]) -> float:
    return sum(trial.resolved for trial in trials) / len(trials)


def _rewards(trials: Sequence[TrialOutcome]) -> list[float]:
    return [trial.reward for trial in trials if trial.reward is not None]


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)
