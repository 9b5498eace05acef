"""Timeout factors with their trials, and blocks of time."""

from __future__ import annotations

from engine.analysis.conditions import time_blocks, timeout_factors
from tests.engine.analysis.making_facts import START, arm_facts, fact


def test_factors_stand_with_their_trials_and_an_unknown_one_is_no_factor_of_one() -> None:
    facts = [fact("t1", True, factor=2.0, timed_out=True), fact("t2", False, factor=2.0), fact("t3", True, factor=None)]
    rows = timeout_factors([arm_facts("a", facts)], "bench")
    assert [(row.factor, row.trials, row.passed, row.timed_out) for row in rows] == [(2.0, 2, 1, 1), (None, 1, 1, 0)]


def test_arms_whose_starts_overlap_have_no_blocks() -> None:
    a = arm_facts("a", [fact("t1", True, start=0), fact("t2", True, start=2)])
    b = arm_facts("b", [fact("t1", True, start=1), fact("t2", True, start=3)])
    found = time_blocks([a, b], "bench")
    assert (found.apart, found.blocks) == ((), ())


def test_arms_that_ran_one_after_the_other_are_shown_as_blocks() -> None:
    a = arm_facts("a", [fact("t1", True, start=30), fact("t2", True, start=31)])
    b = arm_facts("b", [fact("t1", True, start=0), fact("t2", True, start=6)])
    c = arm_facts("c", [fact("t1", True, start=None)])
    found = time_blocks([a, b, c], "bench")
    assert [(pair.first, pair.then, pair.gap_seconds) for pair in found.apart] == [("b", "a", 24 * 3600)]
    assert [(block.arm, block.trials) for block in found.blocks] == [("b", 2), ("a", 2)]
    assert found.blocks[0].first == START and found.unknown == ("c",)
