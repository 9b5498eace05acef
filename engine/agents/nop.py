"""`nop`: does nothing, so that a task which passes without work shows itself."""

from __future__ import annotations

from engine.agents.agent import AgentEnd, AgentSession


class NopAgent:
    name = "nop"
    version = "1"
    log_name = "nop.txt"

    async def set_up(self, session: AgentSession) -> None:
        return None

    async def run(self, session: AgentSession) -> AgentEnd:
        return AgentEnd(note="did nothing")
