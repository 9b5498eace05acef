"""How a file of the agent's folder is called in evidence."""

from __future__ import annotations

from engine.agents.agent import AgentSession


def name_in_trial(session: AgentSession, name: str) -> str:
    """From the trial's folder."""
    return f"steps/{session.step}/agent/{name}" if session.step else f"agent/{name}"
