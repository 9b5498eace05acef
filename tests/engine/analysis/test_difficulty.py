"""Tiers from results, and rates by what tasks say of themselves."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.analysis.difficulty import TIERS, by_category, by_difficulty, tier_of, tiers, untiered
from tests.engine.analysis.making_facts import arm_facts, fact


@pytest.mark.parametrize(
    ("passed", "runs", "tier"),
    [
        (5, 5, "trivial"),
        (99, 100, "easy"),
        (67, 100, "easy"),
        (66, 100, "medium"),
        (34, 100, "medium"),
        (33, 100, "hard"),
        (1, 3, "medium"),
        (2, 3, "easy"),
        (1, 100, "hard"),
        (0, 7, "challenging"),
    ],
)
def test_the_borders_are_those_of_the_contract(passed: int, runs: int, tier: str) -> None:
    assert tier_of(passed, runs) == tier


@given(st.integers(1, 200).flatmap(lambda runs: st.tuples(st.integers(0, runs), st.just(runs))))
def test_more_passes_are_never_a_harder_tier(pair: tuple[int, int]) -> None:
    passed, runs = pair
    order = list(TIERS)
    if passed < runs:
        assert order.index(tier_of(passed + 1, runs)) <= order.index(tier_of(passed, runs))


def test_no_runs_have_no_tier() -> None:
    with pytest.raises(ValueError, match="no share"):
        tier_of(0, 0)


def test_runs_of_all_arms_make_the_tier_and_unfinished_ones_do_not() -> None:
    a = arm_facts("a", [fact("t1", True), fact("t2", True), fact("t3", False), fact("t4", None, finished=False)])
    b = arm_facts("b", [fact("t1", True), fact("t2", False), fact("t3", False)])
    found = {tier.tier: tier for tier in tiers([a, b], "bench")}
    assert {name: tier.tasks for name, tier in found.items() if tier.tasks} == {
        "trivial": ("t1",),
        "medium": ("t2",),
        "challenging": ("t3",),
    }
    assert list(found) == list(TIERS) and found["medium"].runs == (2, 2)
    assert [(arm.arm, arm.passed, arm.of) for arm in found["medium"].arms] == [("a", 1, 1), ("b", 0, 1)]


def test_results_stand_by_category_and_by_stated_difficulty() -> None:
    facts = [
        fact("t1", True, category="db", difficulty="easy"),
        fact("t2", False, category="db", difficulty="hard"),
        fact("t3", True),
    ]
    arm = arm_facts("a", facts)
    assert [(row.group, row.passed, row.of) for row in by_category([arm], "bench")] == [("db", 1, 2), ("", 1, 1)]
    assert [(row.group, row.rate) for row in by_difficulty([arm], "bench")] == [("easy", 1.0), ("hard", 0.0), ("", 1.0)]
    assert by_category([arm_facts("a", [fact("t1", True)])], "bench") == []


def test_a_broken_environment_makes_no_task_hard() -> None:
    arm = arm_facts("a", [fact("t1", None), fact("t2", True, attempt=1), fact("t2", None, attempt=2)])
    assert {tier.tier: tier.tasks for tier in tiers([arm], "bench") if tier.tasks} == {"trivial": ("t2",)}
    assert untiered([arm], "bench") == ["t1"]
