"""The MCP servers that a task offers, as a program in `main` is told of them."""

from __future__ import annotations

import re
from functools import partial

import msgspec

from engine.agents.agent import AgentSession
from engine.agents.in_main.setup_failed import setup_failed
from engine.issues import Code
from engine.tasks.task import McpServer

_VARIABLE = re.compile(r"\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}", re.ASCII)


def servers_of(session: AgentSession) -> tuple[McpServer, ...]:
    """Headers with the host's variables in place of `${VAR}` and `${VAR:-default}`; the agent's log won't show these.

    Raises TrialFailed for a variable that the user didn't allow and that has no default.
    """
    return tuple(_filled(session, server) for server in session.task.environment.mcp_servers)


def _filled(session: AgentSession, server: McpServer) -> McpServer:
    allowed = session.environment.spec.allowed_host_env

    def value(header: str, found: re.Match[str]) -> str:
        name, default = found.groups()
        if name in allowed:
            session.hide(allowed[name])
            return allowed[name]
        if default is None:
            raise setup_failed(
                f"MCP server {server.name}: header {header} asks for the host's {name}",
                way_out=f"allow it with --allow-host-env {name}",
                code=Code.MCP_SERVER_FAILED,
            )
        return str(default)

    headers = {header: _VARIABLE.sub(partial(value, header), text) for header, text in server.headers.items()}
    return msgspec.structs.replace(server, headers=headers)
