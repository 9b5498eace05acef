"""Runs the Docker tools on the host (Compose, buildx): output drained all the time, bounded, dead when cancelled."""

from __future__ import annotations

import os
import shutil
import signal
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from subprocess import DEVNULL, PIPE
from typing import IO

import anyio
import anyio.abc
import msgspec

from engine.environments.docker.endpoint import config_folder
from engine.environments.docker.together import together

TAIL_BYTES = 64 * 1024
REAP_SEC = 5.0


class ToolResult(msgspec.Struct, frozen=True, kw_only=True):
    """`exit_code` None: killed at its time limit. `tail` is the end of what it said (a kept stdout is apart)."""

    exit_code: int | None
    seconds: float
    tail: str
    stdout: bytes = b""

    @property
    def timed_out(self) -> bool:
        return self.exit_code is None


class ToolMissing(Exception):
    """A plugin of the Docker CLI that isn't installed."""


@cache
def plugin(name: str) -> tuple[str, ...]:
    """How to start a CLI plugin. Its own binary where it is found: the `docker` front costs 80 ms a call."""
    folders = [
        config_folder() / "cli-plugins",
        *(
            Path(place)
            for place in (
                "/usr/local/lib/docker/cli-plugins",
                "/usr/local/libexec/docker/cli-plugins",
                "/usr/lib/docker/cli-plugins",
                "/usr/libexec/docker/cli-plugins",
            )
        ),
    ]
    for folder in folders:
        binary = folder / f"docker-{name}"
        if os.access(binary, os.X_OK):
            return (str(binary),)
    front = shutil.which("docker")
    if front is None:
        raise ToolMissing(f"neither the Docker CLI nor its plugin {name} is installed")
    return (front, name)


async def run_tool(
    argv: Sequence[str],
    *,
    env: Mapping[str, str],
    log: Path | None = None,
    timeout_sec: float | None = None,
    stdin: bytes | None = None,
    keep_stdout: bool = False,
    on_line: Callable[[str], None] | None = None,
    folder: Path | None = None,
) -> ToolResult:
    """Run to the end. Both streams are read all the time, so a talkative tool never stands still (nor do we).

    `log` is appended to. With `keep_stdout` stdout is returned whole and only stderr is logged. On a timeout or a
    cancellation the tool and its children are killed before this returns.
    """
    began = time.monotonic()
    tail: deque[bytes] = deque()
    kept: list[bytes] = []
    out: IO[bytes] | None = None
    if log is not None:
        log.parent.mkdir(parents=True, exist_ok=True)
        out = log.open("ab")
    lines = _Lines(on_line)

    def take(chunk: bytes) -> None:
        _bounded(tail, chunk)
        if out is not None:
            out.write(chunk)
            out.flush()
        lines.feed(chunk)

    async def drain(stream: anyio.abc.ByteReceiveStream | None, sink: Callable[[bytes], None]) -> None:
        if stream is not None:
            async for chunk in stream:
                sink(chunk)

    try:
        process = await anyio.open_process(
            list(argv),
            stdin=DEVNULL if stdin is None else PIPE,
            stdout=PIPE,
            stderr=PIPE,
            env=dict(env),
            cwd=folder,
            start_new_session=True,
        )
        code: int | None = None
        try:
            with anyio.move_on_after(timeout_sec):
                async with together() as group:
                    group.start_soon(drain, process.stdout, kept.append if keep_stdout else take)
                    group.start_soon(drain, process.stderr, take)
                    if stdin is not None:
                        group.start_soon(_feed, process, stdin)
                code = await process.wait()
        finally:
            with anyio.CancelScope(shield=True):
                await _end(process)
        lines.end()
    finally:
        if out is not None:
            out.close()
    text = b"".join(tail).decode("utf-8", "replace")
    return ToolResult(exit_code=code, seconds=time.monotonic() - began, tail=text, stdout=b"".join(kept))


async def _feed(process: anyio.abc.Process, data: bytes) -> None:
    if process.stdin is not None:
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            await process.stdin.send(data)
        await process.stdin.aclose()


async def _end(process: anyio.abc.Process) -> None:
    if process.returncode is None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        with anyio.move_on_after(REAP_SEC):
            await process.wait()
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            await stream.aclose()


def _bounded(tail: deque[bytes], chunk: bytes) -> None:
    tail.append(chunk[-TAIL_BYTES:])
    size = sum(map(len, tail))
    while size - len(tail[0]) >= TAIL_BYTES:
        size -= len(tail.popleft())


class _Lines:
    """Cuts output into lines for a listener; a line longer than the bound is handed over in pieces."""

    MOST = 64 * 1024

    def __init__(self, listener: Callable[[str], None] | None) -> None:
        self._listener = listener
        self._rest = b""

    def feed(self, chunk: bytes) -> None:
        if self._listener is None:
            return
        *whole, self._rest = (self._rest + chunk).split(b"\n")
        for line in whole:
            self._listener(line.decode("utf-8", "replace").rstrip("\r"))
        if len(self._rest) > self.MOST:
            self.end()

    def end(self) -> None:
        if self._listener is not None and self._rest:
            self._listener(self._rest.decode("utf-8", "replace").rstrip("\r"))
        self._rest = b""
