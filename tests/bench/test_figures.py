"""Statistics, and when a target counts as met."""

from __future__ import annotations

import pytest

from bench.figures import Series, percentile, ratio
from tests.bench.results import OURS, THEIRS, check, result


def test_a_ratio_is_of_medians_so_one_disturbed_repetition_changes_nothing() -> None:
    assert ratio(OURS, THEIRS) == pytest.approx(2.0 / 15.5)


@pytest.mark.parametrize(("percent", "expected"), [(1, 1.0), (50, 50.0), (99, 99.0), (100, 100.0), (99.5, 100.0)])
def test_percentiles_are_values_that_were_measured(percent: float, expected: float) -> None:
    assert percentile([float(number) for number in range(100, 0, -1)], percent) == expected


def test_of_few_values_the_99th_percentile_is_the_largest() -> None:
    assert percentile([3.0, 1.0, 2.0], 99) == 3.0
    assert percentile([3.0], 1) == 3.0


def test_median_of_an_even_number() -> None:
    assert Series(name="x", unit="s", values=(1.0, 2.0, 3.0, 10.0)).median == 2.5


def test_a_bound_may_be_reached_unless_it_says_below() -> None:
    assert check(0.2).met is True
    assert check(0.2, below=True).met is False
    assert check(0.21).met is False


def test_an_aim_is_no_target() -> None:
    missed = check(0.18, aim=1 / 7)
    assert (missed.met, missed.aim_met) == (True, False)
    only_aim = check(9.0, target=None, aim=1.5)
    assert (only_aim.met, only_aim.aim_met) == (None, False)
    assert result(missed, only_aim).ok


def test_what_was_not_measured_is_not_met() -> None:
    assert not result(unmeasured="no Docker").ok
    assert not result(check(0.1), check(0.3)).ok
    assert result(check(0.1), check(1.0, target=None)).ok
