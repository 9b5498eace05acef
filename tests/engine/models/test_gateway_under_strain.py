"""The gateway between slow, broken, hostile and vanishing servers and programs."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import json
import tracemalloc
import zlib
from collections.abc import Callable

import aiohttp
import pytest

from engine.issues import Code
from engine.models import gateway as gateway_module
from engine.models import gateway_streams
from engine.models.model_call import Stop
from engine.models.scripted.script import Fail, Hang, Say
from engine.models.settings import Secret, Wire
from tests.engine.models.gateways import (
    KEY,
    PATHS,
    SSE,
    Opened,
    answer,
    chat_answer,
    chunk,
    event,
    gateway,
    played,
    request_of,
    saying,
    scripted,
    settings,
)

pytestmark = pytest.mark.anyio


async def broken(opened: Opened, *, stream: bool) -> bytes:
    """What came of an answer that broke off."""
    got = bytearray()
    with pytest.raises((aiohttp.ClientPayloadError, aiohttp.ClientConnectionError)):
        async with opened.client.post(PATHS[opened.wire], json=opened.body(stream=stream)) as said:
            async for piece in said.content.iter_any():
                got += piece
    return bytes(got)


async def test_an_event_passes_before_the_next_one_is_sent() -> None:
    seen = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await request_of(reader)
        writer.write(SSE + chunk(event("one")))
        await seen.wait()
        writer.write(chunk(event("two", "stop")) + b"0\r\n\r\n")
        writer.close()

    async with played(serve) as opened, opened.client.post(PATHS[opened.wire], json=opened.body(stream=True)) as said:
        assert await said.content.readany() == event("one")
        seen.set()
        assert await said.content.read() == event("two", "stop")
    assert (opened.calls[0].stop, opened.calls[0].failure) == (Stop.END, None)


@pytest.mark.parametrize(
    "data",
    [
        SSE + chunk(event("one")),
        SSE + chunk(event("one")) + b"ff\r\nhalf a chunk",
    ],
    ids=["no last chunk", "half a chunk"],
)
async def test_a_stream_cut_in_its_middle_is_cut_for_the_program_and_told(data: bytes) -> None:
    async with played(saying(data)) as opened:
        got = await broken(opened, stream=True)
    assert event("one").startswith(got[: len(event("one"))])
    (call,) = opened.calls
    assert call.failure is not None
    assert (call.failure.code, call.failure.retryable) == (Code.MODEL_UNREACHABLE, True)
    assert call.failure.words == "the server's connection broke in the middle of its answer"
    assert not call.hung_up


async def test_garbage_in_a_stream_cuts_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gateway_streams, "LOOK_SEC", 0.05)
    seen = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await request_of(reader)
        writer.write(SSE + chunk(event("one")))
        await seen.wait()
        writer.write(b"no length\r\n")
        writer.close()

    async with played(serve) as opened:
        with pytest.raises((aiohttp.ClientPayloadError, aiohttp.ClientConnectionError)):
            async with opened.client.post(PATHS[opened.wire], json=opened.body(stream=True)) as said:
                assert await said.content.readany() == event("one")
                seen.set()
                await said.content.read()
    assert opened.calls[0].failure is not None
    assert opened.calls[0].failure.code is Code.MODEL_UNREACHABLE


async def test_a_server_that_speaks_no_http_is_told_as_one() -> None:
    async with played(saying(b"220 mail.example ESMTP\r\n")) as opened:
        status, said = await opened.ask()
    assert status == 502
    assert "speaks no HTTP that can be read" in said
    assert opened.calls[0].failure is not None
    assert opened.calls[0].failure.code is Code.MODEL_FAILED


async def test_a_plain_answer_shorter_than_told_is_cut_for_the_program_and_told() -> None:
    async with played(saying(answer(chat_answer())[:-5])) as opened:
        await broken(opened, stream=False)
    assert opened.calls[0].failure is not None
    assert opened.calls[0].failure.code is Code.MODEL_UNREACHABLE


async def test_a_stream_that_ends_before_its_answer_does_is_a_failure() -> None:
    async with played(saying(SSE + chunk(event("half")) + b"0\r\n\r\n")) as opened:
        assert await opened.ask(stream=True) == (200, event("half").decode())
    assert opened.calls[0].failure is not None
    assert opened.calls[0].failure.words == "the server ended the stream before the answer was whole"


@pytest.mark.parametrize("packed", [gzip.compress, zlib.compress], ids=["gzip", "deflate"])
async def test_packed_answers_come_unpacked_and_are_read(packed: Callable[[bytes], bytes]) -> None:
    name = "gzip" if packed is gzip.compress else "deflate"
    data = answer(packed(chat_answer()), f"content-encoding: {name}")
    stream = packed(event("one") + event("two", "stop"))
    streamed = SSE.replace(b"\r\n\r\n", f"\r\ncontent-encoding: {name}\r\n\r\n".encode())
    pieces = b"".join(chunk(stream[at : at + 1]) for at in range(len(stream)))
    async with played(saying(data)) as opened:
        assert await opened.ask() == (200, chat_answer().decode())
    assert opened.calls[0].usage.tokens_in == 10
    async with played(saying(streamed + pieces + b"0\r\n\r\n")) as opened:
        assert await opened.ask(stream=True) == (200, (event("one") + event("two", "stop")).decode())
    assert opened.calls[0].stop is Stop.END


@pytest.mark.parametrize("body", [gzip.compress(chat_answer())[:-9], b"not packed at all"], ids=["cut", "not packed"])
async def test_a_packed_answer_that_is_none_breaks_and_is_told(body: bytes) -> None:
    async with played(saying(answer(body, "content-encoding: gzip"))) as opened:
        await broken(opened, stream=False)
    assert opened.calls[0].failure is not None
    assert "packed" in opened.calls[0].failure.words


async def test_a_server_that_never_answers_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gateway_module, "ANSWER_SEC", 0.05)
    async with scripted(Wire.ANTHROPIC, Hang()) as (opened, _):
        status, _ = await opened.ask()
    assert status == 504
    assert opened.calls[0].failure is not None
    assert (opened.calls[0].failure.code, opened.calls[0].failure.retryable) == (Code.MODEL_TIMEOUT, True)


async def test_a_stream_that_falls_silent_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gateway_module, "SILENCE_SEC", 0.05)
    async with scripted(Wire.OPENAI_RESPONSES, Hang(at="middle", piece=4)) as (opened, _):
        got = await broken(opened, stream=True)
    assert got.startswith(b"event: response.created")
    assert opened.calls[0].failure is not None
    assert opened.calls[0].failure.code is Code.MODEL_TIMEOUT
    assert opened.calls[0].failure.words == "nothing was heard of the server for 0.05 s in the middle of its answer"


async def test_forty_requests_are_under_way_at_once() -> None:
    """Each is answered only when all of them have arrived."""
    came = 0
    all_there = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal came
        _, _, body = await request_of(reader)
        came += 1
        if came == 40:
            all_there.set()
        await all_there.wait()
        writer.write(answer(chat_answer(model=json.loads(body)["model"])))
        writer.close()

    async with played(serve) as opened:
        said = await asyncio.gather(*(opened.ask(model=f"m{number}") for number in range(40)))
    assert [json.loads(text)["model"] for _, text in said] == [f"m{number}" for number in range(40)]
    assert sorted(call.number for call in opened.calls) == list(range(1, 41))
    assert {call.model for call in opened.calls} == {f"m{number}" for number in range(40)}


async def test_requests_above_the_bound_wait_and_connections_above_theirs_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(gateway_module, "MOST_AT_ONCE", 2)
    monkeypatch.setattr(gateway_module, "MOST_CONNECTIONS", 4)
    at_once = most = 0
    two = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal at_once, most
        await request_of(reader)
        at_once += 1
        most = max(most, at_once)
        if at_once == 2:
            two.set()
        await two.wait()
        at_once -= 1
        writer.write(answer(chat_answer()))
        writer.close()

    async with played(serve) as opened:
        said = await asyncio.gather(*(opened.ask() for _ in range(4)))
        assert [status for status, _ in said] == [200] * 4
        assert most == 2
        reader, writer = await asyncio.open_unix_connection(opened.socket)
        assert (await reader.read(-1)).startswith(b"HTTP/1.1 503 ")
        writer.close()
    assert len(opened.calls) == 4


@pytest.mark.parametrize("wire", list(Wire))
async def test_a_key_in_an_error_reaches_nobody(wire: Wire) -> None:
    words = f"Incorrect API key provided: {KEY}. Also {json.dumps(KEY)} and header Bearer {KEY}"
    body = json.dumps(
        {"error": {"message": words, "type": "invalid_request_error", "code": "invalid_api_key"}}
    ).encode()
    data = answer(body, f"x-debug: {KEY}", status="401 Unauthorized")
    async with played(saying(data), wire) as opened, opened.client.post(PATHS[wire], json=opened.body()) as said:
        shown = await said.text() + repr(said.headers)
    assert opened.calls[0].failure is not None
    assert opened.calls[0].failure.code is Code.MODEL_AUTH_FAILED
    assert "Incorrect API key provided" in shown
    for text in (shown, repr(opened.calls), *opened.shown):
        assert KEY not in text


async def test_a_key_in_a_stream_reaches_nobody_wherever_it_is_cut() -> None:
    said = event(f"your key is {KEY}, and another: {KEY[:9]}", "stop")
    extra = {"X-Auth": Secret("Bearer of-a-second-secret"), "X-Team": Secret("another")}
    for size in (1, 7, len(said)):
        pieces = b"".join(chunk(said[at : at + size]) for at in range(0, len(said), size))
        async with played(saying(SSE + pieces + b"0\r\n\r\n"), headers=extra) as opened:
            status, text = await opened.ask(stream=True)
        assert status == 200
        assert text == said.decode().replace(KEY, "*" * len(KEY))


async def test_a_key_in_a_plain_answer_is_masked_in_its_length() -> None:
    async with played(saying(answer(json.dumps({"say": f"{KEY} of-a-second-secret"}).encode()))) as opened:
        assert json.loads((await opened.ask())[1]) == {"say": f"{'*' * len(KEY)} of-a-second-secret"}


@pytest.mark.parametrize("stream", [False, True], ids=["plain", "streamed"])
async def test_a_huge_answer_passes_in_bounded_memory(stream: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.models.answer_reading.MOST_COPY", 1 << 20)
    piece = event("x" * 60_000) if stream else b"x" * 60_000
    count = 700

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await request_of(reader)
        kind = b"text/event-stream" if stream else b"application/json"
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: " + kind + b"\r\nconnection: close\r\n\r\n")
        for _ in range(count):
            writer.write(piece)
            await writer.drain()
        writer.close()

    async with played(serve) as opened:
        tracemalloc.start()
        try:
            size = 0
            async with opened.client.post(PATHS[opened.wire], json=opened.body(stream=stream)) as said:
                async for got in said.content.iter_any():
                    size += len(got)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert size == count * len(piece)
    assert peak < 8 << 20


async def test_a_program_that_reads_slowly_slows_the_server() -> None:
    """Nothing is heaped up between the two."""
    stalled = asyncio.Event()
    sent = 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        await request_of(reader)
        writer.write(SSE)
        for _ in range(1000):
            writer.write(chunk(b"x" * 60_000))
            try:
                async with asyncio.timeout(0.5):
                    await writer.drain()
            except TimeoutError:
                stalled.set()
                break
            sent += 60_000
        writer.close()

    async with played(serve) as opened, opened.client.post(PATHS[opened.wire], json=opened.body(stream=True)):
        await stalled.wait()
    assert sent < 30_000_000


async def test_an_answer_without_an_end_is_cut_at_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gateway_module, "MOST_ANSWER", 1 << 20)
    packed = gzip.compress(b"\0" * (64 << 20))
    async with played(saying(answer(packed, "content-encoding: gzip"))) as opened:
        got = await broken(opened, stream=False)
    assert len(got) <= 1 << 20
    assert opened.calls[0].failure is not None
    assert opened.calls[0].failure.words == "the answer is larger than 1 MiB"


@pytest.mark.parametrize("told", [True, False], ids=["told", "untold"])
async def test_a_request_that_is_too_large_is_refused(told: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (gateway_module, gateway_streams):
        monkeypatch.setattr(module, "MOST_REQUEST", 1 << 20)
    large = b"x" * (2 << 20)

    async def pieces() -> object:
        yield large

    async def swallow(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            await reader.read(-1)
        writer.close()

    async with played(swallow) as opened:
        data = large if told else pieces()
        async with opened.client.post(PATHS[opened.wire], data=data) as said:
            assert said.status == 413
            assert "the request is larger than 1 MiB" in await said.text()
    assert opened.calls[0].failure is not None
    assert (opened.calls[0].failure.code, opened.calls[0].failure.status) == (Code.MODEL_CONTEXT_FULL, 413)


async def test_a_request_of_unknown_length_passes_as_it_comes() -> None:
    seen = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b'{"model": "m"')
        seen.set()
        await reader.readuntil(b"0\r\n\r\n")
        writer.write(answer(chat_answer()))
        writer.close()

    async def pieces() -> object:
        yield b'{"model": "m"'
        await seen.wait()
        yield b"}"

    async with played(serve) as opened, opened.client.post(PATHS[opened.wire], data=pieces()) as said:
        assert said.status == 200


async def test_what_is_no_http_is_no_call() -> None:
    async with gateway(settings("http://127.0.0.1:1/v1")) as opened:
        for garbage in (
            b"\x16\x03\x01 a handshake\r\n\r\n",
            b"GET / HTTP/9.9\r\n\r\n",
            b"x: " + b"y" * 100_000 + b"\r\n\r\n",
        ):
            reader, writer = await asyncio.open_unix_connection(opened.socket)
            writer.write(garbage)
            with contextlib.suppress(ConnectionError):
                assert b" 400 " in await reader.readline()
            writer.close()
        assert (await opened.ask())[0] == 502
    assert len(opened.calls) == 1


async def test_failures_in_between_do_not_wear_the_gateway_out() -> None:
    async with scripted(Wire.OPENAI_CHAT, Fail(status=500, times=50), Say(text="one")) as (opened, _):
        for _ in range(50):
            assert (await opened.ask())[0] == 500
        assert (await opened.ask())[0] == 200
    assert [call.number for call in opened.calls] == list(range(1, 52))
