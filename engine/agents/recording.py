"""Recorded sessions: the commands and the costs in an ATIF trajectory."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec

from engine.agents.agent import AgentConfigInvalid
from engine.json_numbers import Count, finite
from engine.trajectories.calls import COMMAND_KEYS, of_words


class RecordedCommand(msgspec.Struct, frozen=True, kw_only=True):
    """One command as it was given to a shell, with how long the recorded agent gave it (None: no limit)."""

    command: str
    timeout_sec: float | None = None


class RecordedStep(msgspec.Struct, frozen=True, kw_only=True):
    """One step of the recorded agent: what it said, what it ran, what it spent (None: not recorded)."""

    number: int
    message: str = ""
    commands: tuple[RecordedCommand, ...] = ()
    tokens_in: int | None = None
    tokens_cached: int | None = None
    tokens_out: int | None = None
    cost_usd: float | None = None


class Recording(msgspec.Struct, frozen=True, kw_only=True):
    path: Path
    agent: str = ""
    model: str = ""
    steps: tuple[RecordedStep, ...] = ()


class _Metrics(msgspec.Struct):
    prompt_tokens: Count | None = None
    cached_tokens: Count | None = None
    completion_tokens: Count | None = None
    cost_usd: float | None = None


class _Call(msgspec.Struct):
    arguments: dict[str, Any] | None = None


class _Step(msgspec.Struct):
    source: str = ""
    message: Any = ""
    tool_calls: list[_Call] | None = None
    metrics: _Metrics | None = None


class _Agent(msgspec.Struct):
    name: str = ""
    model_name: str | None = None


class _Trajectory(msgspec.Struct):
    steps: list[_Step]
    agent: _Agent = msgspec.field(default_factory=_Agent)


_EDITS = frozenset(
    {"view", "create", "str_replace", "insert", "undo_edit"}
)  # words of file editing tools, beside a path
_KEY = re.compile(r"(?:[CM]-\S|Enter|Escape|Tab|Space|BSpace|Up|Down|Left|Right|F\d+)")  # as tmux calls keys


def read_recording(path: Path) -> Recording:
    """Read an ATIF trajectory (1.0 to 1.8). Raises AgentConfigInvalid, which names the file and what is wrong in it."""
    try:
        found = msgspec.json.decode(path.read_bytes(), type=_Trajectory)
    except OSError as error:
        raise AgentConfigInvalid(f"recorded session {path}: {error.strerror or error}") from None
    except msgspec.DecodeError as error:
        raise AgentConfigInvalid(f"recorded session {path}: not an ATIF trajectory: {error}") from None
    steps = tuple(
        RecordedStep(
            number=number,
            message=step.message if isinstance(step.message, str) else "",
            commands=tuple(command for call in step.tool_calls or () if (command := _command(call)) is not None),
            tokens_in=step.metrics.prompt_tokens if step.metrics else None,
            tokens_cached=step.metrics.cached_tokens if step.metrics else None,
            tokens_out=step.metrics.completion_tokens if step.metrics else None,
            cost_usd=step.metrics.cost_usd if step.metrics else None,
        )
        for number, step in enumerate((step for step in found.steps if step.source == "agent"), 1)
    )
    return Recording(path=path, agent=found.agent.name, model=found.agent.model_name or "", steps=steps)


def _command(call: _Call) -> RecordedCommand | None:
    """The shell command of a tool call, whatever the recorded agent called it; None for calls that ran no command, such
    as an edit by a tool, or keys pressed in a terminal."""
    arguments = call.arguments or {}
    for key in COMMAND_KEYS:
        value = arguments.get(key)
        if isinstance(value, list) and value and all(isinstance(word, str) for word in value):
            value = of_words(value)
        if isinstance(value, str) and value.strip():
            if (value in _EDITS and "path" in arguments) or _KEY.fullmatch(value.strip()):
                return None
            return RecordedCommand(command=value.rstrip("\n"), timeout_sec=_timeout(arguments))
    return None


def _timeout(arguments: dict[str, Any]) -> float | None:
    """Only where the name says the unit."""
    for key, unit in (("timeout_sec", 1.0), ("timeout_ms", 0.001)):
        value = finite(arguments.get(key))
        if value is not None and value > 0:
            return value * unit
    return None
