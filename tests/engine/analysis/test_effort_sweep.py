"""Effort: order of levels, the knee, and that more is not taken for better."""

from __future__ import annotations

import pytest

from engine.analysis.effort_sweep import effort_order, effort_sweeps, knee
from engine.analysis.trial_facts import ArmFacts, effort_of
from engine.events import ArmInfo
from tests.engine.analysis.making_facts import arm_facts, fact


def level(effort: str, passed: int, cost: float | None, of: int = 40) -> ArmFacts:
    return arm_facts(effort, [fact(f"t{task:02}", task < passed, cost=cost) for task in range(of)], effort=effort)


def test_levels_stand_by_effort_whatever_they_are_called() -> None:
    for levels in (["none", "minimal", "low", "Medium", "high", "extra high", "max"], ["1024", "8k", "32k"]):
        assert sorted(reversed(levels), key=effort_order) == levels


def test_the_highest_level_is_not_taken_for_the_best() -> None:
    (sweep,) = effort_sweeps([level("max", 24, 9.0), level("low", 10, 1.0), level("high", 26, 3.0)], "bench")
    assert [point.level for point in sweep.points] == ["low", "high", "max"]
    assert (sweep.best, sweep.highest, sweep.enough) == ("high", "max", "high")
    assert sweep.points[-1].beaten_by == "high" and sweep.points[0].beaten_by == ""
    assert sweep.points[0].behind_best == pytest.approx(0.4) and sweep.points[0].behind_low > 0


def test_billed_cost_a_task_stands_with_its_interval() -> None:
    dear = arm_facts("dear", [fact(f"t{task}", True, cost=float(task)) for task in range(11)], effort="high")
    (sweep,) = effort_sweeps([dear, level("low", 5, 1.0, of=11)], "bench")
    point = sweep.points[-1]
    assert point.cost == 5.0 and point.cost_low is not None and point.cost_high is not None
    assert 3.0 < point.cost_low < 5.0 < point.cost_high < 7.0


def test_unknown_costs_have_no_knee_but_scores_stay() -> None:
    (sweep,) = effort_sweeps([level("low", 5, None), level("medium", 20, 2.0), level("high", 22, 4.0)], "bench")
    assert sweep.knee == "" and sweep.points[0].cost is None and sweep.points[0].score == 0.125


@pytest.mark.parametrize(
    ("points", "expected"),
    [
        ([("low", 1.0, 0.2), ("medium", 2.0, 0.6), ("high", 10.0, 0.7)], "medium"),
        ([("low", 1.0, 0.2), ("medium", 2.0, 0.3), ("high", 3.0, 0.4)], ""),
        ([("low", 1.0, 0.2), ("high", 3.0, 0.4)], ""),
        ([("low", 1.0, 0.2), ("medium", 2.0, 0.6), ("high", 3.0, 0.5), ("max", 9.0, 0.65)], "medium"),
        ([("low", 1.0, 0.5), ("medium", 2.0, 0.4), ("high", 3.0, 0.3)], ""),
    ],
)
def test_the_knee_is_where_the_frontier_bends_most(
    points: list[tuple[str, float | None, float]], expected: str
) -> None:
    assert knee(points) == expected


def test_arms_that_differ_in_more_than_effort_are_no_sweep() -> None:
    low, high = (
        ArmInfo(name="l", agent="x", model="m", effort="low"),
        ArmInfo(name="h", agent="x", model="m", effort="high"),
    )
    assert effort_of(low) == ("low", "x · m") and effort_of(high)[1] == "x · m"
    assert effort_of(ArmInfo(name="p", agent="x", parameters={"reasoning_effort": "high", "t": "1"})) == (
        "high",
        "x · t=1",
    )
    assert effort_of(ArmInfo(name="t", agent="")) == ("", "")
    assert effort_sweeps([level("low", 5, 1.0)], "bench") == []
