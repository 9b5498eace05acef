"""How far the agent may go: turns, tokens, money, time."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

import msgspec

from engine.agents.agent import AgentConfigInvalid
from engine.models.conversation import Reply

PARAMETERS = {
    "max_turns": "how often the model may be asked for its next move (no limit, if not given)",
    "max_tokens": "how many tokens all calls together may read and write (no limit, if not given)",
    "max_cost": "how many USD all calls together may cost (no limit, if not given)",
    "max_seconds": "how long the agent may work, if the task gives it longer (the task's limit, if not given)",
}


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """None: no limit."""

    max_turns: int | None = None
    max_tokens: int | None = None
    max_cost: float | None = None
    max_seconds: float | None = None


def limits_of(parameters: Mapping[str, str], what: str) -> Limits:
    """Raises AgentConfigInvalid, which begins with `what`."""
    return Limits(
        max_turns=_whole(parameters, "max_turns", what),
        max_tokens=_whole(parameters, "max_tokens", what),
        max_cost=_amount(parameters, "max_cost", what),
        max_seconds=_amount(parameters, "max_seconds", what),
    )


class Meter:
    """What was used so far. What a call doesn't say is counted by its length for tokens, and is unknown for money."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.turns = 0
        self.tokens = 0
        self.cost_usd = 0.0
        self.calls = 0
        self.calls_without_cost = 0

    def add(self, reply: Reply, estimated_in: int, estimated_out: int) -> None:
        usage = reply.usage
        self.calls += 1
        self.tokens += usage.tokens_in if usage.tokens_in is not None else estimated_in
        self.tokens += usage.tokens_out if usage.tokens_out is not None else estimated_out
        if reply.cost_usd is None:
            self.calls_without_cost += 1
        else:
            self.cost_usd += reply.cost_usd

    def reached(self) -> str:
        """Which limit forbids another call, in words; "" where none does."""
        limits = self.limits
        if limits.max_turns is not None and self.turns >= limits.max_turns:
            return f"max_turns={limits.max_turns}: the model was asked {self.turns} times"
        if limits.max_tokens is not None and self.tokens >= limits.max_tokens:
            return f"max_tokens={limits.max_tokens}: {self.tokens} tokens were used"
        if limits.max_cost is not None and self.cost_usd >= limits.max_cost:
            return f"max_cost={limits.max_cost:g}: ${self.cost_usd:.4f} was spent"
        return ""


def _whole(parameters: Mapping[str, str], key: str, what: str) -> int | None:
    if (text := parameters.get(key)) is None:
        return None
    if not re.fullmatch(r"[1-9][0-9]{0,11}", text, re.ASCII):
        raise AgentConfigInvalid(f"{what}: {key} is {text}, expected a whole number above 0")
    return int(text)


def _amount(parameters: Mapping[str, str], key: str, what: str) -> float | None:
    if (text := parameters.get(key)) is None:
        return None
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf:
        raise AgentConfigInvalid(f"{what}: {key} is {text}, expected a number above 0")
    return value
