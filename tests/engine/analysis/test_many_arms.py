"""Holm's adjustment, with a known answer, and over arms of one run."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.analysis.many_arms import against_baseline, holm
from engine.analysis.outcomes import TrialOutcome


def arm(name: str, verdicts: list[bool]) -> list[TrialOutcome]:
    return [
        TrialOutcome(
            task=f"t{number}",
            arm=name,
            attempt=1,
            reward=float(passed),
            passed=passed,
            completed=True,
            scored=True,
            excluded=False,
            cost_usd=None,
            seconds=None,
        )
        for number, passed in enumerate(verdicts)
    ]


def test_the_example_that_textbooks_give() -> None:
    """0.01, 0.04, 0.03, 0.005 of four: 0.03, 0.06, 0.06, 0.02."""
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_one_comparison_stays_as_it_is_and_none_is_none() -> None:
    assert holm([0.2]) == [0.2]
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), max_size=12))
def test_adjusting_never_lowers_a_p_value_nor_changes_their_order(p_values: list[float]) -> None:
    adjusted = holm(p_values)
    assert all(raw <= after <= 1 for raw, after in zip(p_values, adjusted, strict=True))
    ranked = [after for _, after in sorted(zip(p_values, adjusted, strict=True))]
    assert ranked == sorted(ranked)


def test_each_other_arm_is_compared_with_the_baseline() -> None:
    arms = {
        "a": arm("a", [True] * 12),
        "b": arm("b", [False] * 6 + [True] * 6),
        "c": arm("c", [True] * 12),
    }
    found = against_baseline(arms, "a")
    assert list(found) == ["b", "c"]
    assert found["b"].exact == pytest.approx(2 / 2**6)
    assert found["b"].holm == pytest.approx(4 / 2**6)
    assert found["c"].holm == 1 and found["c"].looked_at == 2
