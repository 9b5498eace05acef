"""The `/` filter, with no terminal."""

from __future__ import annotations

import pytest

from engine.state import RunState
from screens.trial_fields import Looking, is_problem
from screens.trial_filter import FilterError, parse
from tests.screens import fake_run


@pytest.fixture
def state() -> RunState:
    state = RunState()
    state.apply_all(fake_run.story())
    return state


def shown(state: RunState, text: str) -> set[str]:
    looking = Looking({"sonnet-5.5": "A", "sol-6.1": "B"}, fake_run.at(1500))
    wanted = parse(text)
    return {f"{trial.task} {trial.arm}" for trial in state.trials.values() if wanted(trial, looking)}


def test_empty_shows_everything(state: RunState) -> None:
    assert len(shown(state, "   ")) == 24


def test_text_looks_into_task_activity_and_issues_whatever_the_case(state: RunState) -> None:
    assert shown(state, "KV-Live") == {"kv-live-surgery sonnet-5.5", "kv-live-surgery sol-6.1"}
    assert shown(state, "libfoo") == {"ctr-optimization sonnet-5.5"}
    assert shown(state, '"memory (needs"') == {"redis-leaderboard sonnet-5.5"}


def test_terms_are_joined_and_a_mark_turns_one_round(state: RunState) -> None:
    assert shown(state, "kv-live !bash") == {"kv-live-surgery sonnet-5.5"}
    assert shown(state, "kv-live !!bash") == {"kv-live-surgery sol-6.1"}
    assert shown(state, "kv-live !") == shown(state, "kv-live")


def test_fields(state: RunState) -> None:
    assert shown(state, "arm:b state:failed") == {"nextjs-performance sol-6.1", "größe-日本語 sol-6.1"}
    assert shown(state, "state:timeout") == {"nextjs-performance sol-6.1"}
    assert shown(state, "phase:prepare") == {"ctr-optimization sonnet-5.5"}
    assert shown(state, "issue:fatal") == {"ctr-optimization sonnet-5.5"}
    assert shown(state, "arm:sonnet task:hello") == {"hello-world sonnet-5.5"}


def test_numbers(state: RunState) -> None:
    assert shown(state, "reward:<1 arm:a") == {"payments-pipeline-fix sonnet-5.5", "[/bold] $(rm -rf) sonnet-5.5"}
    assert "ctr-optimization sonnet-5.5" not in shown(state, "reward:<1"), "no verdict is not a zero"
    assert "ctr-optimization sonnet-5.5" in shown(state, "reward:none")
    assert shown(state, "time:>20m") == {"nextjs-performance sol-6.1"}
    assert shown(state, "mem:>3G") == {"heat-pump-warranty sol-6.1"}


def test_regex_with_and_without_its_closing_slash(state: RunState) -> None:
    both = {"kv-live-surgery sonnet-5.5", "kv-live-surgery sol-6.1"}
    assert shown(state, "/^kv-.*y$/") == both
    assert shown(state, "/^kv-.*y$") == both
    assert shown(state, "/^kv-.*y$/ arm:b") == {"kv-live-surgery sol-6.1"}


@pytest.mark.parametrize("text", ["/*", "/(/", "/[z", "/a{99999999999}/", "nofield:x", "nofield:", "reward:many"])
def test_what_is_wrong_is_said_and_nothing_crashes(text: str) -> None:
    with pytest.raises(FilterError, match=r"\w"):
        parse(text)


@pytest.mark.parametrize(
    "text", ["!", "/", "//", "task:", "reward:<", '"', 'task:"', "[/", "ZLEXCOUNT z [b +", "!!!", "!/x"]
)
def test_half_typed_filters_are_fine(state: RunState, text: str) -> None:
    shown(state, text)


def test_every_prefix_of_a_filter_is_a_filter_or_a_said_mistake(state: RunState) -> None:
    whole = '!state:passed task:"a b" /x(y|z)+/ reward:<=0.5 time:>10m'
    for end in range(len(whole)):
        try:
            shown(state, whole[:end])
        except FilterError as error:
            assert str(error)


def test_problems_are_what_wants_a_look(state: RunState) -> None:
    problems = {f"{trial.task} {trial.arm}" for trial in state.trials.values() if is_problem(trial)}
    assert problems == {
        "ctr-optimization sonnet-5.5",
        "payments-pipeline-fix sonnet-5.5",
        "nextjs-performance sol-6.1",
        "größe-日本語 sol-6.1",
        "[/bold] $(rm -rf) sonnet-5.5",
        "live-database-cutover sonnet-5.5",
    }
