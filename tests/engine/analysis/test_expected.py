"""Expected time and cost: over runs, then tasks, then benchmarks, each equal."""

from __future__ import annotations

import pytest

from engine.analysis.expected import expected
from tests.engine.analysis.making_facts import arm_facts, fact


def test_a_task_with_many_runs_counts_once_and_each_benchmark_counts_alike() -> None:
    facts = [fact("t1", True, attempt=attempt, cost=1.0, agent_seconds=10.0) for attempt in (1, 2, 3)]
    facts += [fact("t2", False, cost=3.0, agent_seconds=30.0)]
    facts += [fact("x1", False, benchmark="other", cost=10.0, agent_seconds=100.0)]
    rows = expected(arm_facts("a", facts), ["bench", "other"])
    assert [row.benchmark for row in rows] == ["bench", "other", ""]
    assert [row.cost_usd.mean for row in rows] == [2.0, 10.0, 6.0]
    assert [row.agent_seconds.mean for row in rows] == [20.0, 100.0, 60.0]


def test_unknown_is_counted_and_never_zero() -> None:
    rows = expected(arm_facts("a", [fact("t1", True, cost=None), fact("t2", True, cost=4.0)]), ["bench"])
    assert (rows[0].cost_usd.mean, rows[0].cost_usd.unknown, rows[0].cost_usd.tasks) == (4.0, 1, 1)
    assert rows[0].agent_seconds.mean is None and rows[0].agent_seconds.unknown == 2


def test_a_benchmark_without_an_average_leaves_the_average_of_all_open() -> None:
    facts = [fact("t1", True, cost=2.0), fact("x1", True, benchmark="other", cost=None)]
    assert expected(arm_facts("a", facts), ["bench", "other"])[-1].cost_usd.mean is None


def test_case_85_money_of_discarded_runs_stands_with_the_run_that_counts() -> None:
    facts = [fact("t1", True, cost=2.0), fact("t1", None, cost=1.0, discarded=True), fact("t2", True, cost=1.0)]
    assert expected(arm_facts("a", facts), ["bench"])[0].cost_usd.mean == pytest.approx(2.0)


def test_the_agent_s_time_is_without_the_verifier_s() -> None:
    row = expected(arm_facts("a", [fact("t1", True, agent_seconds=7.0)]), ["bench"])[0]
    assert (row.agent_seconds.mean, row.seconds.mean) == (7.0, 10.0)
