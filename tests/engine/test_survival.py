"""How long trials take, reckoned from those that have ended and those that haven't."""

from __future__ import annotations

import math

import pytest

from engine.survival import Survival, bin_of


def survival(ended: list[float], running: list[float]) -> Survival:
    bins: dict[int, int] = {}
    for seconds in ended:
        bins[bin_of(seconds)] = bins.get(bin_of(seconds), 0) + 1
    return Survival(bins, sum(ended) + sum(running), running)


def test_one_short_trial_among_many_that_run_says_little_of_them() -> None:
    """All time at work by all ends, as with a hazard that never changes."""
    curve = survival([62], [62.1] * 7)
    assert curve.rest() == pytest.approx(8 * 62, rel=0.05)
    assert curve.rest(70) == pytest.approx(8 * 62, rel=0.05)


def test_what_all_took_alike_is_what_the_next_one_takes() -> None:
    curve = survival([300] * 20, [100])
    assert curve.rest() == pytest.approx(300, rel=0.05)
    assert curve.rest(100) == pytest.approx(200, rel=0.1)
    assert curve.last(0, 8) == pytest.approx(300, rel=0.05)  # they end together
    assert curve.rest(10_000) == curve.beyond > 300


def test_one_that_has_taken_long_already_is_one_of_the_long_ones() -> None:
    curve = survival([60.0] * 10 + [1000.0] * 10, [])
    assert curve.rest() == pytest.approx(530, rel=0.05)
    assert curve.rest(100) == pytest.approx(900, rel=0.06)


def test_the_last_of_several_ends_later_than_one_does_on_the_mean() -> None:
    curve = survival([100], [200] * 9)
    assert curve.rest(300) < curve.last(300, 2) < curve.last(300, 8)
    assert curve.last(300, 8) == pytest.approx(curve.beyond * sum(1 / n for n in range(1, 9)))


def test_durations_of_nothing_and_of_days_are_numbers_as_well() -> None:
    for curve in (survival([0], []), survival([0, 864_000], [0, 1e9])):
        for taken in (0, 1, 1e6, 1e10):
            assert math.isfinite(curve.rest(taken)) and curve.rest(taken) >= 0
            assert math.isfinite(curve.last(taken, 500)) and curve.last(taken, 500) >= 0
