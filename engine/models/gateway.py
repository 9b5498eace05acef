"""The way from a trial's `main` to the model: HTTP at a Unix socket, passed on to the model's server with the real key.

Requests and answers pass as they come. Nothing is tried again here, that is the program's own business; what passes is
read, and every call is told once when it is over.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from urllib.parse import urlsplit

import aiohttp
import anyio
from aiohttp import web
from multidict import CIMultiDict

from engine.issues import Code
from engine.models.answer_reading import AnswerReading
from engine.models.failures import failure_of_answer, failure_of_error
from engine.models.gateway_activity import GatewayActivity
from engine.models.gateway_call import GatewayCall
from engine.models.gateway_streams import MOST_REQUEST, AnswerBroken, HungUp, TooLarge, body_of, or_hung_up, pieces_of
from engine.models.key_mask import KeyMask
from engine.models.model_call import ModelCall, ModelFailure
from engine.models.scrubbed import scrubbed, secrets_of
from engine.models.settings import ModelSettings, Wire
from engine.models.speaking import ANSWER_SEC, CONNECT_SEC, SILENCE_SEC
from engine.models.unpacking import Unpacking, UnpackingFailed
from engine.models.way_upstream import Way, headers_back, headers_upstream, host_trust, passing_words, proxy_of, way_of
from engine.text import clean_line

SOCKET = "socket"
MOST_SOCKET_PATH = 107
MOST_CONNECTIONS = 128
MOST_AT_ONCE = 64
"""So many requests are under way at once; others wait."""
MOST_ANSWER = 256 << 20
MOST_ERROR = 1 << 20
MOST_HEADER = 64 << 10
IDLE_SEC = 300.0
DONT_TRY_AGAIN = ("x-should-retry", "false")
"""The providers' SDKs, and the programs built on them, obey it."""
CLOSE_SEC = 5.0
SHUTDOWN_SEC = 0.05


class GatewayUnusable(Exception):
    """The gateway can't listen where it is told to; says why and how to get out."""


