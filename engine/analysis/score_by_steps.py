"""What the score would be under a budget of steps: only successes whose last step fits count, of the same tasks."""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec

from engine.analysis.bootstrap import DRAWS, SEED, mean_interval
from engine.analysis.rates import wilson
from engine.analysis.trial_facts import ArmFacts

CUT_PERCENT = 95
_MOST_POINTS = 60


class StepPoint(msgspec.Struct, frozen=True, kw_only=True):
    """`score` is the mean over tasks of the share of runs that succeed within `steps`."""

    steps: int
    score: float
    low: float
    high: float


class StepCurve(msgspec.Struct, frozen=True, kw_only=True):
    """Cut where 95 % of the successful runs have ended (`cut`): beyond it single long runs would draw the line.
    `full` is the score without a budget. `unknown` counts successes whose steps nobody knows: they are in `full` and at
    no point, so the curve is a lower bound where there are any. No `points` where no success has known steps."""

    arm: str
    benchmark: str
    tasks: int
    successes: int
    unknown: int
    cut: int
    full: float
    points: tuple[StepPoint, ...]


def step_curve(arm: ArmFacts, benchmark: str, *, draws: int = DRAWS // 5, seed: int = SEED) -> StepCurve | None:
    """None where the arm has no finished trial there."""
    tasks = [
        finished
        for facts in arm.by_task(benchmark).values()
        if (finished := [fact for fact in facts if fact.outcome.finished])
    ]
    if not tasks:
        return None
    solved = [fact for facts in tasks for fact in facts if fact.outcome.resolved]
    lengths = sorted(fact.steps for fact in solved if fact.steps is not None)
    cut = lengths[max(0, math.ceil(len(lengths) * CUT_PERCENT / 100) - 1)] if lengths else 0
    points = []
    for budget in _budgets(lengths, cut):
        means = [
            sum(fact.outcome.resolved and fact.steps is not None and fact.steps <= budget for fact in facts)
            / len(facts)
            for facts in tasks
        ]
        found = mean_interval(means, draws=draws, seed=seed)
        low, high = found.low, found.high
        if found.degenerate:
            low, high = wilson(min(found.estimate, 1.0) * len(means), len(means))
        points.append(StepPoint(steps=budget, score=found.estimate, low=low, high=high))
    return StepCurve(
        arm=arm.name,
        benchmark=benchmark,
        tasks=len(tasks),
        successes=len(solved),
        unknown=len(solved) - len(lengths),
        cut=cut,
        full=math.fsum(sum(fact.outcome.resolved for fact in facts) / len(facts) for facts in tasks) / len(tasks),
        points=tuple(points),
    )


def _budgets(lengths: Sequence[int], cut: int) -> list[int]:
    """Where the score can change; with very many, evenly chosen ones of them and always the last."""
    steps = sorted({length for length in lengths if length <= cut})
    if len(steps) <= _MOST_POINTS:
        return steps
    return sorted({steps[round(place * (len(steps) - 1) / (_MOST_POINTS - 1))] for place in range(_MOST_POINTS)})
