"""The scripted model server: three protocols over HTTP on loopback, streamed or not."""

from __future__ import annotations

import asyncio
import hmac
import itertools
import json
from collections import deque
from collections.abc import Iterator, Mapping
from types import ModuleType, TracebackType
from typing import Any

import msgspec
from aiohttp import web

from engine.models.scripted import wire_anthropic, wire_chat, wire_responses
from engine.models.scripted.answer import answer_of, bad_request_alone
from engine.models.scripted.asked import Asked, read_asked
from engine.models.scripted.errors import error_body, error_of
from engine.models.scripted.progress import Progress
from engine.models.scripted.script import Break, ContextFull, Fail, Filter, Hang, Say, Script, Scripts, Turn
from engine.models.settings import Wire
from engine.trajectories.untyped import Record, decoded

MOST_BODY = 64 << 20
MOST_KEPT_BYTES = 64 << 20
SHUTDOWN_SEC = 0.1
KEY_HEADERS = ("authorization", "x-api-key", "api-key")
WIRES: dict[Wire, ModuleType] = {
    Wire.OPENAI_CHAT: wire_chat,
    Wire.OPENAI_RESPONSES: wire_responses,
    Wire.ANTHROPIC: wire_anthropic,
}
ENDINGS = {"chat/completions": Wire.OPENAI_CHAT, "responses": Wire.OPENAI_RESPONSES, "messages": Wire.ANTHROPIC}


class Heard(msgspec.Struct, frozen=True, kw_only=True):
    """A request as it came. Headers' names are in small letters, values of keys are `***`; `key_right` None: no key was
    expected. `script`, `turn` (from 0; None: none was used) and `kind` say what it was answered with."""

    method: str
    path: str
    headers: Mapping[str, str]
    key_right: bool | None
    body: Record
    script: str = ""
    turn: int | None = None
    kind: str = ""


class _Cut(Exception):
    """The connection is to be cut here."""


