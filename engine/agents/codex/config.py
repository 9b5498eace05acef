"""Codex' config.toml for one trial: the model at the forwarder's address, the task's MCP servers, nothing that calls
home."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import tomli_w

from engine.agents.agent import MARK_NAME, AgentConfigInvalid
from engine.models.settings import ModelSettings
from engine.tasks.task import McpServer

PROVIDER = "trialdeck"
STREAM_RETRIES = 8
"""Tries after the first, with growing pauses: a minute of them in all."""
MCP_START_SEC = 120
MCP_TOOL_SEC = 600
_MCP_NAME = re.compile(r"[a-zA-Z0-9_:@/.-]+")


def config_toml(
    model: ModelSettings, address: str, servers: Sequence[McpServer], *, web_search: str, pass_on: Sequence[str] = ()
) -> bytes:
    """`address` is `http://127.0.0.1:PORT`. `pass_on` are the names of variables that MCP servers get beside the few
    that Codex gives them. Values of `servers` are filled already.

    Raises AgentConfigInvalid for a server's name that Codex doesn't take.
    """
    config: dict[str, Any] = {
        "model": model.name,
        "model_provider": PROVIDER,
        "approval_policy": "never",
        "sandbox_mode": "danger-full-access",
        # A login shell would set PATH anew, and lose what the image has there.
        "allow_login_shell": False,
        # The provider's own search goes round the network policy of the task.
        "web_search": web_search,
        "check_for_update_on_startup": False,
        "analytics": {"enabled": False},
        "feedback": {"enabled": False},
        "model_providers": {
            PROVIDER: {
                "name": PROVIDER,
                "base_url": f"{address}/v1",
                "wire_api": "responses",
                "stream_max_retries": STREAM_RETRIES,
            }
        },
    }
    if model.effort:
        config["model_reasoning_effort"] = model.effort
    if model.context_tokens is not None:
        config["model_context_window"] = model.context_tokens
    if servers:
        config["mcp_servers"] = {server.name: _mcp_server(server, pass_on) for server in servers}
    return tomli_w.dumps(config).encode()


def _mcp_server(server: McpServer, pass_on: Sequence[str]) -> Mapping[str, Any]:
    if not _MCP_NAME.fullmatch(server.name):
        raise AgentConfigInvalid(
            f'MCP server "{server.name}": Codex takes letters, digits and _ : @ / . - in the name of a server'
        )
    # One that does not start would be left out in silence.
    table: dict[str, Any] = {
        "required": True,
        "startup_timeout_sec": MCP_START_SEC,
        "tool_timeout_sec": MCP_TOOL_SEC,
    }
    if server.transport == "stdio":
        # The mark is what it is found by when time is up.
        return {**table, "command": server.command, "args": list(server.args), "env_vars": [MARK_NAME, *pass_on]}
    return {**table, "url": server.url, **({"http_headers": dict(server.headers)} if server.headers else {})}
