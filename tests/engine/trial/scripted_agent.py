"""An agent that is a function, in the place of any other."""

from __future__ import annotations

import pytest

from engine.agents.agent import Agent, AgentEnd, AgentSession
from engine.trial import trial


class Scripted:
    """An agent that is a function."""

    name = "scripted"
    version = "1"
    log_name = "scripted.txt"

    def __init__(self, run: object, set_up: object = None) -> None:
        self._run, self._set_up = run, set_up

    async def set_up(self, session: AgentSession) -> None:
        if self._set_up is not None:
            await self._set_up(session)  # type: ignore[operator]

    async def run(self, session: AgentSession) -> AgentEnd:
        found: AgentEnd | None = await self._run(session)  # type: ignore[operator]
        return found or AgentEnd()


def use(monkeypatch: pytest.MonkeyPatch, agent: Agent) -> None:
    monkeypatch.setattr(trial, "make_agent", lambda arm: agent)
