"""What an arm's agent can't do, said before anything is started: in general, and for one task."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from engine.agents.agent import AgentConfigInvalid, AgentTraits, AgentUnavailable
from engine.agents.capsules.capsule import CapsuleUnusable
from engine.agents.capsules.store import find
from engine.agents.registry import traits_of
from engine.events import ArmInfo, HostInfo
from engine.issues import Code, Evidence, Issue, Severity
from engine.models.resolve import settings_of
from engine.models.settings import ModelInvalid, Wire
from engine.tasks.task import McpServer, NetworkMode, NetworkPolicy, Task

PACKAGES = {Wire.OPENAI_CHAT: "openai", Wire.OPENAI_RESPONSES: "openai", Wire.ANTHROPIC: "anthropic"}
"""The SDKs by which agents on the host call their models."""

NEVER_REFUSED = frozenset({"command", "replay", "restore"})
"""Of a command nobody knows what it needs, so that it is only warned of; a replay repeats what was done."""


class ArmFit(msgspec.Struct, frozen=True, kw_only=True):
    """What an arm's agent can take (None: unknown), and why the arm can run on no task at all."""

    traits: AgentTraits | None
    problems: tuple[Issue, ...] = ()


def fit_of(arms: Sequence[ArmInfo], environ: Mapping[str, str], host: HostInfo) -> dict[str, ArmFit]:
    """By the arms' names. Reads key files, and looks up what is installed; nothing is started and nobody is called."""
    return {arm.name: _fit(arm, environ, host) for arm in arms}


def plain_fit(arms: Sequence[ArmInfo]) -> dict[str, ArmFit]:
    """What the agents can take, whatever this host has."""
    return {arm.name: _known(arm)[0] for arm in arms}


def cannot_take(task: Task, arm: ArmInfo, traits: AgentTraits | None) -> tuple[Issue, ...]:
    """Why this task is not run with this arm; empty where it is. Agents that do nothing of their own (oracle, nop,
    replay) need neither servers nor skills."""
    if traits is None or traits.costs_nothing or arm.agent in NEVER_REFUSED:
        return ()
    return tuple(_cannot_take(task, arm, traits))


def _known(arm: ArmInfo) -> tuple[ArmFit, str]:
    try:
        return ArmFit(traits=traits_of(arm)), ""
    except AgentConfigInvalid as error:
        told = unavailable if isinstance(error, AgentUnavailable) else refused
        return ArmFit(traits=None, problems=(told(str(error)),)), str(error)


def _fit(arm: ArmInfo, environ: Mapping[str, str], host: HostInfo) -> ArmFit:
    fit, problem = _known(arm)
    if problem or fit.traits is None:
        return fit
    return ArmFit(traits=fit.traits, problems=tuple(_problems(arm, fit.traits, environ, host)))


def _problems(arm: ArmInfo, traits: AgentTraits, environ: Mapping[str, str], host: HostInfo) -> Iterator[Issue]:
    if traits.calls_model:
        try:
            settings_of(arm, traits.wires, environ)
        except ModelInvalid as error:
            yield unavailable(str(error))
        wire = Wire(arm.protocol) if arm.protocol in list(Wire) else traits.wires[0]
        package = PACKAGES[wire]
        if not traits.needs_gateway and importlib.util.find_spec(package) is None:
            yield unavailable(
                f"arm {arm.name}: {arm.agent} calls its model through the package {package}, which isn't installed",
                "pip install 'trialdeck[models]'",
            )
    for tag, digest in arm.capsules.items():
        if words := _capsule_trouble(tag, digest):
            yield unavailable(f"arm {arm.name}: {words}")
    if traits.needs_gateway and host.elsewhere:
        yield unavailable(
            f"arm {arm.name}: {arm.agent} calls its model from within main, through a socket of this host that is "
            "mounted there; the Docker engine is on another host, or its own socket is not what leads to it, so it may "
            "not find that one",
            "run trialdeck on the engine's host, with DOCKER_HOST unset or naming the engine's own socket, or take an "
            "agent that works from this one (`trialdeck agents`)",
        )


def _capsule_trouble(tag: str, digest: str) -> str:
    """Why the capsule that the run began with can't be used any more, "" where it can."""
    try:
        found = find(tag)
    except CapsuleUnusable as error:
        return str(error)
    if found is None:
        return f"capsule {tag}, with which the run began, is not here: `trialdeck capsule build {tag}` makes it again"
    if found.digest != digest:
        return (
            f"capsule {tag} is another one than when the run began (digest {found.digest[:12]}, expected {digest[:12]})"
        )
    return ""


def _cannot_take(task: Task, arm: ArmInfo, traits: AgentTraits) -> Iterator[Issue]:
    who = f"agent {arm.agent}" + (f" (arm {arm.name})" if arm.name != arm.agent else "")
    by_transport: dict[str, list[McpServer]] = {}
    for server in task.environment.mcp_servers:
        if server.transport not in traits.mcp:
            by_transport.setdefault(server.transport, []).append(server)
    takes = ", ".join(sorted(traits.mcp)) or "no MCP server"
    for transport, servers in by_transport.items():
        named = ", ".join(server.name for server in servers)
        kind = transport.upper() if transport == "sse" else transport
        what = f"{_article(kind)} {kind} MCP server" if len(servers) == 1 else f"{kind} MCP servers"
        yield refused(f"task {task.id} needs {what} ({named}); {who} takes {takes}", _others("MCP servers"))
    with_headers = [one.name for one in task.environment.mcp_servers if one.headers and one.transport in traits.mcp]
    if with_headers and not traits.mcp_headers:
        named = ", ".join(with_headers)
        yield refused(
            f"task {task.id} has headers for an MCP server ({named}); {who} passes none on", _others("MCP servers")
        )
    if task.environment.skills_dir and not traits.takes_skills:
        yield refused(
            f"task {task.id} offers a folder of skills ({task.environment.skills_dir}); {who} takes none",
            _others("skills"),
        )
    if traits.installs_over_network and _is_cut_off(task):
        yield refused(
            f"task {task.id} has no network; {who} is installed over it",
            "let a capsule carry it in, or take an agent that needs no installation (`trialdeck agents NAME`)",
        )


def _is_cut_off(task: Task) -> bool:
    """Is `main` without network while the agent is set up?"""
    base = task.environment.network or NetworkPolicy()
    stages = [step.agent for step in task.steps] or [task.agent]
    return any((stage.network or base).mode is NetworkMode.NO_NETWORK for stage in stages)


def _article(word: str) -> str:
    return "an" if word == "SSE" else "a"


def _others(what: str) -> str:
    return f"`trialdeck agents` lists who takes {what}"


def refused(message: str, way_out: str = "") -> Issue:
    """Why an arm's trials are not run, all of them or some: its agent can't."""
    return _fatal(Code.AGENT_INCOMPATIBLE, message, way_out)


def unavailable(message: str, way_out: str = "") -> Issue:
    """Why an arm's trials are not run on this host, with this environment: that is no fault of its agent."""
    return _fatal(Code.AGENT_UNAVAILABLE, message, way_out)


def _fatal(code: Code, message: str, way_out: str) -> Issue:
    evidence = (Evidence("way out", way_out),) if way_out else ()
    return Issue(Severity.FATAL, None, code, message, evidence)
