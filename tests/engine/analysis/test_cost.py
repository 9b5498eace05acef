from __future__ import annotations

import pytest

from engine.analysis.cost import cost, cost_interval
from engine.analysis.outcomes import TrialOutcome
from tests.engine.analysis.making import arm, trial, two_arms


def test_all_money_over_what_was_resolved() -> None:
    a, b = two_arms(50, 20, 10, 20, cost_a=2.00, cost_b=1.20)
    assert cost(a).total == pytest.approx(200)
    assert cost(a).per_resolved == pytest.approx(2.86, abs=0.005)
    assert cost(b).total == pytest.approx(120)
    assert cost(b).per_resolved == pytest.approx(2.00)


def test_case_85_failures_cost_too() -> None:
    found = cost(arm("a", [True, True, True, False], cost=1.0))
    assert found.per_resolved == pytest.approx(4 / 3)
    assert not found.is_lower_bound


def test_case_85_an_unknown_cost_makes_it_a_lower_bound() -> None:
    found = cost(
        [
            trial("t1", False, cost=0.2),
            trial("t2", False, cost=0.2),
            trial("t3", True, cost=0.2),
            trial("t4", False, cost=None),
        ]
    )
    assert found.per_resolved == pytest.approx(0.60)
    assert (found.is_lower_bound, found.unknown, found.known) == (True, 1, 3)


def test_case_85_nothing_resolved_has_no_price_but_a_sum() -> None:
    found = cost(arm("a", [False, False], cost=0.5))
    assert found.per_resolved is None
    assert found.total == 1.0


def test_case_68_discarded_attempts_keep_their_cost_and_unknown_is_not_zero() -> None:
    found = cost(
        [
            trial("a", None, attempt=1, cost=0.05, discarded=True),
            trial("a", True, attempt=2, cost=0.08),
            trial("b", False, cost=None),
            trial("c", True, cost=0.0),
        ]
    )
    assert found.total == pytest.approx(0.13)
    assert found.discarded == pytest.approx(0.05)
    assert (found.known, found.unknown, found.resolved) == (3, 1, 2)
    assert found.per_resolved == pytest.approx(0.065)
    assert found.is_lower_bound


def test_no_known_cost_is_no_sum() -> None:
    found = cost(arm("a", [True, False], cost=None))
    assert (found.total, found.per_resolved, found.unknown) == (None, None, 2)


def test_money_of_trials_that_never_completed_is_shown_apart_and_counted() -> None:
    found = cost([trial("t1", True, cost=1.0), trial("t2", None, cost=0.25)])
    assert found.infrastructure == 0.25
    assert found.total == 1.25


def test_a_trial_that_still_waits_has_no_unknown_cost() -> None:
    assert cost([trial("t1", None, cost=None, finished=False)]).unknown == 0


@pytest.mark.parametrize("usd", [-0.01, float("nan"), float("inf")])
def test_no_amount_of_money_is_refused_by_trial(usd: float) -> None:
    with pytest.raises(ValueError, match="t1 attempt 1"):
        cost([trial("t1", True, cost=usd)])


def test_the_interval_holds_the_ratio_and_is_unbounded_where_little_was_resolved() -> None:
    outcomes = arm("a", [True] * 30 + [False] * 30, cost=1.0)
    found = cost_interval(outcomes)
    assert found is not None
    assert found[1] is not None
    assert found[0] < 2.0 < found[1]
    assert cost_interval(outcomes) == found

    rare = cost_interval(arm("a", [True] + [False] * 9, cost=1.0))
    assert rare is not None
    assert rare[1] is None


@pytest.mark.parametrize(
    "outcomes",
    [arm("a", [False], cost=1.0), arm("a", [True], cost=None), []],
    ids=["none", "unknown", "empty"],
)
def test_no_price_has_no_interval(outcomes: list[TrialOutcome]) -> None:
    assert cost_interval(outcomes) is None
