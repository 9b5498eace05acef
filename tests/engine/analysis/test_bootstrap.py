from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, sem

from engine.analysis import bootstrap
from engine.analysis.bootstrap import clustered_standard_error, mean_interval, ratio_interval


def test_twenty_against_ten_of_a_hundred_is_ten_points_from_0_to_21() -> None:
    found = mean_interval([1] * 20 + [-1] * 10 + [0] * 70)
    assert found.estimate == 0.1
    assert found.low == pytest.approx(0.0, abs=0.0101)
    assert found.high == pytest.approx(0.21, abs=0.0101)
    assert not found.degenerate


def test_equal_seeds_give_equal_bytes_whatever_the_order_of_tasks() -> None:
    values = [1.0] * 7 + [0.0] * 20 + [-1.0] * 5
    many = [index / 97 for index in range(97)]
    for data in (values, many):
        assert mean_interval(data) == mean_interval(data[::-1])
        assert mean_interval(data) != mean_interval(data, seed=8)


def test_case_88_equal_pairs_are_degenerate_with_p_1() -> None:
    found = mean_interval([0.0] * 20)
    assert (found.estimate, found.low, found.high) == (0.0, 0.0, 0.0)
    assert found.degenerate
    assert found.p == 1.0
    assert found.standard_error == 0.0


def test_case_88_a_balanced_difference_is_not_significant() -> None:
    found = mean_interval([-1.0] * 3 + [0.0] * 14 + [1.0] * 3)
    assert found.low < 0 < found.high
    assert found.p > 0.9


def test_case_88_a_resampling_p_is_never_zero() -> None:
    assert mean_interval([1.0] * 30).p == pytest.approx(2 / 10_001)


def test_case_88_few_tasks_are_too_few_to_say() -> None:
    assert mean_interval([1.0, 0.0, 1.0, 1.0, 0.0]).too_few
    assert not mean_interval([1.0, 0.0, 1.0, 1.0, 0.0, 1.0]).too_few


def test_one_task_has_no_standard_error() -> None:
    found = mean_interval([0.4])
    assert found.standard_error is None
    assert (found.low, found.high, found.degenerate) == (0.4, 0.4, True)


def test_no_tasks_and_no_draws_are_refused() -> None:
    with pytest.raises(ValueError, match="no tasks"):
        mean_interval([])
    with pytest.raises(ValueError, match="draw"):
        mean_interval([1.0], draws=0)


def test_thirds_and_fifths_that_differ_only_in_the_last_bits_are_one_value() -> None:
    assert mean_interval([0.6 - 0.4, 0.8 - 0.6, 1.0 - 0.8, 0.2]).degenerate


@given(st.lists(st.sampled_from([0.0, 1.0]), min_size=50, max_size=300))
@settings(max_examples=25, deadline=None)
def test_an_interval_of_a_share_is_that_of_the_binomial(values: list[float]) -> None:
    """Resampling n verdicts with share s is Binomial(n, s): the interval is known without any draw."""
    share, n = sum(values) / len(values), len(values)
    found = mean_interval(values)
    for end, level in ((found.low, 0.025), (found.high, 0.975)):
        assert binom.ppf(level - 0.01, n, share) / n - 1e-9 <= end <= binom.ppf(level + 0.01, n, share) / n + 1e-9


def test_single_draws_and_the_multinomial_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    values = list(np.random.default_rng(3).integers(-5, 6, size=400) / 5)
    quick = mean_interval(values)
    monkeypatch.setattr(bootstrap, "_TASKS_PER_VALUE", 10**9)
    slow = mean_interval(values)
    assert quick.low == pytest.approx(slow.low, abs=0.004)
    assert quick.high == pytest.approx(slow.high, abs=0.004)


def test_few_valued_outcomes_never_draw_one_index_per_task(monkeypatch: pytest.MonkeyPatch) -> None:
    """20,000 clusters: the numbers held at a time stay below the bound, however many tasks there are."""
    asked: list[int] = []
    real = np.random.default_rng

    class Counting:
        def __init__(self, seed: int) -> None:
            self._generator = real(seed)

        def multinomial(self, n: int, shares: np.ndarray, size: int) -> np.ndarray:
            asked.append(size * len(shares))
            return self._generator.multinomial(n, shares, size=size)

    values = real(1).integers(-5, 6, size=20_000) / 5
    monkeypatch.setattr(np.random, "default_rng", Counting)
    found = mean_interval(values)
    assert max(asked) <= 1_000_000
    assert found.tasks == 20_000
    assert found.standard_error is not None
    assert (found.high - found.low) / 2 == pytest.approx(1.96 * found.standard_error, rel=0.05)


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=100))
def test_the_clustered_standard_error_is_that_of_task_means(values: list[float]) -> None:
    assert clustered_standard_error(values) == pytest.approx(float(sem(values)), abs=1e-12)


def test_a_ratio_of_equal_denominators_is_a_mean() -> None:
    passes = [5, 3, 0, 1, 5, 2, 4, 0, 0, 3] * 4
    ratio = ratio_interval(passes, [5] * 40)
    mean = mean_interval([number / 5 for number in passes])
    assert (ratio.estimate, ratio.low, ratio.high) == pytest.approx((mean.estimate, mean.low, mean.high))
    assert ratio.standard_error == pytest.approx(mean.standard_error)


def test_resamples_with_nothing_to_divide_by_count_as_unbounded() -> None:
    found = ratio_interval([1.0] * 10, [1.0] + [0.0] * 9)
    assert found.estimate == 10.0
    assert math.isinf(found.high)
    assert math.isfinite(found.low)


def test_nothing_to_divide_by_at_all_is_refused() -> None:
    with pytest.raises(ValueError, match="nothing to divide by"):
        ratio_interval([1.0], [0.0])
