"""One arm's Harbor agent: its class, whether it can be made as the arm says, and what it can take. Needs Harbor."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from difflib import get_close_matches
from logging import Logger
from pathlib import Path
from typing import Any

import msgspec
from harbor.agents.agent_auth_resolution import MissingModelCredentialError, resolve_agent_model_connection
from harbor.agents.factory import AgentFactory
from harbor.agents.installed.acp_registry import is_acp_registry_shorthand
from harbor.agents.installed.base import BaseInstalledAgent
from harbor.models.agent.name import AgentName
from harbor.models.trial.config import AgentConfig

from engine.agents.agent import AgentConfigInvalid, AgentTraits
from engine.agents.harbor.options import (
    FORMATS,
    KEY_OF_FILE,
    Reading,
    key_from_file,
    keywords,
    through_gateway,
    variables,
)
from engine.agents.harbor.presence import harbor_version, quietly
from engine.agents.harbor.traits import TRAITS
from engine.events import ArmInfo
from engine.models.resolve import NO_KEY
from engine.models.settings import Wire

ORACLE = AgentName.ORACLE.value
FREE = frozenset({ORACLE, AgentName.NOP.value})
"""They call no model, and are given neither a task's MCP servers nor its skills."""

SOMEWHERE = "http://127.0.0.1:1"
"""Stands for the gateway until the port in `main` is known."""

_checked: dict[bytes, AgentTraits] = {}


class HiddenEnv(dict[str, str]):
    """Variables as Harbor's agents keep them, beside one that is found by its name only: whoever copies them or goes
    through them doesn't see it. So a model's key reaches the model's client, and no command in `main`."""

    def __init__(self, shown: Mapping[str, str], hidden: Mapping[str, str]) -> None:
        super().__init__(shown)
        self._hidden = dict(hidden)

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or name in self._hidden

    def __getitem__(self, name: str) -> str:
        return super().__getitem__(name) if super().__contains__(name) else self._hidden[name]

    def __missing__(self, name: str) -> str:
        return self._hidden[name]


class Configured(msgspec.Struct, frozen=True, kw_only=True):
    """What Harbor's factory gets. `env`: the arm's own variables, which every command of the agent sees. `hidden`: a
    key that only the agent's own code may see."""

    agent_class: Any
    config: AgentConfig
    env: dict[str, str]
    hidden: dict[str, str]
    gateway: Wire | None = None
    """What the program in `main` speaks at the gateway; None: it reaches its model by itself."""

    @property
    def name(self) -> str:
        return str(self.agent_class.name())

    @property
    def in_main(self) -> bool:
        """The agent is a program that runs in `main`, and not code in this process."""
        return issubclass(self.agent_class, BaseInstalledAgent)

    @property
    def is_free(self) -> bool:
        return self.name in FREE

    def agent(self, logs_dir: Path, logger: Logger | None = None, *, address: str = "", **given: Any) -> Any:
        """A fresh agent. `address`: where `main` finds the gateway. Raises whatever Harbor's constructor raises."""
        config = self.config
        if address and self.gateway is not None:
            config = config.model_copy(update={"base_url": base_url_at(address, self.gateway)})
        with quietly():
            agent = AgentFactory.create_agent_from_config(config, logs_dir=logs_dir, logger=logger, **given)
        if self.hidden:
            agent._extra_env = HiddenEnv(self.env, self.hidden)
        return agent


def configured(arm: ArmInfo) -> Configured:
    """Raises AgentConfigInvalid for a class that isn't there and an option that it doesn't have, AgentUnavailable for a
    key that can't be read."""
    agent_class = class_of(arm)
    reading = Reading(arm)
    if agent_class.name() in FREE and (arm.endpoint.base_url or arm.endpoint.key_env or arm.endpoint.key_file):
        raise reading.invalid(f"Harbor's {agent_class.name()} calls no model")
    env = variables(arm)
    if through_gateway(arm):
        return _at_gateway(arm, agent_class, env)
    key = key_from_file(arm)
    hidden = {KEY_OF_FILE: key} if key else {}
    config = _config(arm, agent_class, {**env, **hidden}, arm.endpoint.base_url, KEY_OF_FILE if key else "")
    if config.base_url and not hidden:
        hidden = _key_for_own_server(config, reading)
        config.env.update(hidden)
    return Configured(agent_class=agent_class, config=config, env=env, hidden=hidden)


def _config(arm: ArmInfo, agent_class: Any, env: dict[str, str], base_url: str, key_name: str) -> AgentConfig:
    try:
        return AgentConfig(
            name=arm.parameters.get("agent") or None,
            import_path=arm.parameters.get("import_path") or None,
            model_name=arm.model or None,
            base_url=base_url or None,
            model_api_key_name=key_name or arm.endpoint.key_env or None,
            model_api_format=FORMATS[Wire(arm.protocol)] if arm.protocol else None,
            kwargs=keywords(arm, agent_class),
            env=env,
        )
    except ValueError as error:
        raise Reading(arm).invalid(_words(error)) from None


def base_url_at(address: str, wire: Wire) -> str:
    """As the clients of that protocol take it: those of Anthropic's add `/v1` by themselves."""
    return address if wire is Wire.ANTHROPIC else f"{address}/v1"