class ScriptedServer:
    """Serves while it is entered. `script`: one for all, or several to be chosen from by marker or by address.

    `key`: what clients must give; None: anything will do. `keep` bounds `requests`, the latest of what was asked;
    of their bodies, no more than MOST_KEPT_BYTES are held. Raises OSError where the port is taken.
    """

    def __init__(
        self,
        script: Script | Scripts,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        key: str | None = None,
        keep: int = 2000,
    ) -> None:
        scripts = script if isinstance(script, Scripts) else Scripts(scripts={"default": script}, default="default")
        self._progress = Progress(scripts)
        self._host, self._port, self._key = host, port, key
        self._kept: deque[tuple[int, Heard]] = deque()
        self._kept_bytes = 0
        self._keep = keep
        self._count = 0
        self._came = asyncio.Condition()
        self._serial = itertools.count(1)
        self._runner: web.AppRunner | None = None

    async def __aenter__(self) -> ScriptedServer:
        app = web.Application(client_max_size=MOST_BODY)
        app.router.add_route("*", "/{path:.*}", self._serve)
        runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=SHUTDOWN_SEC)
        await runner.setup()
        self._runner = runner
        try:
            await web.TCPSite(runner, self._host, self._port).start()
        except BaseException:
            await runner.cleanup()
            raise
        self._port = runner.addresses[0][1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._runner is not None:
            await self._runner.cleanup()

    @property
    def port(self) -> int:
        return self._port

    def base_url(self, wire: Wire, script: str = "") -> str:
        """As the provider's SDK takes it: with `/v1` for OpenAI, without for Anthropic. `script`: one of several."""
        address = f"http://{self._host}:{self._port}" + (f"/s/{script}" if script else "")
        return address if wire is Wire.ANTHROPIC else f"{address}/v1"

    @property
    def requests(self) -> list[Heard]:
        """The latest requests, oldest first; those that try whether the server is there are among them."""
        return [heard for _, heard in self._kept]

    @property
    def asked(self) -> list[Heard]:
        """The requests that asked the model."""
        return [heard for heard in self.requests if heard.kind]

    @property
    def count(self) -> int:
        """How many requests have asked the model so far."""
        return self._count

    async def heard(self, count: int) -> None:
        """Returns once so many requests have asked the model, answered or not."""
        async with self._came:
            await self._came.wait_for(lambda: self._count >= count)

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        path = request.path.strip("/")
        wanted = ""
        if path.startswith("s/"):
            _, wanted, path = (path + "/").split("/", 2)
            path = path.rstrip("/")
        path = path.removeprefix("v1/")
        if request.headers.get("Upgrade", "").lower() == "websocket":
            return web.Response(status=426, text="this server speaks HTTP only\n")  # Codex then asks over HTTP
        data = await request.read()
        body = decoded(data) or {}
        right = self._key_right(request)
        plain = Heard(
            method=request.method,
            path=request.path,
            headers={
                name.lower(): "***" if name.lower() in KEY_HEADERS else value for name, value in request.headers.items()
            },
            key_right=right,
            body=body,
        )
        wire = ENDINGS.get(path)
        if request.method != "POST" or wire is None:
            self._note(plain, len(data))
            return self._aside_from_the_model(request, path, right, len(data))
        if right is False:
            self._note(plain, len(data))
            return web.json_response(error_body(wire, 401), status=401)
        asked = read_asked(wire, body, len(data))
        name, script = self._progress.script_for(asked, wanted)
        number: int | None = None
        turn: Turn
        if (said := _aside(script, asked)) is not None:
            turn = Say(text=said)
        else:
            number, turn = self._progress.next_turn(name, script, asked, request.headers.get("session_id", ""))
        kind = type(turn).__name__ if number is not None else "aside"
        self._note(msgspec.structs.replace(plain, script=name, turn=number, kind=kind), len(data))
        self._count += 1
        async with self._came:
            self._came.notify_all()
        try:
            return await self._answer(request, asked, turn, number or 0)
        except _Cut:
            if request.transport is not None:
                request.transport.abort()
            return web.Response()  # for nobody

    def _key_right(self, request: web.Request) -> bool | None:
        if self._key is None:
            return None
        given = request.headers.get("x-api-key") or request.headers.get("authorization", "").removeprefix("Bearer ")
        return hmac.compare_digest(given.encode(), self._key.encode())

    def _note(self, heard: Heard, size: int) -> None:
        self._kept.append((size, heard))
        self._kept_bytes += size
        while self._kept and (len(self._kept) > self._keep or self._kept_bytes > MOST_KEPT_BYTES):
            self._kept_bytes -= self._kept.popleft()[0]

    def _aside_from_the_model(
        self, request: web.Request, path: str, right: bool | None, size: int
    ) -> web.StreamResponse:
        """What programs ask besides: whether there is a server, which models it has, how many tokens a prompt is."""
        anthropic = "anthropic-version" in request.headers
        wire = Wire.ANTHROPIC if anthropic else Wire.OPENAI_CHAT
        if path in ("", "v1"):
            return web.Response(text="" if request.method == "HEAD" else "a scripted model server\n")
        if right is False:
            return web.json_response(error_body(wire, 401), status=401)
        if path == "messages/count_tokens" and request.method == "POST":
            return web.json_response({"input_tokens": size // 4 + 1})
        if path == "models" and request.method in ("GET", "HEAD"):
            return web.json_response({"object": "list", "data": [_model("scripted", anthropic)], "has_more": False})
        if path.startswith("models/") and request.method in ("GET", "HEAD"):
            return web.json_response(_model(path.removeprefix("models/"), anthropic))
        return web.json_response(error_body(wire, 404), status=404)

    async def _answer(self, request: web.Request, asked: Asked, turn: Turn, number: int) -> web.StreamResponse:
        serial = next(self._serial)
        words = WIRES[asked.wire]
        if isinstance(turn, Fail | ContextFull) or (isinstance(turn, Filter) and bad_request_alone(turn, asked)):
            status, body = error_of(turn, asked.wire)
            inside = isinstance(turn, Fail) and turn.in_stream
            if asked.stream and (inside or (isinstance(turn, ContextFull) and asked.wire is Wire.OPENAI_RESPONSES)):
                begun = answer_of(Say(text=""), asked, number, serial)
                first = next(iter(words.events(begun, asked, serial, 1)))
                error = words.error_event(body if isinstance(body, dict) else {"error": {"message": body}}, serial)
                return await _streamed(request, iter((first, error)), serial, 0.0)
            headers = turn.headers if isinstance(turn, Fail) else {}
            text = body if isinstance(body, str) else json.dumps(body)
            kind = "text/plain" if isinstance(body, str) else "application/json"
            return web.Response(status=status, text=text, content_type=kind, headers=headers)
        if isinstance(turn, Break | Hang) and turn.at == "start":
            await _hang(turn)
            raise _Cut
        answer = answer_of(turn, asked, number, serial)
        cut = turn if isinstance(turn, Break | Hang) else None
        if asked.stream:
            stream = words.events(answer, asked, serial, turn.piece)
            return await _streamed(request, stream, serial, turn.pause_sec, cut, len(answer.text) // turn.piece)
        data = json.dumps(words.whole(answer, asked, serial), ensure_ascii=False).encode()
        if cut is not None:
            response = web.StreamResponse(
                headers={"content-type": "application/json", "content-length": str(len(data))}
            )
            await response.prepare(request)
            await response.write(data[: len(data) // 2])
            await _hang(cut)
            raise _Cut
        if turn.pause_sec:
            await asyncio.sleep(turn.pause_sec)
        return web.Response(body=data, content_type="application/json", headers=_ids(serial))


async def _streamed(
    request: web.Request,
    events: Iterator[bytes],
    serial: int,
    pause: float,
    cut: Break | Hang | None = None,
    cut_after: int = 0,
) -> web.StreamResponse:
    response = web.StreamResponse(
        headers={"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache", **_ids(serial)}
    )
    await response.prepare(request)
    texts = 0
    for event in events:
        await response.write(event)
        texts += b"delta" in event
        if cut is not None and texts > cut_after // 2:
            await _hang(cut)
            raise _Cut
        if pause:
            await asyncio.sleep(pause)
    await response.write_eof()
    return response


async def _hang(turn: Break | Hang) -> None:
    if isinstance(turn, Hang):
        await (asyncio.sleep(turn.seconds) if turn.seconds else asyncio.Event().wait())


def _aside(script: Script, asked: Asked) -> str | None:
    for marker, said in script.asides.items():
        if marker in asked.last or marker in asked.system:
            return said
    return None


def _ids(serial: int) -> dict[str, str]:
    return {"x-request-id": f"req_{serial:06d}", "request-id": f"req_{serial:06d}"}


def _model(name: str, anthropic: bool) -> dict[str, Any]:
    if anthropic:
        return {"type": "model", "id": name, "display_name": name, "created_at": "2026-01-01T00:00:00Z"}
    return {"id": name, "object": "model", "created": 1767225600, "owned_by": "trialdeck"}
