"""The `/` filter, with no terminal."""

from __future__ import annotations

import pytest

from engine.state import RunState
from engine.triage.causes import Cause
from engine.triage.proposal import Proposal
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


def test_or_joins_what_stands_on_both_its_sides(state: RunState) -> None:
    assert shown(state, "state:passed or state:unscored") == shown(state, "state:passed,unscored")
    assert shown(state, "arm:a state:passed or arm:b state:queued") == (
        shown(state, "arm:a state:passed") | shown(state, "arm:b state:queued")
    )
    assert shown(state, "arm:b (state:passed or state:failed)") == (
        shown(state, "arm:b state:passed") | shown(state, "arm:b state:failed")
    )
    assert shown(state, "arm:a and not state:passed") == shown(state, "arm:a !state:passed")
    assert shown(state, "!(arm:a or state:queued)") == shown(state, "arm:b !state:queued")


def test_a_bracket_in_a_word_is_a_letter(state: RunState) -> None:
    assert (
        shown(state, "$(rm")
        == shown(state, "(task:$(rm )")
        == {"[/bold] $(rm -rf) sonnet-5.5", "[/bold] $(rm -rf) sol-6.1"}
    )
    assert shown(state, '"(rm -rf)"') == shown(state, "$(rm")


def test_regular_expressions_of_a_field_and_of_all_text(state: RunState) -> None:
    assert shown(state, "task:re:^h(eat|ello)") == shown(state, "re:^h(eat|ello)") == shown(state, "/^h(eat|ello)/")
    assert len(shown(state, "task:re:^h(eat|ello)")) == 4


def test_none_is_what_has_no_value(state: RunState) -> None:
    assert shown(state, "reward:none") | shown(state, "reward:>=0") == shown(state, "")
    assert not shown(state, "reward:none reward:>=0")
    assert shown(state, "category:none") == shown(state, "")


def test_tokens_are_counted_in_thousands_and_bytes_in_powers_of_two(state: RunState) -> None:
    assert shown(state, "tokens:=1.5k") == shown(state, "tokens:1500") != set()
    assert shown(state, "mem:>1G") != set()


class Decided:
    """One trial is decided; of the others the rules say infrastructure."""

    def cause(self, trial: str) -> Cause | None:
        return Cause.MODEL if trial == fake_run.trial_id(4, "sonnet-5.5", 1) else None

    def decided(self, trial: str) -> bool:
        return self.cause(trial) is not None

    def proposal(self, trial: str) -> Proposal | None:
        return Proposal(cause=Cause.INFRASTRUCTURE)


def test_causes_decided_and_proposed(state: RunState) -> None:
    def having(text: str) -> list[str]:
        looking = Looking({}, fake_run.at(1500), frozenset(), Decided())
        return [trial.state for trial in state.trials.values() if parse(text)(trial, looking)]

    assert having("cause:model") == ["failed"]
    assert having("cause:infrastructure?") == having("cause:infra") and having("cause:model?") == []
    assert set(having("cause:infra")) == {"failed", "unscored"}, "only what failed is asked a cause"
    assert having("decided:yes") == ["failed"] and len(having("decided:no")) == 23
    assert len(having("cause:none")) == 24 - 1 - len(having("cause:infra"))


def test_marked_is_asked_for(state: RunState) -> None:
    looking = Looking({}, fake_run.at(1500), {fake_run.trial_id(0, "sol-6.1", 1)})
    assert [trial.trial for trial in state.trials.values() if parse("marked:yes")(trial, looking)] == list(
        looking.marked
    )


@pytest.mark.parametrize("text", ["marked:maybe", "decided:perhaps", "(" * 30 + "a", "task:re:(", "re:["])
def test_more_that_is_wrong_is_said(text: str) -> None:
    with pytest.raises(FilterError):
        parse(text)


def test_only_fields_that_grow_make_a_filter_change_with_time() -> None:
    assert parse("time:>10m").changes_with_time and not parse("state:failed heat").changes_with_time


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


@pytest.mark.parametrize("text", ["state:faled", "phase:verfy", "cause:infrastucture", "state:failed,pased"])
def test_a_word_that_a_field_never_holds_is_told_with_those_it_holds(text: str) -> None:
    """An empty list would look like good news."""
    with pytest.raises(FilterError, match="is none of"):
        parse(text)


@pytest.mark.parametrize(
    "text",
    [
        "state:fail",
        "state:agent",
        "state:timeout",
        "phase:ver",
        "cause:infra",
        "cause:model?",
        "cause:no",
        "cause:none",
    ],
)
def test_a_part_of_such_a_word_is_enough(text: str) -> None:
    assert parse(text).fields
