"""Harbor's agents as a list: what each can take, by Harbor's own word. Needs Harbor."""

from __future__ import annotations

from typing import Any

from harbor.agents.factory import AgentFactory
from harbor.agents.installed.base import BaseInstalledAgent
from harbor.models.agent.name import AgentName

from engine.agents.harbor.arm import FREE
from engine.agents.harbor.listing import HarborAgentInfo, HarborOption
from engine.agents.harbor.options import FORMATS
from engine.agents.harbor.presence import quietly


def listed() -> list[HarborAgentInfo]:
    """In the order of their names."""
    return [_one(name) for name in AgentFactory.registered_names()]


def _one(name: str) -> HarborAgentInfo:
    try:
        with quietly():
            found = AgentFactory.get_agent_class(AgentName(name))
    except (ImportError, ValueError, AttributeError) as error:
        return HarborAgentInfo(name=name, problem=f"{type(error).__name__}: {error}")
    can = found.capabilities
    connection = found.MODEL_CONNECTION
    formats = {str(one.value) for one in connection.supported_api_formats} if connection is not None else set()
    return HarborAgentInfo(
        name=name,
        in_main=issubclass(found, BaseInstalledAgent),
        mcp=can.mcp_servers,
        mcp_headers=can.mcp_http_headers,
        skills=can.skills,
        atif=can.atif,
        live=shows_steps_live(found),
        base_url=can.base_url,
        effort=can.reasoning_effort,
        calls_model=name not in FREE,
        wires=tuple(wire for wire, theirs in FORMATS.items() if theirs in formats),
        options=_options(found),
    )


def shows_steps_live(agent_class: Any) -> bool:
    """A host-side agent writes its trajectory as it goes; of one in `main` Harbor must be able to read the session."""
    if not issubclass(agent_class, BaseInstalledAgent):
        return bool(agent_class.capabilities.atif)
    return agent_class.convert_trajectory is not BaseInstalledAgent.convert_trajectory


def _options(agent_class: Any) -> tuple[HarborOption, ...]:
    if agent_class.options_model is None:
        return ()
    return tuple(
        HarborOption(name=name, summary=field.description or "")
        for name, field in agent_class.options_model.model_fields.items()
        if name not in ("base_url", "reasoning_effort", "temperature")
    )
