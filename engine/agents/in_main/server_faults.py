"""An MCP server of the task that could not be started or reached: the task's environment failed, not the agent."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit

from engine.agents.agent import AgentSession
from engine.issues import Code, Evidence, Issue, Phase, Severity
from engine.tasks.compose_names import ComposeUnreadable, read_compose
from engine.tasks.task import MAIN, McpServer, NetworkMode, Task

DEFINITION = "the task's definition"
"""Evidence that what the task itself says of its server can't be right."""

_LOOK = 'command -v "$1" >/dev/null 2>&1 || exit 9'
_NOT_THERE = 9
_LOOK_SEC = 30.0


def servers_failed(message: str, said: Evidence, failed: Sequence[str], wrong: Mapping[str, str]) -> Issue:
    """`said`: what the agent's program tells of it. `failed` are the servers' names, `wrong` what `wrong_definitions`
    found."""
    definitions = [Evidence(DEFINITION, f"{name}: {wrong[name]}") for name in failed if name in wrong]
    return Issue(Severity.ERROR, Phase.AGENT, Code.MCP_SERVER_FAILED, message, (said, *definitions))


async def wrong_definitions(
    session: AgentSession, servers: Sequence[McpServer], env: Mapping[str, str] | None = None
) -> dict[str, str]:
    """By the servers' names, what can't be right in the task's own words about them; only what is certain, so that an
    image without a shell leaves it open whether a command is there. `env`: what the agent's program gets beside the
    image's own."""
    found: dict[str, str] = {}
    for server in servers:
        if server.command is not None:
            look = ["sh", "-c", _LOOK, "sh", server.command]
            result = await session.execute(look, env=env, logged=False, timeout_sec=_LOOK_SEC)
            if result.exit_code == _NOT_THERE:
                found[server.name] = f"its command {server.command} is not in main, or can't be run there"
        elif server.url is not None and (words := wrong_address(session.task, server.url, session.step)):
            found[server.name] = words
    return found


def wrong_address(task: Task, url: str, step: str = "") -> str:
    """Why nothing of this task can answer there, "" where something may."""
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        return f"{url} is no address"
    if host == MAIN or _is_loopback(host) or _may_be_in_compose(task, host):
        return ""
    if not _is_address(host) and "." not in host:
        return f"{url}: the task's Compose file has no service {host}"
    stage = next((each.agent for each in task.steps if each.name == step), task.agent)
    policy = stage.network or task.environment.network
    if policy is not None and policy.mode is NetworkMode.NO_NETWORK:
        return f"{url} is outside of the task, and the task gives its agent no network"
    return ""


def _may_be_in_compose(task: Task, host: str) -> bool:
    """Its name stands somewhere in the Compose file (a service, an alias, an address), or other files add to that."""
    if task.compose_file is None:
        return False
    try:
        compose = read_compose(task.compose_file)
    except (OSError, ComposeUnreadable):
        return True
    return "include" in compose or re.search(rf"(?<![\w-]){re.escape(host)}(?![\w-])", str(compose), re.I) is not None


def _is_loopback(host: str) -> bool:
    return host == "localhost" or host.endswith(".localhost") or (_is_address(host) and _address(host).is_loopback)


def _is_address(host: str) -> bool:
    try:
        _address(host)
    except ValueError:
        return False
    return True


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    return ipaddress.ip_address(host)