class Gateway:
    """Listens while it is entered. Raises GatewayUnusable on entering.

    `on_call` is told of every request that asked the model, once, when it is over: answered, failed, or left alone by
    who asked; the last of them before leaving is done. `activity` is told of failures while they last.
    `first_number` numbers the calls (None: from 1).
    """

    def __init__(
        self,
        settings: ModelSettings,
        wire: Wire,
        folder: Path,
        *,
        on_call: Callable[[ModelCall], None],
        activity: Callable[[str], None],
        first_number: Callable[[], int] | None = None,
    ) -> None:
        self._settings = settings
        self._wire = wire
        self._path = folder / SOCKET
        self._on_call = on_call
        self._activity = GatewayActivity(activity)
        self._first_number = first_number
        self._count = 0
        self._room = asyncio.Semaphore(MOST_AT_ONCE)
        self._at_work: set[asyncio.Task[object]] = set()
        self._server: web.Server | None = None
        self._listener: asyncio.Server | None = None
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Gateway:
        size = len(os.fsencode(self._path))
        if size > MOST_SOCKET_PATH:
            raise GatewayUnusable(
                f"the gateway's socket {self._path} has a path of {size} bytes, of which the system takes "
                f"{MOST_SOCKET_PATH}: point TMPDIR at a shorter folder"
            )
        self._server = web.Server(
            self._serve,
            access_log=None,
            handler_cancellation=True,
            keepalive_timeout=IDLE_SEC,
            auto_decompress=False,
            max_line_size=MOST_HEADER,
            max_field_size=MOST_HEADER,
        )
        try:
            self._listener = await asyncio.get_running_loop().create_unix_server(self._connected, self._path)
            self._path.chmod(0o666)
        except OSError as error:
            self._stop_listening()
            raise GatewayUnusable(f"the gateway can't listen at {self._path}: {error.strerror or error}") from None
        # A connection of its own for each: servers that close an idle one just then would cost a try.
        connector = aiohttp.TCPConnector(force_close=True, limit=MOST_AT_ONCE, ssl=host_trust())
        self._session = aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SEC, sock_read=ANSWER_SEC),
            skip_auto_headers=("Accept", "Content-Type", "User-Agent"),
            max_line_size=MOST_HEADER,
            max_field_size=MOST_HEADER,
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with anyio.move_on_after(CLOSE_SEC, shield=True):
            self._stop_listening()
            at_work = list(self._at_work)
            for task in at_work:
                task.cancel()
            await asyncio.gather(*at_work, return_exceptions=True)
            if self._server is not None:
                await self._server.shutdown(SHUTDOWN_SEC)
            if self._session is not None:
                await self._session.close()

    def _stop_listening(self) -> None:
        if self._listener is not None:
            self._listener.close()
            with contextlib.suppress(OSError):
                self._path.unlink()

    def _connected(self) -> asyncio.Protocol:
        assert self._server is not None
        return _Busy() if len(self._server.connections) >= MOST_CONNECTIONS else self._server()

    async def _serve(self, request: web.BaseRequest) -> web.StreamResponse:
        way = way_of(self._settings, self._wire, request.method, request.raw_path)
        if way is None:
            # Codex tries a WebSocket first: told 426 it asks over HTTP at once, told 404 it tries again and again.
            status = 426 if request.headers.get("Upgrade", "").lower() == "websocket" else 404
            what = clean_line(f"{request.method} {request.raw_path}", 200)
            return self._said(status, f"{what}: {passing_words(self._wire)}", "not_found")
        if not way.url:
            return web.Response()
        self._count += way.asks
        number = self._first_number() if self._first_number is not None and way.asks else self._count
        call = GatewayCall(self._settings, self._wire, way.path, number)
        task = asyncio.current_task()
        assert task is not None
        self._at_work.add(task)
        try:
            if way.asks:
                self._activity.begins()
            async with self._room:
                return await self._pass_on(request, way, call)
        except asyncio.CancelledError:
            call.left()
            raise
        except HungUp:
            call.left()
            return _cut(request)
        except AnswerBroken as error:
            call.failed(error.failure)
            return _cut(request)
        finally:
            self._at_work.discard(task)
            if way.asks:
                self._activity.ends(call)
                call.over(self._on_call)

    async def _pass_on(self, request: web.BaseRequest, way: Way, call: GatewayCall) -> web.StreamResponse:
        assert self._session is not None
        if (request.content_length or 0) > MOST_REQUEST:
            return self._refused(call, 413, _too_large())
        trouble: list[Exception] = []
        headers = headers_upstream(self._settings, self._wire, request.headers)
        body = body_of(request, call, trouble) if request.can_read_body else None
        try:
            upstream = await self._session.request(
                request.method, way.url, headers=headers, data=body, allow_redirects=False, proxy=proxy_of(way.url)
            )
        except (aiohttp.ClientError, OSError, ValueError) as error:
            if isinstance(error, aiohttp.ClientResponseError):
                words = "what answers at that address speaks no HTTP that can be read"
                return self._refused(call, 502, ModelFailure(code=Code.MODEL_FAILED, words=words, retryable=True))
            if trouble and isinstance(trouble[0], TooLarge):
                return self._refused(call, 413, _too_large())
            if trouble:
                raise HungUp from None
            failure = failure_of_error(error)
            return self._refused(call, 504 if failure.code is Code.MODEL_TIMEOUT else 502, failure)
        async with upstream:
            call.headers = upstream.headers
            try:
                unpacking = Unpacking(upstream.headers.get("Content-Encoding", ""))
            except UnpackingFailed as error:
                return self._refused(call, 502, ModelFailure(code=Code.MODEL_FAILED, words=str(error)))
            if 300 <= upstream.status < 400:
                return self._refused(call, 502, _redirected(upstream))
            if upstream.status >= 400:
                return await self._error(upstream, unpacking, call)
            return await self._answer(request, upstream, unpacking, call)

    async def _error(
        self, upstream: aiohttp.ClientResponse, unpacking: Unpacking, call: GatewayCall
    ) -> web.StreamResponse:
        """An error passes whole, so that no key in it does."""
        body = bytearray()
        with contextlib.suppress(AnswerBroken):  # what came of it is told
            async with contextlib.aclosing(pieces_of(upstream, unpacking, SILENCE_SEC)) as pieces:
                async for piece in pieces:
                    body += piece[: MOST_ERROR - len(body)]
                    if len(body) >= MOST_ERROR:
                        break
        failure = call.failed(failure_of_answer(self._wire, upstream.status, upstream.headers, bytes(body)))
        text = scrubbed(body.decode("utf-8", "replace"), secrets_of(self._settings))
        headers = self._masked(headers_back(upstream.headers))
        if not failure.retryable:
            headers.setdefault(*DONT_TRY_AGAIN)
        return web.Response(status=upstream.status, reason=upstream.reason, body=text.encode(), headers=headers)

    async def _answer(
        self, request: web.BaseRequest, upstream: aiohttp.ClientResponse, unpacking: Unpacking, call: GatewayCall
    ) -> web.StreamResponse:
        streamed = upstream.content_type == "text/event-stream"
        reading = AnswerReading(self._wire, streamed=streamed)
        mask = KeyMask(self._settings)
        response = web.StreamResponse(
            status=upstream.status, reason=upstream.reason, headers=self._masked(headers_back(upstream.headers))
        )
        if upstream.content_length is not None and "Content-Encoding" not in upstream.headers:
            response.content_length = upstream.content_length
        size, passed_on = 0, True
        try:
            await or_hung_up(response.prepare(request))
            silence_sec = SILENCE_SEC if streamed else ANSWER_SEC
            async with contextlib.aclosing(pieces_of(upstream, unpacking, silence_sec)) as pieces:
                async for piece in pieces:
                    size += len(piece)
                    if size > MOST_ANSWER:
                        words = f"the answer is larger than {MOST_ANSWER >> 20} MiB"
                        raise AnswerBroken(ModelFailure(code=Code.MODEL_FAILED, words=words, status=upstream.status))
                    reading.feed(piece)
                    passed_on = False
                    if masked := mask.feed(piece):
                        await or_hung_up(response.write(masked))
                    passed_on = True
        except asyncio.CancelledError:  # a program that has its answer may leave before the server's end has come
            if passed_on and reading.whole:
                call.answer(reading.close())
            else:
                call.heard = reading.so_far()
            raise
        except (AnswerBroken, HungUp):
            call.heard = reading.so_far()
            raise
        call.answer(reading.close())
        await or_hung_up(response.write_eof(mask.rest()))
        return response

    def _refused(self, call: GatewayCall, status: int, failure: ModelFailure) -> web.StreamResponse:
        found = call.failed(failure)
        return self._said(status, found.words, "api_error", again=failure.retryable)

    def _said(self, status: int, words: str, kind: str, *, again: bool = False) -> web.Response:
        """An error of the gateway's own, as a provider of this wire says one."""
        headers = {} if again else dict([DONT_TRY_AGAIN])
        error = {"type": f"{kind}_error" if kind == "not_found" else kind, "message": f"trialdeck: {words}"}
        body = {"type": "error", "error": error} if self._wire is Wire.ANTHROPIC else {"error": {**error, "code": kind}}
        return web.json_response(body, status=status, headers=headers)

    def _masked(self, headers: CIMultiDict[str]) -> CIMultiDict[str]:
        secrets = secrets_of(self._settings)
        return CIMultiDict((name, scrubbed(value, secrets)) for name, value in headers.items())


def _cut(request: web.BaseRequest) -> web.Response:
    """The connection ends here, in the middle of whatever it is in; the response is for nobody."""
    if request.transport is not None:
        request.transport.abort()
    return web.Response()


class _Busy(asyncio.Protocol):
    """For a connection above the bound."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        transport.write(b"HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\ncontent-length: 0\r\n\r\n")
        transport.close()


def _too_large() -> ModelFailure:
    words = f"the request is larger than {MOST_REQUEST >> 20} MiB"
    return ModelFailure(code=Code.MODEL_CONTEXT_FULL, words=words, status=413)


def _redirected(upstream: aiohttp.ClientResponse) -> ModelFailure:
    to = clean_line(urlsplit(upstream.headers.get("Location", "")).netloc, 200) or "another path"
    words = f"the server sends on to {to}, which is not followed with a key: base_url must be the address itself"
    return ModelFailure(code=Code.MODEL_FAILED, words=words, status=upstream.status)
