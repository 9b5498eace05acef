"""`python -m engine.models.scripted --script FILE [--port N]`: serves until it is interrupted.

One line of JSON says where: {"port": N, "openai-chat": URL, "openai-responses": URL, "anthropic": URL}.
"""

from __future__ import annotations

import argparse
import asyncio
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
    given = parser.parse_args()
    try:
        return asyncio.run(_serve(read_script(given.script), given.host, given.port))
    except (ScriptInvalid, OSError) as error:
        print(f"the scripted model server can't start: {error}", file=sys.stderr)
        return 1


async def _serve(scripts: Scripts, host: str, port: int) -> int:
    stopped = asyncio.Event()
    for signum in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(signum, stopped.set)
    async with ScriptedServer(scripts, host=host, port=port, keep=0) as server:
        print(json.dumps({"port": server.port, **{wire: server.base_url(wire) for wire in Wire}}), flush=True)
        await stopped.wait()
    return 0


if __name__ == "__main__":
    sys.exit(main())
