"""pass@k and pass^k, and a cascade, with their known answers."""

from __future__ import annotations

import pytest

from engine.analysis.cascade import cascade
from engine.analysis.pairs import firsts, form_pairs
from engine.analysis.pass_at_k import all_of, any_of, pass_at_k
from tests.engine.analysis.making import arm, trial, two_arms


@pytest.mark.parametrize(
    ("n", "c", "k", "expected"), [(5, 1, 2, 0.4), (5, 0, 5, 0.0), (4, 3, 4, 1.0), (3, 1, 2, 0.6667)]
)
def test_case_91_the_unbiased_estimator(n: int, c: int, k: int, expected: float) -> None:
    assert any_of(n, c, k) == pytest.approx(expected, abs=5e-5)


def test_case_91_more_than_there_are_attempts_is_refused() -> None:
    with pytest.raises(ValueError, match="pass@5 is not available of 2 attempts"):
        any_of(2, 0, 5)
    with pytest.raises(ValueError, match="can't have passed"):
        all_of(2, 3, 1)


def test_three_independent_tries_at_forty_percent() -> None:
    """1 − 0.6³ = 78.4 %: the estimator comes to it as attempts grow."""
    assert any_of(10_000, 4_000, 3) == pytest.approx(0.784, abs=1e-3)
    assert all_of(10_000, 4_000, 3) == pytest.approx(0.064, abs=1e-3)


def test_excluded_attempts_are_not_counted_and_that_is_said() -> None:
    outcomes = [trial(attempt=1), trial(attempt=2, passed=False), trial(attempt=3, passed=False, excluded=True)]
    found = pass_at_k(outcomes, 2)
    assert (found.any_of_k, found.all_of_k, found.left_out) == (1.0, 0.0, 1)
    assert pass_at_k(arm("a", [True, False, None, None], attempts=2), 2).lacking == ("task-001",)


def test_the_cascade_of_the_worked_example() -> None:
    """B first, A on B's failures: 80 of 100, $200, $2.50."""
    a, b = two_arms(50, 20, 10, 20, cost_a=2.00, cost_b=1.20)
    found = cascade(firsts(form_pairs(a, b)))
    assert found is not None and (found.resolved, found.tasks) == (80, 100)
    assert found.cost_total == pytest.approx(200) and found.per_resolved == pytest.approx(2.5)


def test_a_cascade_with_an_unknown_cost_has_no_price() -> None:
    a, b = two_arms(1, 1, 1, 1, cost_a=None, cost_b=1.0)
    found = cascade(firsts(form_pairs(a, b)))
    assert found is not None and found.cost_total is None and found.per_resolved is None
    assert cascade([]) is None
