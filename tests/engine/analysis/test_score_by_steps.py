"""Score against a budget of steps."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from engine.analysis.score_by_steps import step_curve
from tests.engine.analysis.making_facts import arm_facts, fact


def test_only_successes_whose_last_step_fits_count_and_failures_stay_in_the_denominator() -> None:
    facts = [fact("t1", True, steps=3), fact("t2", True, steps=8), fact("t3", False, steps=2), fact("t4", False)]
    curve = step_curve(arm_facts("a", facts), "bench")
    assert curve is not None
    assert [(point.steps, point.score) for point in curve.points] == [(3, 0.25), (8, 0.5)]
    assert (curve.full, curve.cut, curve.successes, curve.unknown) == (0.5, 8, 2, 0)


def test_it_is_cut_at_the_95th_percentile_of_successful_lengths() -> None:
    facts = [fact(f"t{number:03}", True, steps=number + 1) for number in range(100)]
    curve = step_curve(arm_facts("a", facts), "bench")
    assert curve is not None and curve.cut == 95
    assert curve.points[-1].steps == 95 and curve.points[-1].score == 0.95 and curve.full == 1.0
    assert len(curve.points) <= 60


def test_a_success_of_unknown_length_is_at_no_point_and_is_counted() -> None:
    curve = step_curve(arm_facts("a", [fact("t1", True, steps=None), fact("t2", True, steps=4)]), "bench")
    assert curve is not None and curve.unknown == 1
    assert curve.points[-1].score == 0.5 and curve.full == 1.0


def test_without_successes_or_trials_there_is_no_line() -> None:
    curve = step_curve(arm_facts("a", [fact("t1", False, steps=9)]), "bench")
    assert curve is not None and curve.points == () and curve.full == 0.0
    assert step_curve(arm_facts("a", [fact("t1", None, finished=False)]), "bench") is None


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.integers(1, 40)), min_size=1, max_size=30))
def test_the_curve_never_falls_and_stays_inside_of_its_interval(trials: list[tuple[bool, int]]) -> None:
    facts = [fact(f"t{place:02}", passed, steps=steps) for place, (passed, steps) in enumerate(trials)]
    curve = step_curve(arm_facts("a", facts), "bench", draws=500)
    assert curve is not None
    scores = [point.score for point in curve.points]
    assert scores == sorted(scores) and all(score <= curve.full + 1e-9 for score in scores)
    assert all(point.low - 1e-9 <= point.score <= point.high + 1e-9 for point in curve.points)
