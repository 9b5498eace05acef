"""`python -m engine.models.scripted --script FILE [--port N] [--idle SEC]`: serves until it is interrupted, or until
nobody has asked the model for so long.

One line of JSON says where: {"port": N, "openai-chat": URL, "openai-responses": URL, "anthropic": URL}.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import signal
import sys
from pathlib import Path

from engine.models.scripted.script import ScriptInvalid, Scripts, read_script
from engine.models.scripted.server import ScriptedServer
from engine.models.settings import Wire


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m engine.models.scripted", description=__doc__)
    parser.add_argument("--script", type=Path, required=True, help="JSON, or TOML where the name ends in .toml")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0, help="0: any that is free")
    parser.add_argument("--idle", type=float, default=None, metavar="SEC", help="stop when nobody asks for so long")
    given = parser.parse_args()
    try:
        return asyncio.run(_serve(read_script(given.script), given.host, given.port, given.idle))
    except (ScriptInvalid, OSError) as error:
        print(f"the scripted model server can't start: {error}", file=sys.stderr)
        return 1


async def _serve(scripts: Scripts, host: str, port: int, idle: float | None) -> int:
    stopped = asyncio.Event()
    for signum in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(signum, stopped.set)
    async with ScriptedServer(scripts, host=host, port=port, keep=0) as server:
        print(json.dumps({"port": server.port, **{wire: server.base_url(wire) for wire in Wire}}), flush=True)
        await _stopped_or_idle(server, stopped, idle)
    return 0


async def _stopped_or_idle(server: ScriptedServer, stopped: asyncio.Event, idle: float | None) -> None:
    asked = -1
    while not stopped.is_set() and asked != server.count:
        asked = server.count
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(stopped.wait(), idle)


if __name__ == "__main__":
    sys.exit(main())
