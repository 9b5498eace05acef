"""Harbor's agents as a list, for whoever asks what there is."""

from __future__ import annotations

import msgspec

from engine.agents.harbor.presence import load, require_harbor
from engine.models.settings import Wire


class HarborOption(msgspec.Struct, frozen=True, kw_only=True):
    """Written in an arm as `kwargs.<name>=…`."""

    name: str
    summary: str = ""


class HarborAgentInfo(msgspec.Struct, frozen=True, kw_only=True):
    """`in_main`: a program installed in `main` over the network; else it works from this host. `wires` are the model
    protocols that can be chosen with `protocol=`. `mcp_headers`: it passes on headers of MCP servers. `live`: its steps
    can be seen while it works, and not only at its end. `problem`: why it can't be loaded."""

    name: str
    in_main: bool = False
    mcp: bool = False
    mcp_headers: bool = False
    skills: bool = False
    atif: bool = False
    live: bool = False
    base_url: bool = False
    effort: bool = False
    calls_model: bool = False
    wires: tuple[Wire, ...] = ()
    options: tuple[HarborOption, ...] = ()
    problem: str = ""


def harbor_agents() -> list[HarborAgentInfo]:
    """Harbor's own agents and what each can take. Takes seconds. Raises AgentConfigInvalid where Harbor isn't here."""
    require_harbor("harbor")
    found: list[HarborAgentInfo] = load("engine.agents.harbor.catalogue").listed()
    return found
