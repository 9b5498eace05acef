"""What a task is expected to take and to cost: averages over all runs per task, over tasks, each benchmark equal."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import msgspec

from engine.analysis.trial_facts import ArmFacts, TrialFacts


class Average(msgspec.Struct, frozen=True, kw_only=True):
    """Over tasks with at least one known run. `unknown` counts runs that don't tell; None: no run tells."""

    mean: float | None
    tasks: int
    runs: int
    unknown: int


class Expected(msgspec.Struct, frozen=True, kw_only=True):
    """One benchmark, or with `benchmark` "" all of them, each equal: None where one of them has no average. Seconds and
    dollars a task. `agent_seconds` is without the verifier and without building; `seconds` is the whole trial."""

    arm: str
    benchmark: str
    seconds: Average
    agent_seconds: Average
    cost_usd: Average


def expected(arm: ArmFacts, benchmarks: Sequence[str]) -> list[Expected]:
    """A row a benchmark that the arm was run on, and one of all where there are several. Failures count like
    successes; what discarded runs cost stands with their task."""
    found = []
    for benchmark in (name for name in benchmarks if arm.of(name)):
        found.append(
            Expected(
                arm=arm.name,
                benchmark=benchmark,
                seconds=_average(arm, benchmark, lambda fact: fact.outcome.seconds),
                agent_seconds=_average(arm, benchmark, lambda fact: fact.agent_seconds),
                cost_usd=_cost(arm, benchmark),
            )
        )
    if len(found) > 1:
        found.append(
            Expected(
                arm=arm.name,
                benchmark="",
                seconds=_equal([row.seconds for row in found]),
                agent_seconds=_equal([row.agent_seconds for row in found]),
                cost_usd=_equal([row.cost_usd for row in found]),
            )
        )
    return found


def _average(arm: ArmFacts, benchmark: str, of: Callable[[TrialFacts], float | None]) -> Average:
    means = []
    runs = unknown = 0
    for facts in arm.by_task(benchmark).values():
        values = [of(fact) for fact in facts if fact.outcome.finished]
        known = [value for value in values if value is not None]
        runs += len(known)
        unknown += len(values) - len(known)
        if known:
            means.append(math.fsum(known) / len(known))
    return Average(mean=math.fsum(means) / len(means) if means else None, tasks=len(means), runs=runs, unknown=unknown)


def _cost(arm: ArmFacts, benchmark: str) -> Average:
    """Money of discarded runs was spent on a finished one: it is added to the task's sum, not counted as a run."""
    plain = _average(arm, benchmark, lambda fact: fact.outcome.cost_usd)
    discarded: dict[str, float] = {}
    for fact in arm.of(benchmark):
        if fact.outcome.discarded and fact.outcome.cost_usd is not None:
            discarded[fact.outcome.task] = discarded.get(fact.outcome.task, 0.0) + fact.outcome.cost_usd
    if plain.mean is None or not discarded:
        return plain
    means = []
    for task, facts in arm.by_task(benchmark).items():
        known = [fact.outcome.cost_usd for fact in facts if fact.outcome.finished]
        spent = [usd for usd in known if usd is not None]
        if spent:
            means.append((math.fsum(spent) + discarded.get(task, 0.0)) / len(spent))
    return msgspec.structs.replace(plain, mean=math.fsum(means) / len(means))


def _equal(parts: Sequence[Average]) -> Average:
    known = [part.mean for part in parts if part.mean is not None]
    return Average(
        mean=math.fsum(known) / len(known) if len(known) == len(parts) else None,
        tasks=sum(part.tasks for part in parts),
        runs=sum(part.runs for part in parts),
        unknown=sum(part.unknown for part in parts),
    )
