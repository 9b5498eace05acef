"""pass@k: the chance that one of k attempts resolves a task, without bias from the attempts at hand (Chen et al. 2021);
and pass^k: that all k do.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import msgspec

from engine.analysis.outcomes import TrialOutcome, attempts_by_task


class PassAtK(msgspec.Struct, frozen=True, kw_only=True):
    """Means over the `tasks` that have at least k attempts; both None where no task has. `lacking` are the tasks with
    fewer. Attempts that never came to their end, or that a label excludes, are not among a task's attempts;
    `left_out` counts them.
    """

    k: int
    any_of_k: float | None
    all_of_k: float | None
    tasks: int
    lacking: tuple[str, ...]
    left_out: int


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


def pass_at_k(outcomes: Iterable[TrialOutcome], k: int) -> PassAtK:
    each_any: list[float] = []
    each_all: list[float] = []
    lacking: list[str] = []
    left_out = 0
    for task, trials in attempts_by_task(outcomes).items():
        counted = [trial for trial in trials if trial.completed and not trial.excluded]
        left_out += sum(trial.finished for trial in trials) - sum(trial.finished for trial in counted)
        if len(counted) < k:
            lacking.append(task)
            continue
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
    )
