"""How an arm is written, and what is wrong with one that can't run."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.agents.agent import AgentConfigInvalid, AgentTraits
from engine.agents.arms import arm_name, name_arms, parse_arm, takes
from engine.agents.registry import AGENTS, make_agent
from engine.events import ArmInfo
from tests.engine.tasks.task_folders import UNTIMED


def written(value: str) -> str:
    return value.replace("\\", "\\\\").replace(",", "\\,")


def refusal(text: str) -> str:
    with pytest.raises(AgentConfigInvalid) as caught:
        parse_arm(text)
    return str(caught.value)


@UNTIMED
@given(st.text(min_size=1).filter(lambda text: text.strip() != ""))
def test_any_value_comes_back_as_it_was_meant(value: str) -> None:
    assert parse_arm(f"command:run={written(value)}").parameters == {"run": value}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("command:run=echo a\\,b", "echo a,b"),
        ("command:run=printf '\\\\n'", "printf '\\n'"),
        ("command:run=a=b:c=d", "a=b:c=d"),
        ("command:run=two\nlines\n", "two\nlines\n"),
        ("command:run=echo \\$x", "echo \\$x"),
        ("command:run=printf '%s\\n' a\\,b", "printf '%s\\n' a,b"),
    ],
)
def test_commas_backslashes_and_lines_in_a_value(text: str, value: str) -> None:
    assert parse_arm(text).parameters["run"] == value


def test_an_arm_without_parameters_is_only_a_name() -> None:
    assert parse_arm("oracle") == parse_arm("oracle:")
    assert parse_arm("nop", "idle") == ArmInfo(name="idle", agent="nop", agent_version="1")


def test_several_parameters_stand_in_any_order(tmp_path: Path) -> None:
    (tmp_path / "a,b").mkdir()
    arm = parse_arm(f"replay:sessions={written(str(tmp_path / 'a,b'))},")
    assert arm.parameters == {"sessions": str(tmp_path / "a,b")}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("orakel", ["unknown agent", "orakel", "oracle"]),
        ("", ["unknown agent"]),
        ("oracle:fast=1", ["unknown parameter fast", "takes no parameters"]),
        ("command:walk=x", ["unknown parameter walk", "takes run"]),
        ("command:run=a,run=b", ["parameter run is given twice"]),
        ("command:run=a,b", ['expected key=value at "b"', "\\,"]),
        ("command:run=a\\", ["expected key=value"]),
        ("command:run", ["expected key=value"]),
        ("command", ["needs the parameter run"]),
        ("command:run=", ["needs the parameter run"]),
        ("command:run= \n ", ["needs the parameter run"]),
        ("replay", ["sessions", "run"]),
        ("replay:sessions=/not/there", ["/not/there", "no such file or folder"]),
        ("restore", ["needs the parameter trial"]),
        ("restore:trial=/not/there", ["/not/there", "no such folder"]),
    ],
)
def test_an_arm_that_cant_run_says_why(text: str, words: list[str]) -> None:
    message = refusal(text)
    for word in words:
        assert word in message


@pytest.mark.parametrize("text", ["headers.x-api-key=0123456789abcdef", "sk-0123456789abcdef0123456789"])
def test_what_may_be_a_key_is_not_said_again(text: str) -> None:
    message = refusal(f"command:{text}")
    assert "expected key=value" in message and "0123456789abcdef" not in message


def test_a_folder_without_trials_is_no_run_to_replay(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert "no run folder" in refusal(f"replay:run={tmp_path}")
    assert "no run folder" in refusal(f"replay:run={tmp_path / 'file'}")


def test_both_ways_to_replay_at_once_are_refused(tmp_path: Path) -> None:
    assert "one of the parameters" in refusal(f"replay:sessions={tmp_path},run={tmp_path}")


def test_every_agent_that_can_be_named_can_be_made(tmp_path: Path) -> None:
    needed = {"command": {"run": "true"}, "replay": {"sessions": str(tmp_path)}, "restore": {"trial": str(tmp_path)}}
    for agent in set(AGENTS) - {"harbor"}:  # is made where Harbor is, and has tests of its own
        made = make_agent(ArmInfo(name="x", agent=agent, parameters=needed.get(agent, {})))
        assert made.name == agent and made.version and made.log_name.endswith(".txt")


def test_arms_of_one_agent_are_numbered() -> None:
    arms = name_arms(["nop", "oracle", "nop", "nop"], [])
    assert [arm.name for arm in arms] == ["nop", "oracle", "nop-2", "nop-3"]


def test_given_names_are_taken_in_order_and_must_differ() -> None:
    assert [arm.name for arm in name_arms(["nop", "nop"], ["x", "y"])] == ["x", "y"]
    with pytest.raises(AgentConfigInvalid, match='two arms are named "x"'):
        name_arms(["nop", "oracle"], ["x", "x"])
    with pytest.raises(AgentConfigInvalid, match="2 --agent but 1 --arm-name"):
        name_arms(["nop", "oracle"], ["x"])


@pytest.mark.parametrize("name", ["with space", "a/b", "", "x" * 65, "new\nline", "\x1b[31m"])
def test_a_name_that_no_folder_should_have_is_refused(name: str) -> None:
    with pytest.raises(AgentConfigInvalid, match="letters, digits"):
        name_arms(["nop"], [name or " "])


def test_a_group_of_parameters_takes_any_name_of_it() -> None:
    traits = AgentTraits(name="x", version="1", summary="", parameters={"agent": "which", "kwargs.*": "passed on"})
    assert takes(traits, "agent") and takes(traits, "kwargs.max_turns")
    assert not takes(traits, "kwargs") and not takes(traits, "kwargs.") and not takes(traits, "env.X")


def test_an_arm_of_an_agent_that_can_be_many_is_called_after_the_one_it_is() -> None:
    assert arm_name("harbor", {"agent": "terminus-2"}) == "harbor-terminus-2"
    assert arm_name("harbor", {"agent": "acp:a/b"}) == "harbor-acp-a-b"
    assert arm_name("harbor", {"import_path": "my.agents:Mine"}) == "harbor-Mine"
    assert arm_name("nop", {}) == "nop"


@pytest.mark.parametrize(
    ("text", "version"),
    [("claude_code:version=2.1.5", "2.1.5"), ("codex:version=0.100.0", "0.100.0"), ("oracle", "1")],
)
def test_an_arm_has_the_version_that_it_asks_for(text: str, version: str) -> None:
    assert parse_arm(text).agent_version == version
