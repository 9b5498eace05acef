"""Bootstrap over tasks: percentile intervals (Efron 1979) and clustered standard errors (Miller 2024,
"Adding Error Bars to Evals").

The task is what is drawn: several attempts enter as one task mean (or one row of sums), so five attempts
never count as five tasks. Outcomes have few distinct values, so a draw is one multinomial over those values
instead of one index per task; only values that are nearly all different are drawn one by one, in batches.
Equal input and seed give equal results, in any order.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

DRAWS = 10_000
SEED = 7
CONFIDENCE = 0.95
TOO_FEW_TASKS = 6  # with five tasks even 5 against 0 has an exact p of 0.0625: nothing can be said

_DECIMALS = 12  # values closer than this are one value: thirds and fifths leave dust in the last bits
_BATCH_CELLS = 32_768  # numbers at a time: they stay in the cache, and a screen waits less than 1 ms for its turn
_TASKS_PER_VALUE = 10  # a multinomial cell costs about as much as ten single draws

Floats = NDArray[np.float64]


class Bootstrap(msgspec.Struct, frozen=True, kw_only=True):
    """`low` and `high` are the percentile interval. `degenerate`: every resample is the same, so the
    interval has no width and says nothing about uncertainty. `p` is two-sided for "it is 0", +1 in both
    counts and ties halved, so it is never 0. `standard_error` is None for a single task. `high` is
    infinite where resamples had nothing to divide by.
    """

    estimate: float
    low: float
    high: float
    standard_error: float | None
    tasks: int
    draws: int
    seed: int
    degenerate: bool
    p: float

    @property
    def too_few(self) -> bool:
        return self.tasks < TOO_FEW_TASKS


def clustered_standard_error(values: Sequence[float] | Floats) -> float | None:
    """Of the mean of `values` (one number per task, shape (tasks,)): √(Σ(x − x̄)² / (n − 1) / n), in the
    unit of the values.
    """
    array = np.asarray(values, dtype=np.float64)
    if array.size < 2:
        return None
    return float(array.std(ddof=1) / math.sqrt(array.size))


def mean_interval(
    values: Sequence[float] | Floats, *, draws: int = DRAWS, seed: int = SEED, confidence: float = CONFIDENCE
) -> Bootstrap:
    """The mean over tasks of one number per task: a rate, or a paired difference A − B."""
    array = np.asarray(values, dtype=np.float64)
    means = resampled_means(array, draws=draws, seed=seed)
    return summarised(float(array.mean()), means, array, draws, seed, confidence)


def resampled_means(values: Sequence[float] | Floats, *, draws: int = DRAWS, seed: int = SEED) -> Floats:
    """The mean over tasks in each draw, shape (draws,): for means of several task sets that are drawn apart."""
    array = np.asarray(values, dtype=np.float64)
    return np.round(_resampled_sums(array[:, None], draws, seed)[:, 0] / max(array.size, 1), _DECIMALS)


def ratio_interval(
    numerators: Sequence[float] | Floats,
    denominators: Sequence[float] | Floats,
    *,
    draws: int = DRAWS,
    seed: int = SEED,
    confidence: float = CONFIDENCE,
) -> Bootstrap:
    """Sum over sum, both resampled together: passes over attempts where tasks have unequally many, dollars
    over resolved tasks.

    The standard error is the linearised one of a ratio, Σ over tasks of (x − r·y).
    """
    rows = np.column_stack([np.asarray(numerators, dtype=np.float64), np.asarray(denominators, dtype=np.float64)])
    over, under = rows.sum(axis=0)
    if under <= 0:
        raise ValueError("nothing to divide by: every denominator is 0")
    sums = _resampled_sums(rows, draws, seed)
    ratios = np.full(draws, np.inf)
    np.divide(sums[:, 0], sums[:, 1], out=ratios, where=sums[:, 1] > 0)
    ratio = float(over / under)
    deviations = (rows[:, 0] - ratio * rows[:, 1]) * len(rows) / under
    return summarised(ratio, np.round(ratios, _DECIMALS), deviations, draws, seed, confidence)


def summarised(
    estimate: float, resampled: Floats, values: Floats, draws: int, seed: int, confidence: float = CONFIDENCE
) -> Bootstrap:
    """Of the statistic's resampled values; `values` are what its standard error comes from, one a task."""
    outside = (1 - confidence) / 2
    ordered = np.sort(resampled)
    return Bootstrap(
        estimate=round(estimate, _DECIMALS),
        low=_quantile(ordered, outside),
        high=_quantile(ordered, 1 - outside),
        standard_error=clustered_standard_error(values),
        tasks=int(values.size),
        draws=draws,
        seed=seed,
        degenerate=bool(ordered[0] == ordered[-1]),
        p=_two_sided_p(resampled),
    )


def _quantile(ordered: Floats, share: float) -> float:
    """Between two neighbours, linearly, as NumPy's default; infinity stays infinity where NumPy would say
    NaN.
    """
    place = share * (ordered.size - 1)
    below = math.floor(place)
    low, high = float(ordered[below]), float(ordered[min(below + 1, ordered.size - 1)])
    if low == high or place == below:
        return low
    return round(low + (high - low) * (place - below), _DECIMALS)


def _two_sided_p(resampled: Floats) -> float:
    ties = np.count_nonzero(resampled == 0) / 2
    smaller = min(np.count_nonzero(resampled < 0), np.count_nonzero(resampled > 0))
    return float(min(1.0, 2 * (smaller + ties + 1) / (resampled.size + 1)))


def _resampled_sums(rows: Floats, draws: int, seed: int) -> Floats:
    """Column sums of `rows` (tasks × columns) over tasks drawn with replacement: draws × columns."""
    tasks, columns = rows.shape
    if tasks == 0:
        raise ValueError("no tasks to resample")
    if draws < 1:
        raise ValueError(f"at least one draw is needed, not {draws}")
    generator = np.random.default_rng(seed)
    values, counts = _distinct(np.round(rows, _DECIMALS))
    sums = np.empty((draws, columns))
    if len(values) == 1:
        sums[:] = values[0] * tasks
    elif len(values) * _TASKS_PER_VALUE <= max(tasks, 200):
        shares = counts / tasks
        step = max(1, _BATCH_CELLS // len(values))
        for start in range(0, draws, step):
            size = min(step, draws - start)
            sums[start : start + size] = generator.multinomial(tasks, shares, size=size) @ values
    else:
        every = np.repeat(values, counts, axis=0)
        step = max(1, _BATCH_CELLS // tasks)
        for start in range(0, draws, step):
            size = min(step, draws - start)
            drawn = generator.integers(0, tasks, size=(size, tasks))
            for column in range(columns):
                sums[start : start + size, column] = every[:, column][drawn].sum(axis=1)
    return sums


def _distinct(rows: Floats) -> tuple[Floats, NDArray[np.intp]]:
    """The distinct rows, sorted, and how often each occurs."""
    order = np.lexsort(rows.T[::-1])
    ordered = rows[order] + 0.0  # -0.0 becomes 0.0
    starts = np.concatenate([[True], np.any(ordered[1:] != ordered[:-1], axis=1)])
    places = np.flatnonzero(starts)
    counts = np.diff(np.append(places, len(ordered)))
    return ordered[places], counts
