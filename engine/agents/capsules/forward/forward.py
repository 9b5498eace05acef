"""Passes bytes between a port of the loopback and a Unix socket: a program's way to its model out of its container.

forward.py [--detach] SOCKET [PORT]   listens on 127.0.0.1:PORT (0, if not given: any that is free) and says where, in
                                      one line of JSON: {"port": N, "pid": N, "no_proxy": WORDS}, the last from the
                                      environment. With --detach it goes on behind.
forward.py --stop PID                 ends one that goes on behind; it may be gone already.

Runs in containers with nothing but Python 3.7 or later, so it uses the standard library alone.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

HERE = str(Path(__file__).resolve())
PIECE = 65536
STOP_SEC = 5.0


def main(arguments: list[str]) -> int:
    if len(arguments) == 2 and arguments[0] == "--stop" and arguments[1].isdigit():
        return stop(int(arguments[1]))
    detached = arguments[:1] == ["--detach"]
    rest = arguments[1:] if detached else arguments
    if not rest or len(rest) > 2 or rest[0].startswith("-") or not all(port.isdigit() for port in rest[1:]):
        sys.stderr.write("usage: forward.py [--detach] SOCKET [PORT] | forward.py --stop PID\n")
        return 2
    if detached:
        return detach(rest)
    try:
        asyncio.run(serve(rest[0], int(rest[1]) if len(rest) > 1 else 0))
    except KeyboardInterrupt:
        pass
    except OSError as error:
        say({"error": str(error)})
        return 1
    return 0


def say(words: dict[str, object]) -> None:
    sys.stdout.write(json.dumps(words) + "\n")
    sys.stdout.flush()


def detach(rest: list[str]) -> int:
    """Starts itself again, away from this terminal and this process's pipes, and passes on what it says first."""
    child = subprocess.Popen(
        [sys.executable, "-I", HERE, *rest],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd="/",
        start_new_session=True,
    )
    line = child.stdout.readline().decode("utf-8", "replace") if child.stdout else ""
    try:
        said = json.loads(line)
    except ValueError:
        said = {"error": f"it ended with code {child.wait()} and said nothing"}
    if "error" in said:
        sys.stderr.write(f"forward.py can't listen: {said['error']}\n")
        return 1
    say(said)
    return 0


def stop(pid: int) -> int:
    if not is_one_of_ours(pid):
        return 0
    until = time.monotonic() + STOP_SEC
    try:
        os.kill(pid, signal.SIGTERM)
        while is_one_of_ours(pid):
            if time.monotonic() > until:
                os.kill(pid, signal.SIGKILL)
                break
            time.sleep(0.02)
    except ProcessLookupError:
        pass
    return 0


def is_one_of_ours(pid: int) -> bool:
    """Whether that process runs this file; its number may belong to another one by now."""
    try:
        return HERE.encode() in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return False


async def serve(socket: str, port: int) -> None:
    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await join(reader, writer, socket)

    server = await asyncio.start_server(connected, "127.0.0.1", port, limit=PIECE)
    no_proxy = os.environ.get("NO_PROXY") or os.environ.get("no_proxy") or ""
    say({"port": server.sockets[0].getsockname()[1], "pid": os.getpid(), "no_proxy": no_proxy})
    async with server:
        await server.serve_forever()


async def join(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, socket: str) -> None:
    """One connection. Each side's end is passed on by itself; what breaks breaks both."""
    try:
        far_reader, far_writer = await asyncio.open_unix_connection(socket, limit=PIECE)
    except OSError:
        writer.transport.abort()
        return
    try:
        await asyncio.gather(pass_on(reader, far_writer), pass_on(far_reader, writer))
    except OSError:
        writer.transport.abort()
        far_writer.transport.abort()
    finally:
        writer.close()
        far_writer.close()


async def pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while True:
            data = await reader.read(PIECE)
            if not data:
                break
            writer.write(data)
            await writer.drain()
    except OSError:
        writer.transport.abort()
        raise
    if writer.can_write_eof() and not writer.transport.is_closing():
        writer.write_eof()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
