"""One number over several benchmarks: the unweighted mean of each one's pass@1, or none where a benchmark is missing.

pass@1 of a benchmark is the mean over tasks of the mean over exactly the attempts that were stated: a task with more
counts with its first ones, a task with fewer leaves the benchmark incomplete, and the index with it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import msgspec
import numpy as np

from engine.analysis.bootstrap import DRAWS, SEED, clustered_standard_error, resampled_means
from engine.analysis.trial_facts import ArmFacts
from engine.analysis.wording import listed, many


class BenchmarkScore(msgspec.Struct, frozen=True, kw_only=True):
    """`score` is None where `problem` says why. `surplus` counts attempts beyond the stated ones, which don't count."""

    benchmark: str
    tasks: int
    attempts: int
    score: float | None
    standard_error: float | None
    problem: str = ""
    surplus: int = 0


class Reweighted(msgspec.Struct, frozen=True, kw_only=True):
    """The index under other weights, and whether arms then stand in another order."""

    weights: str
    value: float | None
    order_changes: bool = False


class Index(msgspec.Struct, frozen=True, kw_only=True):
    """`value` is the mean of `scores` under `weights` (they add up to 1), None while `incomplete` names something. The
    interval is of tasks drawn anew within each benchmark: it knows nothing of benchmarks that were not run."""

    arm: str
    scores: tuple[BenchmarkScore, ...]
    value: float | None
    low: float | None
    high: float | None
    incomplete: tuple[str, ...]
    weights: dict[str, float]
    sensitivity: tuple[Reweighted, ...] = ()


def benchmark_score(arm: ArmFacts, benchmark: str, stated: int | None = None) -> tuple[BenchmarkScore, list[float]]:
    """With the mean of each task that has all stated attempts."""
    tasks = arm.by_task(benchmark)
    attempts = stated or arm.stated.get(benchmark, 0)
    short = [task for task, facts in tasks.items() if len(facts) < attempts]
    waiting = sum(not fact.outcome.finished for facts in tasks.values() for fact in facts[:attempts])
    means = [
        sum(fact.outcome.resolved for fact in facts[:attempts]) / attempts
        for facts in tasks.values()
        if attempts and len(facts) >= attempts
    ]
    problem = ""
    if not tasks or not attempts:
        problem = "not run"
    elif short:
        problem = f"{many(len(short), 'task')} with fewer than {many(attempts, 'attempt')}: {listed(short, 3)}"
    elif waiting:
        problem = f"{many(waiting, 'trial')} not finished"
    score = BenchmarkScore(
        benchmark=benchmark,
        tasks=len(tasks),
        attempts=attempts,
        score=math.fsum(means) / len(means) if not problem else None,
        standard_error=clustered_standard_error(means) if not problem else None,
        problem=problem,
        surplus=sum(max(0, len(facts) - attempts) for facts in tasks.values()),
    )
    return score, means


def indices(
    arms: Sequence[ArmFacts],
    benchmarks: Sequence[str],
    *,
    weights: Mapping[str, float] | None = None,
    attempts: int | None = None,
    draws: int = DRAWS,
    seed: int = SEED,
) -> list[Index]:
    """Over `benchmarks`, whether an arm was run on them or not. `attempts` states them anew for all benchmarks. Raises
    ValueError for weights that no mean can have."""
    shares = _shares(benchmarks, weights or {})
    scored = [[benchmark_score(arm, benchmark, attempts) for benchmark in benchmarks] for arm in arms]
    found = []
    for arm, parts in zip(arms, scored, strict=True):
        incomplete = tuple(f"{score.benchmark}: {score.problem}" for score, _ in parts if score.problem)
        low = high = None
        if not incomplete and parts:
            mean = sum(
                shares[score.benchmark] * resampled_means(means, draws=draws, seed=seed + place)
                for place, (score, means) in enumerate(parts)
            )
            low, high = (float(end) for end in np.quantile(mean, (0.025, 0.975)))
        found.append(
            Index(
                arm=arm.name,
                scores=tuple(score for score, _ in parts),
                value=_mean(parts, shares),
                low=low,
                high=high,
                incomplete=incomplete,
                weights=shares,
            )
        )
    return _with_sensitivity(found, scored, benchmarks, shares)


def _with_sensitivity(
    found: Sequence[Index],
    scored: Sequence[Sequence[tuple[BenchmarkScore, list[float]]]],
    benchmarks: Sequence[str],
    shares: Mapping[str, float],
) -> list[Index]:
    """Each benchmark left out in turn, and each counted twice; nothing to vary with a single one."""
    if len(benchmarks) < 2:
        return list(found)
    other = []
    for name in benchmarks:
        for words, factor in ((f"without {name}", 0.0), (f"{name} twice", 2.0)):
            changed = {one: share * (factor if one == name else 1.0) for one, share in shares.items()}
            if sum(changed.values()) > 0:
                other.append((words, _shares(benchmarks, changed)))
    order = _order([index.value for index in found])
    rows: list[list[Reweighted]] = [[] for _ in found]
    for words, weights in other:
        values = [_mean(parts, weights) for parts in scored]
        comparable = [value for value, index in zip(values, found, strict=True) if index.value is not None]
        before = [index.value for index in found if index.value is not None]
        changes = _order(comparable) != _order(before)
        for row, value in zip(rows, values, strict=True):
            row.append(Reweighted(weights=words, value=value, order_changes=changes and bool(order)))
    return [msgspec.structs.replace(index, sensitivity=tuple(row)) for index, row in zip(found, rows, strict=True)]


def _order(values: Sequence[float | None]) -> list[int]:
    """Places of the known values, the best first; equal ones in their given order."""
    known = [(round(-value, 12), place) for place, value in enumerate(values) if value is not None]
    return [place for _, place in sorted(known)]


def _mean(parts: Sequence[tuple[BenchmarkScore, list[float]]], weights: Mapping[str, float]) -> float | None:
    """None where a benchmark that counts has no score."""
    terms = [(weights[score.benchmark], score.score) for score, _ in parts if weights[score.benchmark] > 0]
    if not terms or any(score is None for _, score in terms):
        return None
    return math.fsum(weight * score for weight, score in terms if score is not None)


def _shares(benchmarks: Sequence[str], weights: Mapping[str, float]) -> dict[str, float]:
    unknown = [name for name in weights if name not in benchmarks]
    if unknown:
        raise ValueError(f"no benchmark {unknown[0]!r} to weigh; there are {listed(list(benchmarks)) or 'none'}")
    raw = {name: weights.get(name, 1.0) for name in benchmarks}
    if any(not math.isfinite(weight) or weight < 0 for weight in raw.values()):
        raise ValueError("a weight is a number from 0")
    total = math.fsum(raw.values())
    if benchmarks and total <= 0:
        raise ValueError("every weight is 0")
    return {name: weight / total for name, weight in raw.items()}
