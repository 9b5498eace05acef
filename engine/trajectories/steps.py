"""A session of an agent as steps: thought, calls, observations, tokens, cost, time. None means unknown, not zero.

All text is as the agent wrote it, hostile; screens clean it when they show it.
"""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import msgspec


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """A tool that the agent called. `text`: the command where it is one, else the arguments as JSON."""

    tool: str
    text: str
    id: str = ""


class Observation(msgspec.Struct, frozen=True, kw_only=True):
    """What came back. `call` is the id of its call, "" where the format doesn't say."""

    text: str
    call: str = ""
    failed: bool = False
    exit_code: int | None = None


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """`number` counts from 1 as the file numbers them, or by position. `source`: agent, user, system. `line` is where
    the step begins in a file of lines (0: not a file of lines). Tokens: `tokens_in` includes `tokens_cached`."""

    number: int
    source: str
    at: datetime | None = None
    thought: str = ""
    message: str = ""
    calls: tuple[Call, ...] = ()
    observations: tuple[Observation, ...] = ()
    model: str = ""
    tokens_in: int | None = None
    tokens_cached: int | None = None
    tokens_out: int | None = None
    cost_usd: float | None = None
    seconds: float | None = None
    line: int = 0


class Trajectory(msgspec.Struct, frozen=True, kw_only=True):
    """`format`: atif, claude-code, codex, terminus, mini-swe-agent. `problems` say what could not be read. `ended`:
    the agent's own word for how it ended ("", submitted, LimitsExceeded, error_max_turns, …). `errors` are errors that
    the session itself records (an API error event, a refusal), as the file words them, with the step's number.
    `partial`: tokens are the sum of what steps tell, and some of the agent's steps tell none; `cost_partial` likewise.
    """

    path: Path
    format: str
    agent: str = ""
    agent_version: str = ""
    model: str = ""
    steps: tuple[Step, ...] = ()
    ended: str = ""
    errors: tuple[tuple[int, str], ...] = ()
    problems: tuple[str, ...] = ()
    tokens_in: int | None = None
    tokens_cached: int | None = None
    tokens_out: int | None = None
    cost_usd: float | None = None
    partial: bool = False
    cost_partial: bool = False
