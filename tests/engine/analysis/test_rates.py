from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from engine.analysis.outcomes import attempts_by_task
from engine.analysis.rates import arm_rate, count, live_rate, wilson
from tests.engine.analysis.making import arm, trial


@pytest.mark.parametrize(
    ("passed", "of", "low", "high"),
    [
        (4, 10, 0.168, 0.687),  # case 86
        (4, 6, 0.300, 0.903),  # case 86
        (10, 10, 0.7225, 1.0),  # case 88
        (0, 10, 0.0, 0.2775),  # case 88
        (0, 50, 0.0, 0.0713),  # case 88
    ],
)
def test_wilson_gives_the_known_intervals(passed: int, of: int, low: float, high: float) -> None:
    assert wilson(passed, of) == pytest.approx((low, high), abs=6e-4)


def test_case_88_all_or_nothing_has_an_interval_that_ends_exactly_there() -> None:
    assert wilson(10, 10)[1] == 1.0
    assert wilson(0, 10)[0] == 0.0


def test_nothing_tried_could_be_anything_and_more_passes_than_trials_is_refused() -> None:
    assert wilson(0, 0) == (0.0, 1.0)
    with pytest.raises(ValueError, match="7 of 5"):
        wilson(7, 5)


@given(st.integers(1, 3000).flatmap(lambda of: st.tuples(st.integers(0, of), st.just(of))))
def test_wilson_agrees_with_scipy(counts: tuple[int, int]) -> None:
    theirs = binomtest(*counts).proportion_ci(method="wilson")
    assert wilson(*counts) == pytest.approx((theirs.low, theirs.high), abs=1e-9)


def test_case_86_errored_trials_stay_in_the_denominator() -> None:
    counts = count(arm("a", [True] * 4 + [False] * 2 + [None] * 4))
    assert (counts.passed, counts.scored, counts.completed, counts.assigned) == (4, 6, 6, 10)
    assert counts.rate == 0.4
    assert counts.rate_completed == pytest.approx(4 / 6)
    assert counts.bounds == (0.4, 0.8)


def test_seventy_of_a_hundred_with_ten_broken_environments_is_seventy_percent() -> None:
    counts = count(arm("a", [True] * 70 + [False] * 20 + [None] * 10))
    assert counts.rate == 0.7
    assert counts.rate_completed == pytest.approx(0.778, abs=5e-4)


def test_excluded_trials_are_counted_apart_and_stay_assigned() -> None:
    counts = count([trial("t1"), trial("t2", False, excluded=True)])
    assert (counts.assigned, counts.excluded, counts.rate) == (2, 1, 0.5)


def test_a_discarded_record_is_no_trial() -> None:
    counts = count([trial(passed=None, discarded=True), trial(passed=True)])
    assert (counts.assigned, counts.passed) == (1, 1)


def test_no_trials_have_no_rate() -> None:
    assert count([]).rate is None
    assert count([]).rate_completed is None
    assert count([]).bounds is None
    assert arm_rate([]).rate is None
    assert arm_rate([]).interval is None


def test_one_attempt_per_task_gets_wilson() -> None:
    rate = arm_rate(arm("a", [True] * 4 + [False] * 6))
    assert rate.method == "Wilson"
    assert rate.interval == wilson(4, 10)


def test_case_92_several_attempts_widen_the_interval_to_that_of_tasks() -> None:
    verdicts = ([True] * 5) * 10 + ([False] * 5) * 10
    rate = arm_rate(arm("a", verdicts, attempts=5))
    assert rate.interval is not None
    assert (rate.passed, rate.of, rate.tasks, rate.method) == (50, 100, 20, "task bootstrap")
    flat = wilson(50, 100)
    assert rate.interval[0] < flat[0] - 0.05
    assert rate.interval[1] > flat[1] + 0.05


def test_case_88_several_attempts_that_all_pass_still_leave_doubt() -> None:
    rate = arm_rate(arm("a", [True] * 30, attempts=3))
    assert rate.method == "Wilson over tasks"
    assert rate.interval == wilson(10, 10)


def test_while_a_run_lives_its_rate_is_of_finished_trials() -> None:
    trials = [trial("t1"), trial("t2", False), trial("t3", None, finished=False)]
    assert live_rate(trials).rate == 0.5
    assert live_rate(trials).of == 2
    assert arm_rate(trials).rate == pytest.approx(1 / 3)


def test_case_53_a_trial_that_ran_out_of_time_and_passed_is_resolved() -> None:
    assert count([trial(passed=True)]).passed == 1


def test_case_89_the_same_attempt_twice_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="t1 attempt 1"):
        attempts_by_task([trial("t1", True), trial("t1", False), trial("T1", True)])


def test_case_89_names_that_differ_in_case_or_blanks_are_different_tasks() -> None:
    assert list(attempts_by_task([trial("t1"), trial("T1"), trial(" t1")])) == [" t1", "T1", "t1"]
