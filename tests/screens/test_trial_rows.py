"""Order, groups and what moves, with no terminal."""

from __future__ import annotations

import pytest

from engine import events as ev
from engine import trial_state
from engine.state import RunState
from screens.trial_columns import BY_NAME, COLUMNS
from screens.trial_filter import parse
from screens.trial_rows import GROUPINGS, TrialRows
from tests.screens import fake_run

NOW = fake_run.at(1500)


@pytest.fixture
def rows() -> TrialRows:
    state = RunState()
    state.apply_all(fake_run.story())
    rows = TrialRows(state)
    rows.rebuild(NOW)
    return rows


def states(rows: TrialRows) -> list[str]:
    return [rows.state.trials[key].state for key in rows.keys if key in rows.state.trials]


def test_what_wants_a_look_comes_first_and_the_queue_last(rows: TrialRows) -> None:
    assert list(dict.fromkeys(states(rows))) == [
        trial_state.UNSCORED,
        trial_state.RUNNING,
        trial_state.WAITING,
        trial_state.FAILED,
        trial_state.PASSED,
        trial_state.QUEUED,
    ]


@pytest.mark.parametrize("column", list(BY_NAME))
def test_every_column_sorts_both_ways_with_the_unknown_last(rows: TrialRows, column: str) -> None:
    for down in (False, True):
        rows.set_sort(column, NOW, down)
        assert sorted(rows.keys) == sorted(rows.state.trials)
    for column in ("reward", "cpu", "memory", "time"):
        for down in (False, True):
            rows.set_sort(column, NOW, down)
            trial = rows.state.trials[rows.keys[-1]]
            last = {"reward": trial.reward, "cpu": trial.cpu_percent, "memory": trial.memory_bytes}
            assert last.get(column, trial.elapsed(NOW)) is None


def test_position_is_the_last_key_in_both_directions(rows: TrialRows) -> None:
    for down in (False, True):
        rows.second = ""
        rows.sort = "arm"
        rows.set_sort("arm", NOW, down)
        positions = [rows.state.trials[key].position for key in rows.keys]
        half = len(positions) // 2
        assert positions[:half] == sorted(positions[:half]) and positions[half:] == sorted(positions[half:])


@pytest.mark.parametrize("first_down", [False, True])
@pytest.mark.parametrize("second_down", [False, True])
@pytest.mark.parametrize("second", ["task", "time", "reward", "state", "arm"])
def test_the_column_before_is_the_second_key_in_its_own_direction(
    rows: TrialRows, second: str, first_down: bool, second_down: bool
) -> None:
    rows.set_sort(second, NOW, second_down)
    alone = list(rows.keys)
    rows.set_sort("attempt", NOW, first_down)  # the same for all of them
    assert (rows.second, rows.second_down) == (second, second_down)
    if second in ("task", "arm"):
        texts = [getattr(rows.state.trials[key], second) for key in rows.keys]
        ranks = texts if second == "task" else [rows.letters[text] for text in texts]
        assert ranks == sorted(ranks, reverse=second_down)
    else:
        values = [(rows.state.trials[key].reward, rows.state.trials[key].elapsed(NOW)) for key in rows.keys]
        before = [(rows.state.trials[key].reward, rows.state.trials[key].elapsed(NOW)) for key in alone]
        place = {"reward": 0, "time": 1}.get(second)
        if place is not None:
            assert [value[place] for value in values] == [value[place] for value in before]
        assert [rows.state.trials[key].state for key in rows.keys if second == "state"] == [
            rows.state.trials[key].state for key in alone if second == "state"
        ]


def test_the_same_column_again_turns_the_order_round(rows: TrialRows) -> None:
    rows.set_sort("time", NOW)
    assert rows.down, "times start with the longest"
    rows.set_sort("time", NOW)
    assert not rows.down


def test_an_event_that_changes_no_place_moves_no_row(rows: TrialRows) -> None:
    trial = fake_run.trial_id(1, "sol-6.1", 1)
    rows.state.apply(ev.ActivityChanged(at=NOW, trial=trial, activity="edit"))
    assert rows.update({trial}, NOW) is False


def test_a_trial_that_ends_moves(rows: TrialRows) -> None:
    trial = fake_run.trial_id(1, "sol-6.1", 1)
    rows.state.apply_all(fake_run.ended(trial, 1500, True))
    assert rows.update({trial}, NOW) is True
    assert states(rows)[rows.keys.index(trial)] == trial_state.PASSED


def test_a_filter_lets_rows_in_and_out_as_they_change(rows: TrialRows) -> None:
    rows.set_filter(parse("state:passed"), NOW)
    trial = fake_run.trial_id(1, "sol-6.1", 1)
    assert trial not in rows.keys
    rows.state.apply_all(fake_run.ended(trial, 1500, True))
    rows.update({trial}, NOW)
    assert trial in rows.keys
    assert rows.shown == 6


def test_updating_dirty_rows_gives_what_a_rebuild_gives(rows: TrialRows) -> None:
    fresh = TrialRows(rows.state)
    for trial in list(rows.state.trials)[::3]:
        rows.state.apply_all([*fake_run.begun(trial, 1500), *fake_run.ended(trial, 1600, False)])
        rows.update({trial, ""}, NOW)
        fresh.rebuild(NOW)
        assert rows.keys == fresh.keys


@pytest.mark.parametrize("by", GROUPINGS[1:])
def test_groups_hold_every_trial_once_and_count_it(rows: TrialRows, by: str) -> None:
    rows.set_grouping(by, NOW)
    assert sorted(key for key in rows.keys if key not in rows.groups) == sorted(rows.state.trials)
    assert sum(group.trials for group in rows.groups.values()) == 24
    for key in rows.keys:
        if key in rows.groups:
            current = key
        else:
            assert rows.group_of(key) == current


def test_a_folded_group_keeps_its_header_only(rows: TrialRows) -> None:
    rows.set_grouping("arm", NOW)
    first = rows.keys[0]
    rows.fold(first)
    assert len(rows.keys) == 2 + 12 and rows.keys[1] in rows.groups
    rows.fold(first)
    assert len(rows.keys) == 2 + 24


def test_columns_have_unique_names() -> None:
    assert len(BY_NAME) == len(COLUMNS)
