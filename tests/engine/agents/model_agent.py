"""An agent of the tests that works with a model, registered for as long as a test lasts."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from engine.agents.agent import Agent, AgentEnd, AgentSession, AgentTraits
from engine.agents.registry import AGENTS, Entry
from engine.events import ArmInfo
from engine.models.settings import Wire

NAME = "tester"
Does = Callable[[AgentSession], Awaitable[AgentEnd | None]]


class ModelAgent:
    """Does in `run` what the test says."""

    name = NAME
    version = "3"
    log_name = "tester.txt"

    def __init__(self, does: Does | None, prepares: Does | None) -> None:
        self._does = does
        self._prepares = prepares

    async def set_up(self, session: AgentSession) -> None:
        if self._prepares is not None:
            await self._prepares(session)

    async def run(self, session: AgentSession) -> AgentEnd:
        await session.execute(["true"])
        end = await self._does(session) if self._does is not None else None
        return end or AgentEnd(exit_code=0)


def register(
    monkeypatch: pytest.MonkeyPatch, does: Does | None = None, *, prepares: Does | None = None, **traits: Any
) -> AgentTraits:
    """From here on there is an agent NAME. It speaks all three protocols unless `traits` say otherwise."""
    given: dict[str, Any] = {"name": NAME, "version": "3", "summary": "does what a test says", "wires": tuple(Wire)}
    made = AgentTraits(**{**given, **traits})

    def make(arm: ArmInfo) -> Agent:
        return ModelAgent(does, prepares)

    monkeypatch.setitem(AGENTS, made.name, Entry(made, make))
    return made
