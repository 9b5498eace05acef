"""Recorded sessions of other agents, as commands that can be run again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from engine.agents.agent import AgentConfigInvalid
from engine.agents.recording import RecordedCommand, Recording, read_recording


def recording(folder: Path, *steps: dict[str, Any], version: str = "ATIF-v1.6", **more: Any) -> Recording:
    path = folder / "trajectory.json"
    head = {"schema_version": version, "session_id": "s", "agent": {"name": "a", "version": "1", "model_name": "m"}}
    path.write_text(json.dumps({**head, "steps": list(steps), **more}))
    return read_recording(path)


def call(name: str = "bash", **arguments: Any) -> dict[str, Any]:
    return {"tool_call_id": "c", "function_name": name, "arguments": arguments}


def step(*calls: dict[str, Any], source: str = "agent", **more: Any) -> dict[str, Any]:
    return {"step_id": 1, "source": source, "message": "m", "tool_calls": list(calls), **more}


def command(folder: Path, **arguments: Any) -> RecordedCommand | None:
    (one,) = recording(folder, step(call(**arguments))).steps
    return one.commands[0] if one.commands else None


@pytest.mark.parametrize("version", [f"ATIF-v1.{minor}" for minor in range(9)])
def test_every_version_of_the_format_is_read(tmp_path: Path, version: str) -> None:
    found = recording(tmp_path, step(call(command="ls")), version=version)
    assert (found.agent, found.model) == ("a", "m")
    assert found.steps[0].commands == (RecordedCommand(command="ls"),)


def test_only_the_agents_steps_count_and_they_are_numbered_from_one(tmp_path: Path) -> None:
    found = recording(
        tmp_path,
        step(source="user"),
        step(call(command="one"), call(command="two")),
        step(source="system"),
        step(call(command="three"), message=[{"type": "text", "text": "parts"}]),
    )
    assert [(one.number, [run.command for run in one.commands]) for one in found.steps] == [
        (1, ["one", "two"]),
        (2, ["three"]),
    ]
    assert [one.message for one in found.steps] == ["m", ""]


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"command": "ls -la\n"}, "ls -la"),
        ({"keystrokes": "cd /app && make\n", "duration": 0.1}, "cd /app && make"),
        ({"cmd": "pwd"}, "pwd"),
        ({"script": "a\nb"}, "a\nb"),
        ({"command": ["bash", "-lc", "cd x && ls"]}, "cd x && ls"),
        ({"command": ["/bin/bash", "-c", "echo 'a b'"]}, "echo 'a b'"),
        ({"command": ["sh", "run.sh", "x"]}, "sh run.sh x"),
        ({"command": ["grep", "two words", "file"]}, "grep 'two words' file"),
        ({"command": ["bash"]}, "bash"),
        ({"command": "create a.txt"}, "create a.txt"),
    ],
)
def test_a_command_is_found_whatever_its_tool_calls_it(tmp_path: Path, arguments: dict[str, Any], text: str) -> None:
    found = command(tmp_path, **arguments)
    assert found is not None and found.command == text


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"command": ""},
        {"command": "  \n"},
        {"command": None},
        {"command": []},
        {"command": [1, 2]},
        {"keystrokes": "C-c"},
        {"keystrokes": "Enter\n"},
        {"command": "str_replace", "path": "/app/x", "old_str": "a", "new_str": "b"},
        {"thought": "hm"},
    ],
)
def test_a_call_that_ran_no_command_is_none(tmp_path: Path, arguments: dict[str, Any]) -> None:
    assert command(tmp_path, **arguments) is None


@pytest.mark.parametrize(
    ("arguments", "seconds"),
    [
        ({"timeout_sec": 5}, 5.0),
        ({"timeout_ms": 1500}, 1.5),
        ({"timeout": 30000}, None),
        ({"timeout_sec": 0}, None),
        ({"timeout_sec": "5"}, None),
        ({"timeout_sec": True}, None),
        ({"timeout_ms": 10**400}, None),
    ],
)
def test_a_recorded_limit_counts_where_its_unit_is_known(
    tmp_path: Path, arguments: dict[str, Any], seconds: float | None
) -> None:
    found = command(tmp_path, command="make", **arguments)
    assert found is not None and found.timeout_sec == seconds


def test_what_was_not_counted_is_unknown_and_not_zero_case_68(tmp_path: Path) -> None:
    metrics = {"prompt_tokens": 10, "cached_tokens": 4, "completion_tokens": 2, "cost_usd": 0.0}
    counted, not_counted = recording(tmp_path, step(metrics=metrics), step()).steps
    assert (counted.tokens_in, counted.tokens_cached, counted.tokens_out, counted.cost_usd) == (10, 4, 2, 0.0)
    assert (not_counted.tokens_in, not_counted.cost_usd) == (None, None)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "not an ATIF trajectory"),
        (b'{"steps": [', "not an ATIF trajectory"),
        (b"[]", "not an ATIF trajectory"),
        (b'{"agent": {}}', "steps"),
        (b'{"steps": [{"source": 7}]}', "$.steps[0].source"),
        (b'{"steps": [{"tool_calls": [{"arguments": "ls"}]}]}', "arguments"),
        (b"\xff\xfe{\x00", "not an ATIF trajectory"),
    ],
)
def test_a_broken_file_is_named_with_what_is_wrong_in_it_case_80(tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "broken.json"
    path.write_bytes(content)
    with pytest.raises(AgentConfigInvalid) as caught:
        read_recording(path)
    assert str(path) in str(caught.value) and words in str(caught.value)


def test_a_file_that_is_not_there_or_is_a_folder_is_named(tmp_path: Path) -> None:
    for path, words in ((tmp_path / "missing.json", "No such file"), (tmp_path, "Is a directory")):
        with pytest.raises(AgentConfigInvalid, match=words):
            read_recording(path)


def test_the_bundled_sessions_can_all_be_replayed() -> None:
    folder = Path(__file__).parents[3] / "sample_runs" / "sessions"
    found = [read_recording(path) for path in sorted(folder.glob("*.json"))]
    assert found
    assert all(any(one.commands for one in session.steps) for session in found)
