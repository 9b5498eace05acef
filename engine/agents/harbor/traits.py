"""What Harbor's agents can take: in general, and the one that an arm names."""

from __future__ import annotations

from engine.agents.agent import Agent, AgentTraits
from engine.agents.harbor.presence import WAY_OUT, harbor_version, load, require_harbor
from engine.events import ArmInfo
from engine.models.settings import Wire

TRAITS = AgentTraits(
    name="harbor",
    version=harbor_version() or "not installed",
    summary=f"any of Harbor's agents by its name, which reaches its model by itself ({WAY_OUT})",
    wires=tuple(Wire),
    mcp=frozenset({"stdio", "streamable-http", "sse"}),
    takes_skills=True,
    installs_over_network=True,
    parameters={
        "agent": "which of Harbor's agents, by its name (claude-code, terminus-2, …)",
        "import_path": "or a class of your own, module:Class",
        "kwargs.*": "an option of that agent, as Harbor's --agent-kwarg; a whole value may be ${VAR}",
        "gateway": "yes: a program in main calls its model through the engine, which alone holds the key, counts every "
        "call and tells every failure; no (if not given): as Harbor has it, with the key in main",
        "env.*": "a variable for that agent, as Harbor's --agent-env; a whole value may be ${VAR}",
    },
)


def traits_for(arm: ArmInfo) -> AgentTraits:
    """Raises AgentMissing where Harbor isn't here, AgentUnavailable where the arm's key isn't, and AgentConfigInvalid
    where the arm can't run as it is written."""
    require_harbor(f"arm {arm.name}")
    found: AgentTraits = load("engine.agents.harbor.arm").traits_for(arm)
    return found


def make(arm: ArmInfo) -> Agent:
    """Raises as `traits_for` does."""
    require_harbor(f"arm {arm.name}")
    made: Agent = load("engine.agents.harbor.agent").HarborAgent(arm)
    return made
