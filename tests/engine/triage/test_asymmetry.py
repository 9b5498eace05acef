"""Causes per arm: rates, and differences that chance does not explain."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import fisher_exact as of_scipy

from engine import events as ev
from engine.state import RunState
from engine.triage.asymmetry import asymmetries, causes_by_arm, fisher_exact, proposals_by_arm
from engine.triage.causes import Cause
from engine.triage.label_book import LabelBook
from tests.engine.run_events import at, finished, folded, started
from tests.engine.triage.labels import label

INFRA, MODEL = Cause.INFRASTRUCTURE, Cause.MODEL


@pytest.mark.parametrize(
    ("counts", "p"),
    [
        ((8, 10, 1, 6), 0.034965),
        ((1, 10, 11, 14), 0.002759),
        ((3, 10, 3, 10), 1.0),
        ((0, 5, 0, 9), 1.0),
        ((5, 5, 9, 9), 1.0),
    ],
)
def test_known_answers(counts: tuple[int, int, int, int], p: float) -> None:
    assert fisher_exact(*counts) == pytest.approx(p, abs=5e-7)


@given(st.integers(0, 60), st.integers(0, 60), st.integers(0, 60), st.integers(0, 60))
def test_it_agrees_with_scipy(a: int, not_a: int, b: int, not_b: int) -> None:
    expected = of_scipy([[a, not_a], [b, not_b]]).pvalue
    assert fisher_exact(a, a + not_a, b, b + not_b) == pytest.approx(float(expected), rel=1e-6, abs=1e-12)


def test_counts_beyond_their_totals_are_refused() -> None:
    with pytest.raises(ValueError, match="3 of 2"):
        fisher_exact(3, 2, 0, 1)


def _state(failed: dict[str, int], assigned: int = 20) -> RunState:
    events: list[ev.Event] = []
    for arm, count in failed.items():
        for number in range(assigned):
            name = f"{arm}{number}"
            events += [
                ev.TrialPlanned(at=at(0), trial=name, task=f"k{number}", arm=arm, attempt=1, position=1),
                started(name),
                finished(name, 0.0 if number < count else 1.0),
            ]
    return folded(*events)


def _book(state: RunState, struck: dict[str, int], cause: Cause = INFRA) -> LabelBook:
    return LabelBook(
        [label("ada", f"{arm}{number}", cause) for arm, count in struck.items() for number in range(count)]
    )


def test_a_cause_that_strikes_one_arm_is_flagged() -> None:
    state = _state({"a": 12, "b": 12})
    arms = causes_by_arm(state, _book(state, {"a": 10, "b": 0}).as_analysis_labels(state))
    assert [(arm.arm, arm.assigned, arm.failures, arm.undecided) for arm in arms] == [
        ("a", 20, 12, 2),
        ("b", 20, 12, 12),
    ]
    assert arms[0].of_assigned(INFRA) == 0.5
    assert arms[0].of_failures(INFRA) == pytest.approx(10 / 12)
    found = asymmetries(arms)
    assert [(each.cause, each.count_a, each.count_b, each.looked_at, each.flagged) for each in found] == [
        (INFRA, 10, 0, 1, True)
    ]


def test_looking_at_many_causes_is_paid_for() -> None:
    """A raw p below 5 % alone is no flag where four causes were looked at."""
    state = _state({"a": 20, "b": 20})
    labels = {
        **_book(state, {"a": 6, "b": 0}).as_analysis_labels(state),
        **{
            (f"k{number}", arm, 1): cause
            for arm in "ab"
            for number, cause in ((7, "model"), (8, "task"), (9, "grader"))
        },
    }
    found = asymmetries(causes_by_arm(state, labels))
    first = found[0]
    assert (first.cause, first.looked_at) == (INFRA, 4)
    assert first.p < 0.05 < first.adjusted
    assert not any(each.flagged for each in found)


def test_one_arm_and_no_labels_have_nothing_to_compare() -> None:
    state = _state({"a": 3})
    assert asymmetries(causes_by_arm(state, _book(state, {"a": 3}).as_analysis_labels(state))) == []
    both = _state({"a": 3, "b": 3})
    assert asymmetries(causes_by_arm(both, {})) == []


def test_an_arm_without_failures_has_no_rate_of_them() -> None:
    arms = causes_by_arm(_state({"a": 0}), {})
    assert (arms[0].of_assigned(MODEL), arms[0].of_failures(MODEL)) == (0.0, None)


def test_what_rules_propose_is_counted_by_arm() -> None:
    found = proposals_by_arm(_state({"a": 2, "b": 1}), {"a0": INFRA, "a1": INFRA, "b0": None, "gone": MODEL})
    assert {arm: dict(counts) for arm, counts in found.items()} == {"a": {INFRA: 2}, "b": {}}
