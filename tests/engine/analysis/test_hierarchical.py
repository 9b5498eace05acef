"""Tasks of few families: the interval over families, then tasks."""

from __future__ import annotations

import numpy as np
import pytest

from engine.analysis.bootstrap import mean_interval
from engine.analysis.hierarchical import families_of, family_interval, family_standard_error


def test_families_whose_tasks_are_alike_know_as_little_as_one_task_each() -> None:
    """40 tasks of 8 families, all of a family equal: the interval is that of 8 values."""
    values = [float(family % 2) for family in range(8) for _ in range(5)]
    names = [f"family-{family}" for family in range(8) for _ in range(5)]
    wide, narrow = family_interval(values, names), mean_interval(values)
    alone = mean_interval([0.0, 1.0] * 4)
    assert wide.high - wide.low == pytest.approx(alone.high - alone.low, abs=0.13)
    assert wide.high - wide.low > 1.8 * (narrow.high - narrow.low)
    assert family_standard_error(values, names) == pytest.approx(alone.standard_error)


def test_the_spread_has_both_floors_in_it() -> None:
    """Var of the mean, equal sizes m of G families: between-family variance of means / G plus within / (G·m)."""
    generator = np.random.default_rng(5)
    groups = [generator.integers(-5, 6, size=20) / 5 + (family % 3 - 1) for family in range(10)]
    values = np.concatenate(groups)
    names = [str(family) for family in range(10) for _ in range(20)]
    found = family_interval(values, names)
    between = np.var([group.mean() for group in groups]) / 10
    within = np.mean([group.var() for group in groups]) / 200
    assert (found.high - found.low) / 2 == pytest.approx(1.96 * (between + within) ** 0.5, rel=0.05)


def test_equal_seeds_give_equal_bytes_whatever_the_order() -> None:
    values = [0.2, 0.4, 1.0, 0.0, 0.6, 0.2, 0.8]
    names = ["a", "a", "b", "b", "c", "c", "c"]
    found = family_interval(values, names)
    assert found == family_interval(values[::-1], names[::-1])
    assert found.tasks == 7 and found.estimate == pytest.approx(np.mean(values))
    assert found != family_interval(values, names, seed=8)


def test_case_88_equal_values_are_degenerate() -> None:
    found = family_interval([0.5] * 6, ["a", "a", "a", "b", "b", "b"])
    assert found.degenerate and (found.low, found.high) == (0.5, 0.5)


def test_one_family_has_no_clustered_error_and_nothing_is_refused() -> None:
    assert family_interval([0.0, 1.0], ["a", "a"]).standard_error is None
    with pytest.raises(ValueError, match="2 values for 1 families"):
        family_interval([0.0, 1.0], ["a"])
    with pytest.raises(ValueError, match="no tasks"):
        family_interval([], [])


def test_twenty_thousand_tasks_of_twelve_families_are_drawn_without_a_matrix_of_draws() -> None:
    generator = np.random.default_rng(1)
    values = generator.integers(-5, 6, size=20_000) / 5
    found = family_interval(values, [str(task % 12) for task in range(20_000)])
    assert found.low < found.estimate < found.high


def test_families_are_given_or_stand_in_the_name() -> None:
    tasks = ["django__1", "django__2", "alone"]
    assert families_of(tasks, {}, "__") == ["django", "django", "alone"]
    assert families_of(tasks, {"alone": "x", "django__1": "y"}) == ["y", "django__2", "x"]
