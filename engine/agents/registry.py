"""The agents there are, and how an arm is written: `NAME[:key=value,…]`."""

from __future__ import annotations

import re

from engine.agents.agent import Agent, AgentConfigInvalid
from engine.agents.command import CommandAgent
from engine.agents.nop import NopAgent
from engine.agents.oracle import OracleAgent
from engine.agents.replay import ReplayAgent
from engine.events import ArmInfo

PARAMETERS: dict[str, frozenset[str]] = {
    "oracle": frozenset(),
    "nop": frozenset(),
    "command": frozenset({"run"}),
    "replay": frozenset({"sessions", "run", "trial"}),
}
"""The parameters that each agent takes."""

CALL_NO_MODEL = frozenset({"oracle", "nop"})
"""Agents whose trials are known to cost nothing. What any other one spends is unknown until it says so."""

_PAIR = re.compile(r"([a-z_]+)=((?:[^,\\]|\\.)*)(?:,|$)", re.DOTALL)


def parse_arm(text: str, name: str | None = None) -> ArmInfo:
    """`replay:sessions=recorded` -> an arm. A comma in a value is written `\\,`, and a backslash may be written `\\\\`;
    before any other letter it stands for itself.

    Raises AgentConfigInvalid for an unknown agent, an unknown key or a part that is no `key=value`.
    """
    agent, colon, rest = text.partition(":")
    if agent not in PARAMETERS:
        raise AgentConfigInvalid(f'unknown agent "{agent}": there are {", ".join(sorted(PARAMETERS))}')
    parameters: dict[str, str] = {}
    position = 0
    while colon and position < len(rest):
        found = _PAIR.match(rest, position)
        if found is None:
            raise AgentConfigInvalid(
                f'agent "{text}": expected key=value at "{rest[position:]}" (a comma inside a value is written \\,)'
            )
        key, value = found.group(1), re.sub(r"\\([,\\])", r"\1", found.group(2))
        if key not in PARAMETERS[agent]:
            known = ", ".join(sorted(PARAMETERS[agent])) or "no parameters"
            raise AgentConfigInvalid(f'agent "{text}": unknown parameter {key}; {agent} takes {known}')
        if key in parameters:
            raise AgentConfigInvalid(f'agent "{text}": parameter {key} is given twice')
        parameters[key] = value
        position = found.end()
    arm = ArmInfo(name=name or agent, agent=agent, agent_version="1", parameters=parameters)
    make_agent(arm)
    return arm


def make_agent(arm: ArmInfo) -> Agent:
    """A fresh agent for one trial. Raises AgentConfigInvalid where the arm's parameters can't work."""
    match arm.agent:
        case "oracle":
            return OracleAgent()
        case "nop":
            return NopAgent()
        case "command":
            return CommandAgent(arm)
        case "replay":
            return ReplayAgent(arm)
        case other:
            raise AgentConfigInvalid(f'arm {arm.name}: unknown agent "{other}"')


def name_arms(specs: list[str], names: list[str]) -> list[ArmInfo]:
    """Arms with names: given ones in order, else the agent's name, numbered where it would repeat."""
    if names and len(names) != len(specs):
        raise AgentConfigInvalid(f"{len(specs)} --agent but {len(names)} --arm-name: give one name for each, or none")
    arms: list[ArmInfo] = []
    for index, spec in enumerate(specs):
        arm = parse_arm(spec, names[index] if names else None)
        taken = {other.name for other in arms}
        if arm.name in taken:
            if names:
                raise AgentConfigInvalid(f'two arms are named "{arm.name}": names must differ')
            number = next(n for n in range(2, len(specs) + 2) if f"{arm.name}-{n}" not in taken)
            arm = parse_arm(spec, f"{arm.name}-{number}")
        check_arm_name(arm.name)
        arms.append(arm)
    return arms


def check_arm_name(name: str) -> None:
    """Raises AgentConfigInvalid."""
    if not re.fullmatch(r"[\w.@+-]{1,64}", name):
        raise AgentConfigInvalid(f'arm name "{name}": letters, digits and . _ - + @ only, at most 64')
