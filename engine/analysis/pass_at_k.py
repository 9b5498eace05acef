"""pass@k: the chance that one of k attempts resolves a task, without bias from the attempts at hand (Chen et al. 2021);
and pass^k: that all k do.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import msgspec

from engine.analysis.outcomes import TrialOutcome, attempts_by_task
from engine.analysis.rates import wilson


class PassAtK(msgspec.Struct, frozen=True, kw_only=True):
    """Means over the `tasks` that have at least k attempts; both None where no task has. `lacking` are the tasks with
    fewer. Attempts that never came to their end, or that a label excludes, are not among a task's attempts;
    `left_out` counts them. Intervals are of tasks drawn anew (Wilson over tasks where all do equally well), None where
    nobody asked for them. `uneven`: the (fewest, most) attempts of the tasks that carry the number, where they differ.
    """

    k: int
    any_of_k: float | None
    all_of_k: float | None
    tasks: int
    lacking: tuple[str, ...]
    left_out: int
    any_interval: tuple[float, float] | None = None
    all_interval: tuple[float, float] | None = None
    uneven: tuple[int, int] | None = None


def any_of(n: int, c: int, k: int) -> float:
    """1 − C(n − c, k) / C(n, k). Raises ValueError for k > n: fewer attempts say nothing about more."""
    _check(n, c, k)
    return 1.0 - math.comb(n - c, k) / math.comb(n, k)


def all_of(n: int, c: int, k: int) -> float:
    """C(c, k) / C(n, k): all of k attempts pass. Raises as `any_of`."""
    _check(n, c, k)
    return math.comb(c, k) / math.comb(n, k)


def _check(n: int, c: int, k: int) -> None:
    if not 0 <= c <= n:
        raise ValueError(f"{c} of {n} attempts can't have passed")
    if not 1 <= k <= n:
        raise ValueError(f"pass@{k} is not available of {n} attempts")


def pass_at_k(outcomes: Iterable[TrialOutcome], k: int, *, draws: int = 0, seed: int = 7) -> PassAtK:
    """With intervals where `draws` says how often tasks are drawn."""
    each_any: list[float] = []
    each_all: list[float] = []
    lacking: list[str] = []
    attempts: set[int] = set()
    left_out = 0
    for task, trials in attempts_by_task(outcomes).items():
        counted = [trial for trial in trials if trial.completed and not trial.excluded]
        left_out += sum(trial.finished for trial in trials) - sum(trial.finished for trial in counted)
        if len(counted) < k:
            lacking.append(task)
            continue
        attempts.add(len(counted))
        passed = sum(trial.resolved for trial in counted)
        each_any.append(any_of(len(counted), passed, k))
        each_all.append(all_of(len(counted), passed, k))
    return PassAtK(
        k=k,
        any_of_k=math.fsum(each_any) / len(each_any) if each_any else None,
        all_of_k=math.fsum(each_all) / len(each_all) if each_all else None,
        tasks=len(each_any),
        lacking=tuple(lacking),
        left_out=left_out,
        any_interval=_interval(each_any, draws, seed),
        all_interval=_interval(each_all, draws, seed),
        uneven=(min(attempts), max(attempts)) if len(attempts) > 1 else None,
    )


def _interval(values: list[float], draws: int, seed: int) -> tuple[float, float] | None:
    if not values or not draws:
        return None
    from engine.analysis.bootstrap import mean_interval

    spread = mean_interval(values, draws=draws, seed=seed)
    if spread.degenerate:
        return wilson(min(spread.estimate, 1.0) * len(values), len(values))
    return spread.low, spread.high
