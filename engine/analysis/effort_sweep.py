"""One configuration at several levels of effort: score and billed cost a task, where more effort stops paying, and
whether the highest level is the best at all."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import msgspec

from engine.analysis.bootstrap import DRAWS, SEED, mean_interval
from engine.analysis.expected import expected
from engine.analysis.outcomes import attempts_by_task
from engine.analysis.pairs import difference, form_pairs
from engine.analysis.rates import wilson
from engine.analysis.trial_facts import ArmFacts

_WORDS = ("none", "off", "minimal", "low", "medium", "standard", "high", "xhigh", "max")
_LEAST_FOR_KNEE = 3


class EffortPoint(msgspec.Struct, frozen=True, kw_only=True):
    """A level: `score` the mean over tasks, `cost` dollars a task billed (failures and discarded runs included), None
    where unknown; with `cost_unknown` runs that don't tell it is of the others. `beaten_by`: a level that costs no more
    and scores no less, "" where there is none. `behind_best` is the best level's score minus this one's, paired by
    task, with its interval."""

    arm: str
    level: str
    tasks: int
    score: float
    low: float
    high: float
    cost: float | None
    cost_low: float | None
    cost_high: float | None
    cost_unknown: int
    beaten_by: str = ""
    behind_best: float = 0.0
    behind_low: float = 0.0
    behind_high: float = 0.0


class EffortSweep(msgspec.Struct, frozen=True, kw_only=True):
    """`points` from the lowest level to the highest. `best` scores most, `highest` is the most effort: they need not
    be one. `knee` is the level after which the frontier of score over cost bends most, "" with fewer than three levels
    on it or unknown costs. `enough` is the cheapest level (the lowest, where costs are unknown) that is not told apart
    from the best: the interval of their paired difference holds 0."""

    configuration: str
    benchmark: str
    points: tuple[EffortPoint, ...]
    best: str
    highest: str
    knee: str
    enough: str


def effort_order(level: str) -> tuple[int, float, str]:
    """A key to sort levels by: known words from none to max, numbers by their size, other words after them."""
    plain = re.sub(r"[\s_-]", "", level.strip().lower())
    plain = {"extrahigh": "xhigh", "maximum": "max", "med": "medium", "disabled": "off"}.get(plain, plain)
    if plain in _WORDS:
        return 1, float(_WORDS.index(plain)), plain
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)([kKmM]?)", plain)
    if found:
        return 0, float(found[1]) * {"": 1, "k": 1e3, "m": 1e6}[found[2]], plain
    return 2, 0.0, plain


def effort_sweeps(
    arms: Sequence[ArmFacts], benchmark: str, *, draws: int = DRAWS, seed: int = SEED
) -> list[EffortSweep]:
    """Of every configuration that was run at two levels or more. A level that two arms have stands twice."""
    groups: dict[str, list[ArmFacts]] = {}
    for arm in arms:
        if arm.effort and arm.apart_from_effort and any(fact.outcome.finished for fact in arm.of(benchmark)):
            groups.setdefault(arm.apart_from_effort, []).append(arm)
    return [
        _sweep(name, sorted(group, key=lambda arm: effort_order(arm.effort)), benchmark, draws, seed)
        for name, group in groups.items()
        if len({arm.effort for arm in group}) > 1
    ]


def _sweep(name: str, arms: Sequence[ArmFacts], benchmark: str, draws: int, seed: int) -> EffortSweep:
    points = [_point(arm, benchmark, draws, seed) for arm in arms]
    best = max(range(len(points)), key=lambda place: (points[place].score, -(points[place].cost or 0.0), -place))
    points = [
        _against_best(point, arm, arms[best], benchmark, points, draws, seed)
        for point, arm in zip(points, arms, strict=True)
    ]
    alike = [point for point in points if point.behind_low <= 0 <= point.behind_high]
    priced = all(point.cost is not None for point in points)
    enough = min(alike, key=lambda point: (point.cost or 0.0) if priced else 0.0)
    return EffortSweep(
        configuration=name,
        benchmark=benchmark,
        points=tuple(points),
        best=points[best].level,
        highest=points[-1].level,
        knee=knee([(point.level, point.cost, point.score) for point in points]),
        enough=enough.level,
    )


def _point(arm: ArmFacts, benchmark: str, draws: int, seed: int) -> EffortPoint:
    tasks = {
        task: [trial for trial in trials if trial.finished]
        for task, trials in attempts_by_task(arm.outcomes(benchmark)).items()
    }
    shares = [sum(trial.resolved for trial in trials) / len(trials) for trials in tasks.values() if trials]
    score = mean_interval(shares, draws=draws, seed=seed)
    low, high = score.low, score.high
    if score.degenerate:
        low, high = wilson(min(score.estimate, 1.0) * len(shares), len(shares))
    costs = []
    for trials in tasks.values():
        known = [trial.cost_usd for trial in trials if trial.cost_usd is not None]
        if known:
            costs.append(math.fsum(known) / len(known))
    money = expected(arm, [benchmark])[0].cost_usd
    spread = mean_interval(costs, draws=draws, seed=seed) if costs else None
    extra = money.mean - spread.estimate if money.mean is not None and spread is not None else 0.0  # discarded runs
    return EffortPoint(
        arm=arm.name,
        level=arm.effort,
        tasks=len(shares),
        score=score.estimate,
        low=low,
        high=high,
        cost=money.mean,
        cost_low=spread.low + extra if spread is not None else None,
        cost_high=spread.high + extra if spread is not None else None,
        cost_unknown=money.unknown,
    )


def _against_best(
    point: EffortPoint,
    arm: ArmFacts,
    best: ArmFacts,
    benchmark: str,
    points: Sequence[EffortPoint],
    draws: int,
    seed: int,
) -> EffortPoint:
    beaten = ""
    for other in points:
        if other is not point and other.cost is not None and point.cost is not None:
            better = other.cost <= point.cost and other.score >= point.score
            if better and (other.cost, other.score) != (point.cost, point.score):
                beaten = beaten or other.level
    if arm is best:
        return msgspec.structs.replace(point, beaten_by=beaten)
    behind = difference(form_pairs(best.outcomes(benchmark), arm.outcomes(benchmark)), draws=draws, seed=seed)
    if behind.estimate is None or behind.low is None or behind.high is None:
        return msgspec.structs.replace(point, beaten_by=beaten, behind_low=-1.0, behind_high=1.0)
    return msgspec.structs.replace(
        point, beaten_by=beaten, behind_best=behind.estimate, behind_low=behind.low, behind_high=behind.high
    )


def knee(points: Sequence[tuple[str, float | None, float]]) -> str:
    """`points` are (level, cost, score). Both axes run from 0 to 1 over the frontier (levels that no other beats): the
    level farthest above the line from its cheapest to its dearest (Satopää et al. 2011). "" where a cost is unknown,
    or the frontier has fewer than three levels or is straight."""
    known = [(level, cost, score) for level, cost, score in points if cost is not None]
    if len(known) < len(points):
        return ""
    frontier: list[tuple[str, float, float]] = []
    for point in sorted(known, key=lambda point: (point[1], -point[2])):
        if not frontier or point[2] > frontier[-1][2]:
            frontier.append(point)
    if len(frontier) < _LEAST_FOR_KNEE:
        return ""
    (_, first_cost, first), (_, last_cost, last) = frontier[0], frontier[-1]
    above = [
        ((score - first) / (last - first) - (cost - first_cost) / (last_cost - first_cost), level)
        for level, cost, score in frontier[1:-1]
    ]
    farthest, level = max(above, key=lambda pair: pair[0])
    return level if farthest > 1e-9 else ""
