"""Refusals and fallbacks, counted on their own and scored both ways."""

from __future__ import annotations

from engine.analysis.refusals import both_ways
from engine.analysis.trial_facts import Seen
from tests.engine.analysis.making_facts import arm_facts, fact


def test_refusals_are_counted_as_successes_and_as_failures() -> None:
    refused, plain = Seen(refused=True), Seen()
    facts = [
        fact("t1", True, seen=plain),
        fact("t2", False, seen=refused),
        fact("t3", True, seen=refused),
        fact("t4", False),
    ]
    rows = both_ways([arm_facts("a", facts)], "bench")
    assert [row.what for row in rows] == ["refused", "fell back"]
    assert (rows[0].count, rows[0].passed, rows[0].looked_at, rows[0].of) == (2, 1, 3, 4)
    assert (rows[0].rate, rows[0].as_successes, rows[0].as_failures) == (0.5, 0.75, 0.25)
    assert (rows[1].count, rows[1].as_successes) == (0, 0.5)


def test_arms_whose_sessions_nobody_read_have_no_count_of_zero() -> None:
    assert both_ways([arm_facts("a", [fact("t1", False)])], "bench") == []
