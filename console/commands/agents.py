"""`trialdeck agents`: who can be sent to a task, and what each can take."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Annotated

import typer

from console.agents_text import agent_lines, document, harbor_lines, list_lines
from console.errors import Unusable
from console.out import Out
from engine.agents.agent import AgentConfigInvalid
from engine.agents.harbor.listing import HarborAgentInfo, harbor_agents


def agents(
    name: Annotated[str, typer.Argument(help="One agent; else all of them.", metavar="NAME")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="A JSON document.")] = False,
) -> None:
    """List the agents: model protocols, MCP transports and skills that each takes, how it is brought in, parameters."""
    from engine.agents.registry import AGENTS

    if name and name not in AGENTS:
        near = get_close_matches(name, AGENTS, 1)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise Unusable(f'there is no agent "{name}": there are {", ".join(sorted(AGENTS))}{hint}')
    traits = [AGENTS[name].traits] if name else [entry.traits for _, entry in sorted(AGENTS.items())]
    out = Out()
    harbors, without = _harbors() if name == "harbor" else ([], "")
    if as_json:
        import msgspec

        out.json(msgspec.json.format(msgspec.json.encode(document(traits, harbors))))
    elif name:
        out.lines(agent_lines(traits[0], out.width))
        out.lines(harbor_lines(harbors, out.width) if harbors else [without] if without else [])
    else:
        out.lines(list_lines(traits, out.width))


def _harbors() -> tuple[list[HarborAgentInfo], str]:
    """Harbor's own agents, or why they can't be listed."""
    try:
        return harbor_agents(), ""
    except AgentConfigInvalid as error:
        return [], f"Which agents Harbor has can't be listed: {error}"
