"""Outcomes made to measure."""

from __future__ import annotations

from collections.abc import Sequence

from engine.analysis.outcomes import TrialOutcome


def trial(
    task: str = "t1",
    passed: bool | None = True,
    *,
    arm: str = "a",
    attempt: int = 1,
    reward: float | None = None,
    cost: float | None = 0.0,
    excluded: bool = False,
    discarded: bool = False,
    finished: bool = True,
) -> TrialOutcome:
    """`passed` None: its environment broke. A reward follows the verdict unless given."""
    if reward is None and passed is not None:
        reward = float(passed)
    return TrialOutcome(
        task=task,
        arm=arm,
        attempt=attempt,
        reward=reward,
        passed=passed,
        completed=passed is not None,
        scored=reward is not None,
        excluded=excluded,
        cost_usd=cost,
        seconds=1.0 if finished else None,
        discarded=discarded,
        finished=finished,
    )


def arm(
    name: str, verdicts: Sequence[bool | None], *, cost: float | None = 0.0, attempts: int = 1
) -> list[TrialOutcome]:
    """One task per `attempts` verdicts in a row: task-000, task-001, …"""
    return [
        trial(f"task-{index // attempts:03}", verdict, arm=name, attempt=index % attempts + 1, cost=cost)
        for index, verdict in enumerate(verdicts)
    ]


def two_arms(
    both: int,
    a_only: int,
    b_only: int,
    neither: int,
    *,
    cost_a: float | None = 0.0,
    cost_b: float | None = 0.0,
) -> tuple[list[TrialOutcome], list[TrialOutcome]]:
    """One attempt each, with this 2×2 table."""
    verdicts = [
        *[(True, True)] * both,
        *[(True, False)] * a_only,
        *[(False, True)] * b_only,
        *[(False, False)] * neither,
    ]
    return (
        arm("a", [pair[0] for pair in verdicts], cost=cost_a),
        arm("b", [pair[1] for pair in verdicts], cost=cost_b),
    )
