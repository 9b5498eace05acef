"""A gateway between a test and a server that the test plays, byte by byte, or that a script plays."""

from __future__ import annotations

import asyncio
import contextlib
import json
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import aiohttp
import msgspec

from engine.models.gateway import Gateway
from engine.models.model_call import ModelCall
from engine.models.scripted.script import Script, Turn
from engine.models.scripted.server import ScriptedServer
from engine.models.settings import ModelSettings, Secret, Wire

KEY = "real-key-of-the-operator-7f3a91"
PATHS = {
    Wire.OPENAI_CHAT: "/v1/chat/completions",
    Wire.OPENAI_RESPONSES: "/v1/responses",
    Wire.ANTHROPIC: "/v1/messages",
}
SSE = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


def settings(base_url: str, wire: Wire = Wire.OPENAI_CHAT, **more: Any) -> ModelSettings:
    return ModelSettings(**{"name": "m", "wire": wire, "base_url": base_url, "key": Secret(KEY), **more})


class Opened:
    """A gateway that listens, a client at its socket, and what it told."""

    def __init__(self, wire: Wire, socket: Path) -> None:
        self.wire = wire
        self.socket = socket
        self.calls: list[ModelCall] = []
        self.shown: list[str] = []
        self._told = asyncio.Event()
        self.client = aiohttp.ClientSession("http://gateway", connector=aiohttp.UnixConnector(str(socket), limit=0))

    def on_call(self, call: ModelCall) -> None:
        self.calls.append(call)
        self._told.set()

    async def told(self, count: int) -> None:
        """Returns once so many calls are over."""
        while len(self.calls) < count:
            self._told.clear()
            await self._told.wait()

    def body(self, *, stream: bool = False, **more: Any) -> dict[str, Any]:
        said = [{"role": "user", "content": "do it"}]
        key = "input" if self.wire is Wire.OPENAI_RESPONSES else "messages"
        given: dict[str, Any] = {"model": "m", key: said, "stream": stream, **more}
        if stream and self.wire is Wire.OPENAI_CHAT:
            given["stream_options"] = {"include_usage": True}
        return given

    async def ask(self, *, stream: bool = False, path: str = "", **more: Any) -> tuple[int, str]:
        """Status and text of one answer; the key is a dummy."""
        headers = {"authorization": "Bearer dummy", "x-api-key": "dummy"}
        body = self.body(stream=stream, **more)
        async with self.client.post(path or PATHS[self.wire], json=body, headers=headers) as answer:
            return answer.status, await answer.text()


@contextlib.asynccontextmanager
async def gateway(given: ModelSettings, first_number: Callable[[], int] | None = None) -> AsyncIterator[Opened]:
    with tempfile.TemporaryDirectory(prefix="gw-") as name:
        folder = Path(name)
        opened = Opened(given.wire, folder / "socket")
        try:
            async with Gateway(
                given,
                given.wire,
                folder,
                on_call=opened.on_call,
                activity=opened.shown.append,
                first_number=first_number,
            ):
                yield opened
        finally:
            await opened.client.close()


@contextlib.asynccontextmanager
async def scripted(wire: Wire, *turns: Turn, **more: Any) -> AsyncIterator[tuple[Opened, ScriptedServer]]:
    async with (
        ScriptedServer(Script(turns=turns), key=KEY) as server,
        gateway(settings(server.base_url(wire), wire, **more)) as opened,
    ):
        yield opened, server


@contextlib.asynccontextmanager
async def played(serve: Serve, wire: Wire = Wire.OPENAI_CHAT, **more: Any) -> AsyncIterator[Opened]:
    """`serve` plays the model's server on a bare connection."""
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with (
        server,
        gateway(settings(address if wire is Wire.ANTHROPIC else f"{address}/v1", wire, **more)) as opened,
    ):
        yield opened


async def request_of(reader: asyncio.StreamReader) -> tuple[str, dict[str, str], bytes]:
    """The request's first line, headers in small letters, and body."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    first, *lines = head.strip().split("\r\n")
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
    body = bytearray()
    if headers.get("transfer-encoding") == "chunked":
        while size := int(await reader.readline(), 16):
            body += (await reader.readexactly(size + 2))[:-2]
        await reader.readline()
    else:
        body += await reader.readexactly(int(headers.get("content-length", "0")))
    return first, headers, bytes(body)


def answer(body: bytes, *headers: str, status: str = "200 OK") -> bytes:
    lines = [f"HTTP/1.1 {status}", f"content-length: {len(body)}", *headers]
    if not any(header.startswith("content-type") for header in headers):
        lines.append("content-type: application/json")
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def saying(data: bytes) -> Serve:
    """A server that answers every request with these bytes and hangs up."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            await request_of(reader)
            writer.write(data)
            await writer.drain()
        writer.close()

    return serve


def chat_answer(**more: Any) -> bytes:
    message = {"role": "assistant", "content": "hello"}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    usage = {"prompt_tokens": 10, "completion_tokens": 2}
    return msgspec.json.encode({"model": "m", "choices": [choice], "usage": usage, **more})


def chunk(data: bytes) -> bytes:
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


def event(content: str = "", finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": {"content": content}, "finish_reason": finish}
    return b"data: " + json.dumps({"model": "m", "choices": [choice]}).encode() + b"\n\n"