def _at_gateway(arm: ArmInfo, agent_class: Any, env: dict[str, str]) -> Configured:
    """The agent is told of the gateway alone; the arm's address and key are the gateway's."""
    reading = Reading(arm)
    if not issubclass(agent_class, BaseInstalledAgent):
        raise reading.invalid(
            f"gateway=yes: Harbor's {agent_class.name()} works from this host, its key never enters main"
        )
    hidden = {KEY_OF_FILE: NO_KEY}
    config = _config(arm, agent_class, {**env, **hidden}, base_url_at(SOMEWHERE, Wire.OPENAI_CHAT), KEY_OF_FILE)
    try:
        with quietly():
            found = resolve_agent_model_connection(config)
    except ValueError as error:
        raise _refusal(reading, error) from None
    by_format = {theirs: wire for wire, theirs in FORMATS.items()}
    by_provider = {"openai": Wire.OPENAI_CHAT, "anthropic": Wire.ANTHROPIC}
    wire = by_format.get(str(found.model_api_format or "")) or by_provider.get(found.provider or "")
    if wire is None or not found.can_configure_base_url:
        raise reading.invalid(
            f"gateway=yes: {agent_class.name()} would call {arm.model or 'its model'} in a protocol that the gateway "
            f"doesn't speak; it speaks {', '.join(Wire)} (protocol=)"
        )
    return Configured(agent_class=agent_class, config=config, env=env, hidden=hidden, gateway=wire)


def _key_for_own_server(config: AgentConfig, reading: Reading) -> dict[str, str]:
    """A server of one's own may want no key, but clients insist on something."""
    try:
        with quietly():
            if resolve_agent_model_connection(config).api_key:
                return {}
    except ValueError as error:
        raise _refusal(reading, error) from None
    config.model_api_key_name = KEY_OF_FILE
    return {KEY_OF_FILE: NO_KEY}


def class_of(arm: ArmInfo) -> Any:
    """Raises AgentConfigInvalid."""
    reading = Reading(arm)
    name, path = arm.parameters.get("agent", ""), arm.parameters.get("import_path", "")
    if bool(name) == bool(path):
        raise reading.invalid(
            "give one of agent=NAME (`trialdeck agents harbor` lists them) and import_path=module:Class"
        )
    known = AgentFactory.registered_names()
    if name and name not in known and not is_acp_registry_shorthand(name):
        near = get_close_matches(name, known, 1)
        hint = f"did you mean {near[0]}? " if near else ""
        raise reading.invalid(
            f'Harbor {harbor_version()} has no agent "{name}"; {hint}'
            f"`trialdeck agents harbor` lists the {len(known)} it has"
        )
    try:
        with quietly():
            found = AgentFactory.get_agent_class_from_config(AgentConfig(name=name or None, import_path=path or None))
    except (ImportError, AttributeError, ValueError, TypeError) as error:
        raise reading.invalid(f"{'agent' if name else 'import_path'}={name or path}: {_words(error)}") from None
    return found


def traits_for(arm: ArmInfo) -> AgentTraits:
    """What the arm's agent can take, once it is known that it can be made. Raises AgentConfigInvalid, and
    AgentUnavailable where it is this host that lacks its key."""
    digest = msgspec.json.encode(arm)
    if digest not in _checked:
        found = configured(arm)
        if not found.is_free:
            _try(found, arm)
        _checked[digest] = _traits(found)
    return _checked[digest]


def _try(found: Configured, arm: ArmInfo) -> None:
    """Make the agent once, as a trial will, and see what Harbor says of its options, its model and its key."""
    reading = Reading(arm)
    try:
        with quietly(), tempfile.TemporaryDirectory(prefix="trialdeck-harbor-") as folder:
            AgentFactory.run_preflight(found.config)
            found.agent(Path(folder))
    except (ValueError, TypeError, KeyError, OSError, RuntimeError, ImportError, SystemExit) as error:
        raise _refusal(reading, error) from None


def _refusal(reading: Reading, error: BaseException) -> AgentConfigInvalid:
    """A key that this host lacks is no mistake in the arm."""
    words = _in_our_words(_words(error))
    return reading.unavailable(words) if isinstance(error, MissingModelCredentialError) else reading.invalid(words)


def _traits(found: Configured) -> AgentTraits:
    can = found.agent_class.capabilities
    free = found.is_free
    return AgentTraits(
        name=f"harbor {found.name}",
        version=TRAITS.version,
        summary=f"Harbor's {found.name}",
        mcp=TRAITS.mcp if can.mcp_servers or free else frozenset(),
        mcp_headers=can.mcp_http_headers or free,
        takes_skills=can.skills or free,
        wires=(found.gateway,) if found.gateway is not None else (),
        needs_gateway=found.gateway is not None,
        installs_over_network=found.in_main and not (found.gateway is not None and _is_in_image(found)),
        parameters=TRAITS.parameters,
        costs_nothing=free,
    )


def _is_in_image(found: Configured) -> bool:
    return str(found.config.kwargs.get("skip_install", "")).lower() in ("true", "1", "yes")


def _words(error: BaseException) -> str:
    return str(error).strip() or type(error).__name__


def _in_our_words(text: str) -> str:
    """Harbor names its own command's options in what it says."""
    for theirs, ours in (
        (" Use --skip-credential-checks to defer this check to runtime.", ""),
        ("--api-key-name", "key_env="),
        ("--base-url", "base_url="),
        ("--api-format", "protocol="),
    ):
        text = text.replace(theirs, ours)
    lines = [line.strip() for line in text.splitlines() if not line.startswith("See harbor agent schema")]
    return " ".join(line for line in lines if line)
