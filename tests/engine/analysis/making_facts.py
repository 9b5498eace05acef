"""Arms over benchmarks, made to measure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import msgspec

from engine.analysis.trial_facts import ArmFacts, Seen, TrialFacts
from tests.engine.analysis.making import trial

START = datetime(2026, 1, 1, tzinfo=UTC)


def fact(
    task: str,
    passed: bool | None,
    *,
    arm: str = "a",
    attempt: int = 1,
    benchmark: str = "bench",
    cost: float | None = 1.0,
    discarded: bool = False,
    finished: bool = True,
    category: str = "",
    difficulty: str = "",
    steps: int | None = None,
    agent_seconds: float | None = None,
    start: float | None = None,
    factor: float | None = 1.0,
    timed_out: bool = False,
    seen: Seen | None = None,
) -> TrialFacts:
    """`start`: hours after the first of January."""
    outcome = trial(task, passed, arm=arm, attempt=attempt, cost=cost, discarded=discarded, finished=finished)
    return TrialFacts(
        outcome=msgspec.structs.replace(outcome, seconds=10.0 if finished else None),
        benchmark=benchmark,
        category=category,
        difficulty=difficulty,
        steps=steps,
        agent_seconds=agent_seconds,
        started_at=None if start is None else START + timedelta(hours=start),
        timed_out=timed_out,
        timeout_factor=factor,
        seen=seen,
    )


def arm_facts(name: str, facts: Sequence[TrialFacts], *, effort: str = "", attempts: int | None = None) -> ArmFacts:
    """Named throughout; `attempts` are stated, else the most that a task of the benchmark has."""
    named = tuple(msgspec.structs.replace(one, outcome=msgspec.structs.replace(one.outcome, arm=name)) for one in facts)
    stated: dict[str, int] = {}
    for one in named:
        stated[one.benchmark] = attempts or max(stated.get(one.benchmark, 0), one.outcome.attempt)
    return ArmFacts(name=name, facts=named, stated=stated, effort=effort, apart_from_effort="agent · model")
