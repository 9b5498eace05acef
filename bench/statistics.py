"""How long intervals and comparisons take: resampling of outcomes with few values, beside drawing one index a task.

What a person waits for has a target in time; the ratio to the plain way, drawn in the same process, says whether it is
the method or the machine.
"""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable
from functools import partial

import numpy as np

from bench.figures import Check, Result, Say, Series, ratio
from engine.analysis.bootstrap import mean_interval, ratio_interval
from engine.analysis.compare import compare
from engine.analysis.mcnemar import mcnemar
from engine.analysis.outcomes import TrialOutcome

TURNS, QUICK_TURNS = 9, 3
TASKS_MS, CLUSTERS_S = 50.0, 2.0
TASKS, CLUSTERS, ATTEMPTS = 1_000, 20_000, 5
MEMORY_MB = 16.0
PLAIN_RATIO = 0.5
_DRAWS = 10_000


def measure_statistics(*, quick: bool, say: Say) -> Result:
    turns = QUICK_TURNS if quick else TURNS
    generator = np.random.default_rng(1)
    tasks = generator.integers(-ATTEMPTS, ATTEMPTS + 1, size=TASKS) / ATTEMPTS
    passes = generator.integers(0, ATTEMPTS + 1, size=CLUSTERS).astype(np.float64)
    attempts = np.full(CLUSTERS, float(ATTEMPTS))
    attempts[::7] -= 1  # some tasks lost an attempt, so it is a ratio of two sums
    passes = np.minimum(passes, attempts)
    small = _series("10,000 draws over 1,000 tasks", "ms", 1000.0, turns, partial(mean_interval, tasks, draws=_DRAWS))
    say(f"statistics: 1,000 tasks {small.median:.1f} ms")
    large = _series(
        "10,000 draws over 100,000 trials in 20,000 clusters",
        "s",
        1.0,
        turns,
        partial(ratio_interval, passes, attempts, draws=_DRAWS),
    )
    say(f"statistics: 20,000 clusters {large.median:.2f} s")
    plain = _series("the same 1,000 tasks, one index a task and draw", "ms", 1000.0, turns, partial(_plainly, tasks))
    whole = _series("compare two arms of 1,000 tasks, everything", "s", 1.0, min(3, turns), _comparison())
    exact = _series("exact McNemar of 4,700 against 5,000", "ms", 1000.0, turns, partial(mcnemar, 4_700, 5_000))
    return Result(
        benchmark="statistics",
        title="intervals by resampling, 10,000 draws of outcomes with few values",
        checks=(
            Check(name="1,000 tasks", value=small.median, unit="ms", target=TASKS_MS, below=True),
            Check(name="20,000 clusters", value=large.median, unit="s", target=CLUSTERS_S, below=True),
            Check(name="1,000 tasks, of the plain way's time", value=ratio(small, plain), target=PLAIN_RATIO),
            Check(
                name="memory at most while drawing 20,000 clusters",
                value=_peak(passes, attempts),
                unit="MB",
                target=MEMORY_MB,
            ),
        ),
        series=(small, large, plain, whole, exact),
    )


def _series(name: str, unit: str, scale: float, turns: int, work: Callable[[], object]) -> Series:
    values = []
    work()
    for _ in range(turns):
        began = time.perf_counter()
        work()
        values.append(scale * (time.perf_counter() - began))
    return Series(name=name, unit=unit, values=tuple(values))


def _plainly(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> None:
    """Row by row, so that it too holds no full matrix of draws."""
    generator = np.random.default_rng(7)
    means = [values[generator.integers(0, values.size, size=values.size)].mean() for _ in range(_DRAWS)]
    np.quantile(means, (0.025, 0.975))


def _comparison() -> Callable[[], object]:
    generator = np.random.default_rng(2)
    arms = [
        [
            TrialOutcome(
                task=f"t{task:04}",
                arm=arm,
                attempt=1,
                reward=float(passed),
                passed=bool(passed),
                completed=True,
                scored=True,
                excluded=False,
                cost_usd=0.5,
                seconds=1.0,
            )
            for task, passed in enumerate(generator.integers(0, 2, size=TASKS))
        ]
        for arm in "AB"
    ]
    return lambda: compare(arms[0], arms[1])


def _peak(passes: object, attempts: object) -> float:
    """MB that Python and NumPy hold at once while an interval is worked out; a full matrix of draws would be 1,600."""
    assert isinstance(passes, np.ndarray) and isinstance(attempts, np.ndarray)
    tracemalloc.start()
    ratio_interval(passes, attempts, draws=_DRAWS)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 1e6
