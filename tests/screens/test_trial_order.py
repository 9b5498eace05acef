"""Rows that stay sorted while single ones change, whatever their number."""

from __future__ import annotations

import random

import pytest

from engine import events as ev
from engine.state import RunState
from screens import trial_rows
from screens.trial_filter import parse
from screens.trial_rows import TrialRows
from tests.screens import fake_run

NOW = fake_run.at(1500)


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> TrialRows:
    """A run that counts as a large one: all of it is arranged in pieces."""
    monkeypatch.setattr(trial_rows, "LARGE", 100)
    monkeypatch.setattr(trial_rows, "MOST_MOVED", 40)
    state = RunState()
    state.apply_all(fake_run.plan(tasks=600))
    chance = random.Random(3)
    for number, trial in enumerate(list(state.trials)):
        if number % 3:
            passed = chance.choice((True, False, None))
            state.apply_all([*fake_run.begun(trial, 10), *fake_run.ended(trial, 400, passed, chance.uniform(1, 900))])
    state.take_dirty()
    rows = TrialRows(state)
    rows.rebuild(NOW)
    return rows


def finish(rows: TrialRows) -> int:
    """How many pieces it took."""
    pieces = 0
    while rows.behind:
        rows.step(0.0)
        pieces += 1
    return pieces


def fresh(rows: TrialRows) -> list[str]:
    """The same, arranged from nothing."""
    other = TrialRows(rows.state)
    for name in ("filter", "problems", "sort", "down", "second", "second_down", "grouping", "marked"):
        setattr(other, name, getattr(rows, name))
    other.rebuild(NOW)
    return other.keys


def test_rows_of_a_large_run_stay_until_the_new_ones_are_there(large: TrialRows) -> None:
    before = list(large.keys)
    large.set_sort("time", NOW)
    assert large.behind and large.keys == before
    assert large.step(0.0) is False and large.keys == before
    assert finish(large) > 3
    assert large.keys == fresh(large) != before


@pytest.mark.parametrize("column", ["state", "time", "task", "reward", "issues"])
@pytest.mark.parametrize("down", [False, True])
def test_every_row_is_found_where_it_stands(large: TrialRows, column: str, down: bool) -> None:
    large.set_sort(column, NOW, down)
    finish(large)
    assert [large.index(key) for key in large.keys] == list(range(len(large.keys)))
    assert large.index("nobody") is None


def test_changes_while_all_is_arranged_are_not_lost(large: TrialRows) -> None:
    large.set_filter(parse("state:passed"), NOW)
    trial = next(key for key in large.state.trials if not large.state.trials[key].done)
    large.step(0.0)
    large.state.apply_all([*fake_run.begun(trial, 1400), *fake_run.ended(trial, 1500, True)])
    assert large.update({trial}, NOW) is False
    finish(large)
    assert trial in large.keys
    assert large.keys == fresh(large)


def test_a_crowd_of_changes_arranges_all_anew_in_pieces(large: TrialRows) -> None:
    changed = [key for key, trial in large.state.trials.items() if not trial.done][:60]
    for trial in changed:
        large.state.apply_all([*fake_run.begun(trial, 1400), *fake_run.ended(trial, 1500, False)])
    assert large.update(set(changed), NOW) is False and large.behind
    finish(large)
    assert large.keys == fresh(large)


def test_a_few_changes_of_a_large_run_are_moved_on_the_spot(large: TrialRows) -> None:
    chance = random.Random(5)
    large.set_sort("time", NOW, True)
    finish(large)
    for trial in chance.sample(list(large.state.trials), 200):
        large.state.trials[trial].seconds = chance.uniform(0, 2000)
        large.update({trial}, NOW)
        assert not large.behind
    assert large.keys == fresh(large)


def test_a_second_wish_replaces_the_first_one_at_once(large: TrialRows) -> None:
    large.set_sort("time", NOW)
    large.step(0.0)
    large.set_filter(parse("arm:b"), NOW)
    finish(large)
    assert large.keys == fresh(large)
    assert {large.state.trials[key].arm for key in large.keys} == {"sol-6.1"}


def test_groups_of_a_large_run_are_made_and_folded_in_pieces(large: TrialRows) -> None:
    large.set_grouping("state", NOW)
    finish(large)
    assert large.keys == fresh(large)
    first = large.keys[0]
    shown = len(large.keys)
    large.fold(first)
    finish(large)
    assert len(large.keys) == shown - large.groups[first].trials
    large.fold(first)
    finish(large)
    assert len(large.keys) == shown


def test_a_group_counts_what_has_changed_since(large: TrialRows) -> None:
    large.set_grouping("state", NOW)
    finish(large)
    trial = next(key for key in large.state.trials if not large.state.trials[key].done)
    large.state.apply(ev.TrialStarted(at=NOW, trial=trial))
    large.update({trial}, NOW)
    finish(large)
    assert sum(group.trials for group in large.groups.values()) == len(large.state.trials)
    assert trial in large.running
