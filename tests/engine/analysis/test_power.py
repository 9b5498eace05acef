from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from engine.analysis.power import detectable, detectable_from_discordance, standard_errors_apart, tasks_needed


def test_66_tasks_with_16_discordant_detect_about_17_points() -> None:
    assert detectable_from_discordance(66, 16) == pytest.approx(0.17, abs=0.005)


def test_five_attempts_of_80_tasks_detect_about_9_points() -> None:
    assert detectable(0.03272) == pytest.approx(0.09, abs=0.005)


def test_two_points_want_some_4750_tasks() -> None:
    assert tasks_needed(0.02, 16 / 66) == pytest.approx(4_750, abs=10)
    assert tasks_needed(-0.02, 16 / 66) == tasks_needed(0.02, 16 / 66)


def test_a_difference_larger_than_the_disagreement_can_not_be_planned_for() -> None:
    assert tasks_needed(0.3, 0.2) is None
    assert tasks_needed(0.0, 0.2) is None


def test_where_nothing_disagrees_nothing_can_be_told() -> None:
    assert detectable_from_discordance(66, 0) is None
    assert detectable_from_discordance(0, 0) is None


def test_a_tiny_design_detects_no_more_than_everything() -> None:
    assert detectable_from_discordance(2, 2) == 1.0


@given(st.integers(10, 5_000), st.floats(0.01, 1.0))
def test_planning_and_detecting_are_inverse(tasks: int, discordance: float) -> None:
    wanted = detectable_from_discordance(tasks, tasks * discordance)
    assert wanted is not None
    if wanted <= discordance:
        needed = tasks_needed(wanted, discordance)
        assert needed is not None
        assert tasks <= needed + 1 <= tasks + 2


def test_the_quantiles_are_those_of_scipy() -> None:
    assert standard_errors_apart() == pytest.approx(norm.ppf(0.975) + norm.ppf(0.8))
