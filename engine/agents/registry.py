"""The agents there are: what each can take, and how one is made."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from engine.agents import claude_code, command, nop, oracle, replay, restore
from engine.agents.agent import Agent, AgentConfigInvalid, AgentTraits
from engine.agents.codex import agent as codex
from engine.agents.codex import arm as codex_arm
from engine.agents.harbor import traits as harbor
from engine.agents.mini_swe_agent import agent as mini_swe_agent
from engine.agents.mini_swe_agent import arm as mini_swe_agent_arm
from engine.agents.terminus2 import agent as terminus2
from engine.events import ArmInfo


class Entry(msgspec.Struct, frozen=True):
    """`make` gives a fresh agent, and raises AgentConfigInvalid where the arm's parameters can't work. `traits_of` is
    for an agent that can be many: what one arm's can take, and may raise the same."""

    traits: AgentTraits
    make: Callable[[ArmInfo], Agent]
    traits_of: Callable[[ArmInfo], AgentTraits] | None = None


AGENTS: dict[str, Entry] = {
    entry.traits.name: entry
    for entry in (
        Entry(oracle.TRAITS, lambda arm: oracle.OracleAgent()),
        Entry(nop.TRAITS, lambda arm: nop.NopAgent()),
        Entry(command.TRAITS, command.CommandAgent),
        Entry(replay.TRAITS, replay.ReplayAgent),
        Entry(restore.TRAITS, restore.RestoreAgent),
        Entry(terminus2.TRAITS, terminus2.Terminus2Agent),
        Entry(claude_code.TRAITS, claude_code.ClaudeCodeAgent, claude_code.traits_of),
        Entry(codex_arm.TRAITS, codex.CodexAgent, codex_arm.traits_for),
        Entry(mini_swe_agent_arm.TRAITS, mini_swe_agent.MiniSweAgent, mini_swe_agent_arm.traits_for),
        Entry(harbor.TRAITS, harbor.make, harbor.traits_for),
    )
}


def traits_of(arm: ArmInfo) -> AgentTraits:
    """Raises AgentConfigInvalid for an agent that isn't there."""
    entry = _entry(arm)
    return entry.traits if entry.traits_of is None else entry.traits_of(arm)


def make_agent(arm: ArmInfo) -> Agent:
    """A fresh agent for one stage of a trial. Raises AgentConfigInvalid where the arm's parameters can't work."""
    return _entry(arm).make(arm)


def _entry(arm: ArmInfo) -> Entry:
    if arm.agent not in AGENTS:
        raise AgentConfigInvalid(
            f'arm {arm.name}: unknown agent "{arm.agent}": there are {", ".join(sorted(AGENTS))} '
            "(`trialdeck agents` tells of each)"
        )
    return AGENTS[arm.agent]
