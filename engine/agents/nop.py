"""`nop`: does nothing, so that a task which passes without work shows itself."""

from __future__ import annotations

from engine.agents.agent import AgentEnd, AgentSession, AgentTraits

TRAITS = AgentTraits(
    name="nop", version="1", summary="does nothing, so that a task which passes without work shows", costs_nothing=True
)


class NopAgent:
    name = "nop"
    version = "1"
    log_name = "nop.txt"

    async def set_up(self, session: AgentSession) -> None:
        return None

    async def run(self, session: AgentSession) -> AgentEnd:
        return AgentEnd(note="did nothing")
