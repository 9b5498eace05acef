from __future__ import annotations

from fractions import Fraction
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from engine.analysis.mcnemar import mcnemar


@pytest.mark.parametrize(
    ("a_only", "b_only", "p"),
    [
        (20, 10, 0.0987),
        (5, 9, 0.4240),
        (10, 6, 0.4545),
        (3, 0, 0.25),  # case 92, by task
        (15, 0, 0.000061),  # case 92, wrongly flat
        (0, 0, 1.0),
        (1, 1, 1.0),
    ],
)
def test_exact_p_has_the_known_values(a_only: int, b_only: int, p: float) -> None:
    assert mcnemar(a_only, b_only).exact == pytest.approx(p, abs=5e-5)


def test_mid_p_stands_beside_the_exact_one_and_comes_from_the_uncapped_sum() -> None:
    assert mcnemar(1, 1).mid_p == 1.0
    assert mcnemar(0, 0).mid_p == 1.0
    assert mcnemar(10, 6).mid_p == pytest.approx(0.3323, abs=5e-5)
    assert mcnemar(20, 10).mid_p == pytest.approx(0.0987 - comb(30, 10) / 2**30, abs=5e-5)


@given(st.integers(0, 400), st.integers(0, 400))
def test_exact_agrees_with_the_sign_test_of_scipy(a_only: int, b_only: int) -> None:
    theirs = binomtest(a_only, a_only + b_only).pvalue if a_only + b_only else 1.0
    assert mcnemar(a_only, b_only).exact == pytest.approx(theirs, rel=1e-9)


@given(st.integers(0, 60), st.integers(0, 60))
def test_mid_p_is_the_definition_to_the_last_bit(a_only: int, b_only: int) -> None:
    n, least = a_only + b_only, min(a_only, b_only)
    below = sum(Fraction(comb(n, k), 2**n) for k in range(least + 1))
    expected = 2 * below - Fraction(comb(n, least), 2**n)
    assert mcnemar(a_only, b_only).mid_p == float(expected)
    assert mcnemar(a_only, b_only).exact == float(min(Fraction(1), 2 * below))


@given(st.integers(0, 500), st.integers(0, 500))
def test_sides_are_exchangeable_and_mid_p_never_exceeds_the_exact_one(a_only: int, b_only: int) -> None:
    found = mcnemar(a_only, b_only)
    assert found == mcnemar(b_only, a_only)
    assert 0 < found.mid_p <= found.exact <= 1


def test_thousands_of_discordant_pairs_are_still_exact() -> None:
    n, least = 9_700, 4_700
    below = Fraction(sum(comb(n, k) for k in range(least + 1)), 2**n)
    assert mcnemar(least, n - least).exact == float(2 * below)


def test_a_p_too_small_for_a_float_is_zero_and_no_error() -> None:
    assert mcnemar(0, 5_000).exact == 0.0


def test_negative_counts_are_refused() -> None:
    with pytest.raises(ValueError, match="negative"):
        mcnemar(-1, 3)
