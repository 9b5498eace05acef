"""The way to a daemon that is behind something: a Unix socket of our own that leads there."""

from __future__ import annotations

from typing import Protocol

import anyio.to_thread

from engine.environments.docker.endpoint import Endpoint
from engine.environments.docker.ssh_line import SshLine
from engine.environments.docker.tls_line import TlsLine


class Line(Protocol):
    """`url` is what to connect to; `said` is what ails the line, "" while nothing does."""

    @property
    def url(self) -> str: ...

    @property
    def said(self) -> str: ...

    async def close(self) -> None: ...


class _InAThread:
    """Ssh's line blocks."""

    def __init__(self, line: SshLine) -> None:
        self._line = line

    @property
    def url(self) -> str:
        return self._line.url

    @property
    def said(self) -> str:
        return self._line.said

    async def close(self) -> None:
        await anyio.to_thread.run_sync(self._line.close)


async def open_line(endpoint: Endpoint) -> Line | None:
    """None where the daemon's own socket or port is connected to. Raises OSError (ssl.SSLError is one), ValueError for
    certificates that can't be used, SshFailed."""
    if endpoint.is_ssh:
        return _InAThread(await anyio.to_thread.run_sync(SshLine.open, endpoint))
    return await TlsLine.open(endpoint) if endpoint.tls else None
