"""MCP servers of every transport in `main`, as an image or a sidecar would have them."""

from __future__ import annotations

from pathlib import Path

from engine.environments.environment import Environment

SCRIPT = "/srv/mcp/server.js"
PORT = 8765
STARTED = """
"$1" "$2" http "$3" /tmp/mcp-ready >/dev/null 2>&1 &
while [ ! -e /tmp/mcp-ready ]; do sleep 0.05; done
"""


def toml_of(node: str, *transports: str) -> str:
    """A task.toml that names a server for each transport: `stdio-sums`, `streamable-http-sums`, `sse-sums`."""
    where = {
        "stdio": f'command = "{node}"\nargs = ["{SCRIPT}", "stdio"]',
        "streamable-http": f'url = "http://127.0.0.1:{PORT}/mcp"',
        "sse": f'url = "http://127.0.0.1:{PORT}/sse"',
    }
    return "".join(
        f'[[environment.mcp_servers]]\nname = "{transport}-sums"\ntransport = "{transport}"\n{where[transport]}\n'
        for transport in transports
    )


async def start_servers(environment: Environment, node: str) -> None:
    """They listen when this returns."""
    script = Path(__file__).with_name("server.js").read_bytes()
    await environment.upload_bytes(script, SCRIPT)
    result = await environment.execute(["sh", "-c", STARTED, "sh", node, SCRIPT, str(PORT)], timeout_sec=60)
    assert result.exit_code == 0, result.tail
