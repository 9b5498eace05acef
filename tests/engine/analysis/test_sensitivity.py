from __future__ import annotations

import pytest

from engine.analysis.compare import compare
from engine.analysis.sensitivity import SensitivityView, sensitivity
from tests.engine.analysis.making import arm, trial, two_arms


def by_name(views: tuple[SensitivityView, ...]) -> dict[str, SensitivityView]:
    return {view.name: view for view in views}


def test_without_labels_all_four_views_agree() -> None:
    views = sensitivity(*two_arms(5, 3, 1, 2))
    assert [view.name for view in views] == [
        "as assigned",
        "infrastructure excluded",
        "ambiguous all passed",
        "ambiguous all failed",
    ]
    assert [view.difference for view in views] == pytest.approx([2 / 11] * 4)
    assert all(view.left_out == view.changed == 0 for view in views)


def test_confirmed_infrastructure_takes_both_sides_of_its_pair_along() -> None:
    a, b = arm("a", [True, True, False, True]), arm("b", [None, True, True, False])
    view = by_name(sensitivity(a, b, {("task-000", "b", 1): "infrastructure"}))["infrastructure excluded"]
    assert (view.tasks, view.left_out) == (3, 1)
    assert view.rate_a == pytest.approx(2 / 3)
    assert view.rate_b == pytest.approx(2 / 3)
    assert view.difference == 0.0


def test_one_attempt_of_several_goes_with_its_counterpart_only() -> None:
    a = arm("a", [True, None, True, True], attempts=2)
    b = arm("b", [True, False, False, True], attempts=2)
    view = by_name(sensitivity(a, b, {("task-000", "a", 2): "infrastructure"}))["infrastructure excluded"]
    assert (view.tasks, view.left_out, view.rate_a) == (2, 1, 1.0)
    assert view.rate_b == pytest.approx(2 / 3)


def test_a_pair_with_both_sides_broken_is_left_out_once() -> None:
    labels = {("task-000", "a", 1): "infrastructure", ("task-000", "b", 1): "infrastructure"}
    view = by_name(sensitivity(*two_arms(0, 1, 1, 0), labels))["infrastructure excluded"]
    assert (view.tasks, view.left_out) == (1, 1)


def test_what_a_label_excluded_goes_too() -> None:
    a, b = [trial("t1", True), trial("t2", None, excluded=True)], [trial("t1", arm="b"), trial("t2", arm="b")]
    assert by_name(sensitivity(a, b))["infrastructure excluded"].left_out == 1


def test_ambiguous_trials_are_shown_both_ways() -> None:
    a, b = arm("a", [True, False, None, False]), arm("b", [True, False, True, False])
    labels = {("task-002", "a", 1): "ambiguous", ("task-003", "b", 1): "ambiguous"}
    views = by_name(sensitivity(a, b, labels))
    assert views["as assigned"].rate_a == 0.25
    assert views["ambiguous all passed"].rate_a == 0.5
    assert views["ambiguous all passed"].rate_b == 0.75
    assert views["ambiguous all failed"].rate_a == 0.25
    assert views["ambiguous all passed"].changed == 2
    assert views["ambiguous all failed"].difference == -0.25


def test_other_causes_change_nothing() -> None:
    labels = {("task-000", "a", 1): "model", ("task-001", "a", 1): "budget", ("task-002", "b", 1): "grader"}
    assert {view.difference for view in sensitivity(*two_arms(1, 1, 1, 1), labels)} == {0.0}


def test_everything_left_out_leaves_no_number() -> None:
    view = by_name(sensitivity([trial()], [trial(arm="b")], {("t1", "a", 1): "infrastructure"}))[
        "infrastructure excluded"
    ]
    assert (view.tasks, view.rate_a, view.difference, view.low) == (0, None, None, None)


def test_a_comparison_takes_its_labels_along() -> None:
    found = compare(*two_arms(2, 1, 0, 1), labels={("task-002", "b", 1): "ambiguous"})
    assert by_name(found.sensitivity)["ambiguous all passed"].difference == 0.0
    assert found.difference.estimate == 0.25
