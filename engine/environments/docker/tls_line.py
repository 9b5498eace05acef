"""A Unix socket of our own that leads to a daemon behind TLS.

So one connection is like another: Compose and buildx come through without certificates (buildx alone, without `docker`
in front of it, heeds none of the variables about TLS), and an end of stdin arrives, which asyncio's TLS can't say.
"""

from __future__ import annotations

import asyncio
import errno
import os
import socket
import ssl
from contextlib import suppress
from pathlib import Path

from engine.environments.docker.endpoint import Endpoint
from engine.environments.docker.socket_place import NAME, new_place, remove_place
from engine.environments.docker.unreachable import named, why

CHUNK = 64 * 1024
HANDSHAKE_SEC = 10.0
SETTLE_SEC = 2.0
ALIVE_IDLE_SEC, ALIVE_EVERY_SEC, ALIVE_TIMES = 15, 5, 3
"""A host that is gone is noticed after half a minute."""


class TlsLine:
    """`said` is why the last connection broke, "" while none did."""

    def __init__(self, endpoint: Endpoint, context: ssl.SSLContext, folder: Path) -> None:
        self._endpoint = endpoint
        self._context = context
        self._folder = folder
        self._server: asyncio.Server | None = None
        self._carrying: set[asyncio.Task[None]] = set()
        self.said = ""

    @property
    def url(self) -> str:
        return f"unix://{self._folder / NAME}"

    @classmethod
    async def open(cls, endpoint: Endpoint) -> TlsLine:
        """Makes one connection first. Raises OSError (ssl.SSLError is one), ValueError for certificates that can't be
        used, TimeoutError."""
        context = endpoint.tls_context()
        assert context is not None
        line = cls(endpoint, context, new_place())
        try:
            far = await _Far.connect(endpoint, context)
            try:
                await far.settle()
            finally:
                far.close()
            line._server = await asyncio.start_unix_server(line._accept, str(line._folder / NAME))
        except BaseException:
            remove_place(line._folder)
            raise
        return line

    async def close(self) -> None:
        if self._server is not None:
            self._server.close()
        for task in self._carrying:
            task.cancel()
        await asyncio.gather(*self._carrying, return_exceptions=True)
        remove_place(self._folder)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._carrying.add(task)
        try:
            far = await _Far.connect(self._endpoint, self._context)
            try:
                await _carry(reader, writer, far)
            finally:
                far.close()
            self.said = ""
        except OSError as error:
            what, way_out = why(error, self._endpoint)
            self.said = f"{named(self._endpoint)}: {what}; {way_out}"
        except asyncio.CancelledError:
            pass  # only `close` cancels; what asyncio's server makes of a cancelled task differs between its versions
        finally:
            self._carrying.discard(task)
            writer.close()


class _Far:
    """The encrypted side. Half-closed by the end that TLS itself has: the other side may go on."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, name: str, c: ssl.SSLContext
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._in, self._out = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = c.wrap_bio(self._in, self._out, server_hostname=name)

    @classmethod
    async def connect(cls, endpoint: Endpoint, context: ssl.SSLContext) -> _Far:
        host, port = endpoint.address
        async with asyncio.timeout(HANDSHAKE_SEC):
            reader, writer = await asyncio.open_connection(host, port)
            keep_alive(writer.get_extra_info("socket"))
            far = cls(reader, writer, host, context)
            try:
                await far._shake_hands()
            except BaseException:
                far.close()
                raise
        return far

    async def _shake_hands(self) -> None:
        while True:
            try:
                self._tls.do_handshake()
            except ssl.SSLWantReadError:
                await self._flush()
                await self._feed()
            except ssl.SSLError:
                with suppress(OSError):
                    await self._flush()  # why we refuse
                raise
            else:
                return await self._flush()

    async def settle(self) -> None:
        """With TLS 1.3 a server says only after the handshake what it makes of our certificate, and what is sent to it
        meanwhile may make its words get lost. One that is content mostly says something as well. Raises OSError."""
        with suppress(TimeoutError):
            async with asyncio.timeout(SETTLE_SEC):
                if self._tls.version() == "TLSv1.3" and (await self.receive())[1]:
                    raise ConnectionResetError(errno.ECONNRESET, os.strerror(errno.ECONNRESET))

    async def send(self, data: bytes) -> None:
        self._tls.write(data)
        await self._flush()

    async def send_end(self) -> None:
        """Nothing follows; what comes from there is still read. What has come is always decoded at once (`receive`), so
        nothing lies in the way of the notice."""
        with suppress(ssl.SSLWantReadError, ssl.SSLSyscallError):
            self._tls.unwrap()
        await self._flush()

    async def receive(self) -> tuple[bytes, bool]:
        """What came, and whether that was the end of it. Raises OSError where it was cut off."""
        await self._feed()
        parts: list[bytes] = []
        over = False
        while not over:
            try:
                part = self._tls.read(CHUNK)
            except ssl.SSLWantReadError:
                break
            except ssl.SSLZeroReturnError:
                over = True
            except ssl.SSLEOFError:
                over = True  # many end a connection without a word of TLS, and HTTP knows whether it was whole
            else:
                parts.append(part)
                over = not part
        await self._flush()
        return b"".join(parts), over

    async def _feed(self) -> None:
        data = await self._reader.read(CHUNK)
        if data:
            self._in.write(data)
        else:
            self._in.write_eof()

    async def _flush(self) -> None:
        if data := self._out.read():
            self._writer.write(data)
            await self._writer.drain()

    def close(self) -> None:
        self._writer.close()


async def _carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, far: _Far) -> None:
    """Both ways until the far side ends, or the near side is gone altogether."""

    async def outwards() -> None:
        try:
            while data := await reader.read(CHUNK):
                await far.send(data)
        except ConnectionError:
            far.close()  # else it waits for ever where the near side was closed before it had read all
            raise
        await far.send_end()

    sending = asyncio.create_task(outwards())
    try:
        over = False
        while not over:
            data, over = await far.receive()
            try:
                writer.write(data)
                if over:
                    writer.write_eof()
                await writer.drain()
            except (ConnectionError, RuntimeError):
                return  # nobody listens here any more
    finally:
        sending.cancel()
        with suppress(asyncio.CancelledError, OSError):
            await sending


def keep_alive(connection: socket.socket | None) -> None:
    """Lets a connection break when the host at its other end is gone, instead of waiting for ever."""
    if connection is None or connection.family not in (socket.AF_INET, socket.AF_INET6):
        return
    with suppress(OSError):
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for name, value in (
            ("TCP_KEEPIDLE", ALIVE_IDLE_SEC),
            ("TCP_KEEPINTVL", ALIVE_EVERY_SEC),
            ("TCP_KEEPCNT", ALIVE_TIMES),
        ):
            if (option := getattr(socket, name, None)) is not None:
                connection.setsockopt(socket.IPPROTO_TCP, option, value)
