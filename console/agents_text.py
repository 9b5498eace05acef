"""Agents as text and as a document: what each can take, and how its arm is written."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from engine.agents.agent import AgentTraits
from engine.agents.arms import MODEL_PARAMETERS
from engine.agents.harbor.listing import HarborAgentInfo
from engine.models.resolve import DEFAULT_KEY_ENV
from engine.models.settings import Wire

SCHEMA = "trialdeck.agents/1"
TRANSPORTS = ("stdio", "streamable-http", "sse")
NONE = "—"
_SHORT = {Wire.OPENAI_CHAT: "chat", Wire.OPENAI_RESPONSES: "responses", "streamable-http": "http"}


def document(traits: Sequence[AgentTraits], harbors: Sequence[HarborAgentInfo] = ()) -> dict[str, Any]:
    found: dict[str, Any] = {"schema": SCHEMA, "agents": [_entry(one) for one in traits]}
    return found | ({"harbor_agents": harbors} if harbors else {})


def _entry(traits: AgentTraits) -> dict[str, Any]:
    return {
        "name": traits.name,
        "version": traits.version,
        "summary": traits.summary,
        "model_protocols": list(traits.wires),
        "mcp": _transports(traits),
        "skills": traits.takes_skills,
        "capsules": list(traits.capsules),
        "installs_over_network": traits.installs_over_network,
        "works_without_network": not traits.installs_over_network,
        "parameters": dict(traits.parameters),
        "model_parameters": _of_its_model(traits),
        "example": example(traits),
    }


def list_lines(traits: Sequence[AgentTraits], width: int) -> list[str]:
    """A table, an agent a line, in short words, and below it what each is. Every column is as wide as what is in it;
    it needs 80 columns."""
    head = ("agent", "version", "model speaks", "MCP", "skills")
    rows = [
        (
            one.name,
            one.version,
            " ".join(_SHORT.get(wire, wire) for wire in one.wires) or NONE,
            " ".join(_SHORT.get(name, name) for name in _transports(one)) or NONE,
            "yes" if one.takes_skills else NONE,
        )
        for one in traits
    ]
    widths = [max(len(row[column]) for row in (head, *rows)) for column in range(len(head))]
    lines = ["  ".join(cell.ljust(size) for cell, size in zip(row, widths, strict=True)) for row in (head, *rows)]
    lines.append("")
    for one in traits:
        lines += _wrapped(f"{one.name:<{widths[0]}}  ", one.summary, width)
    legend = "chat and responses are OpenAI's protocols; http is streamable-http. "
    return [*lines, "", *_wrapped("", f"{legend}`trialdeck agents NAME` lists an agent's parameters.", width)]


def agent_lines(traits: AgentTraits, width: int) -> list[str]:
    lines = [f"{traits.name} {traits.version}", *_wrapped("  ", traits.summary, width), *_facts(traits, width)]
    lines += ["", "parameters" if traits.parameters else "no parameters of its own"]
    lines += _named(traits.parameters, width)
    if traits.calls_model:
        lines += ["", "parameters of its model", *_named(_of_its_model(traits), width)]
    return [*lines, "", f"  trialdeck run TASKS --agent '{example(traits)}'"]


def _of_its_model(traits: AgentTraits) -> dict[str, str]:
    """What every agent takes, said for the protocols that this one speaks."""
    if not traits.calls_model:
        return {}
    first = " (the first, if not given)" if len(traits.wires) > 1 else " alone"
    keys = " or ".join(dict.fromkeys(DEFAULT_KEY_ENV[wire] for wire in traits.wires))
    return MODEL_PARAMETERS | {
        "protocol": f"what the server speaks: {', '.join(traits.wires)}{first}",
        "key_env": f"the variable that holds the key ({keys}, if not given)",
    }


def harbor_lines(harbors: Sequence[HarborAgentInfo], width: int) -> list[str]:
    """Harbor's own agents, two lines each where it is narrow."""
    size = max(len(one.name) for one in harbors)
    lines = ["", f"Harbor's agents ({len(harbors)}), written as harbor:agent=NAME", ""]
    for one in harbors:
        facts = [
            "in main" if one.in_main else "on this host",
            *(["MCP"] if one.mcp else []),
            *(["skills"] if one.skills else []),
            *(["steps live"] if one.live else ["steps at the end"] if one.atif else []),
            *([", ".join(one.wires)] if one.wires else []),
            *([f"can't be loaded: {one.problem}"] if one.problem else []),
        ]
        lines += _wrapped(f"  {one.name:<{size}}  ", " · ".join(facts), width)
    return lines


def _facts(traits: AgentTraits, width: int) -> list[str]:
    facts = {
        "model": ", ".join(traits.wires) or "calls none",
        "MCP": ", ".join(_transports(traits)) or "none",
        "skills": "yes" if traits.takes_skills else "no",
        "brought in": _brought_in(traits),
    }
    return [line for name, text in facts.items() for line in _wrapped(f"  {name:<12}", text, width)]


def _named(parameters: Mapping[str, str], width: int) -> list[str]:
    size = max((len(name) for name in parameters), default=0)
    return [line for name, text in parameters.items() for line in _wrapped(f"  {name:<{size}}  ", text, width)]


def _wrapped(start: str, text: str, width: int) -> list[str]:
    return textwrap.wrap(
        text, max(width, len(start) + 20), initial_indent=start, subsequent_indent=" " * len(start)
    ) or [start]


def _transports(traits: AgentTraits) -> list[str]:
    return [*(name for name in TRANSPORTS if name in traits.mcp), *sorted(traits.mcp - {*TRANSPORTS})]


def _brought_in(traits: AgentTraits) -> str:
    """How the agent gets to its task."""
    named = " and ".join(traits.capsules)
    ways = [f"capsule{'s' * (len(traits.capsules) > 1)} {named}"] if named else []
    if traits.installs_over_network:
        ways.append("installed over the network")
    return " or ".join(ways) or "nothing to bring in"


def example(traits: AgentTraits) -> str:
    """An arm as a person would write it, with the parameters that it can't do without."""
    needed = {"command": "run=my-agent", "replay": "sessions=FOLDER", "restore": "trial=FOLDER", "harbor": "agent=NAME"}
    parts = [needed[traits.name]] if traits.name in needed else []
    if traits.calls_model:
        parts.append("model=MODEL")
    return f"{traits.name}:{','.join(parts)}" if parts else traits.name
