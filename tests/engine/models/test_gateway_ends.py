"""A program that goes away, and a gateway that closes, while answers are under way."""

from __future__ import annotations

import asyncio

import aiohttp
import pytest

from engine.models.gateway import Gateway
from engine.models.model_call import Stop
from engine.models.scripted.script import Hang
from engine.models.settings import Wire
from tests.engine.models.gateways import (
    PATHS,
    SSE,
    Opened,
    chat_answer,
    chunk,
    event,
    played,
    request_of,
    saying,
    scripted,
    settings,
)

pytestmark = pytest.mark.anyio


async def test_a_program_that_goes_away_in_the_middle_ends_the_servers_work_and_is_told_once() -> None:
    gone = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await request_of(reader)
        try:
            writer.write(SSE)
            while True:
                writer.write(chunk(event("more")))
                await writer.drain()
                await asyncio.sleep(0)
        except ConnectionError:
            gone.set()

    async with played(serve) as opened:
        async with opened.client.post(PATHS[opened.wire], json=opened.body(stream=True)) as said:
            await said.content.readexactly(10)
            said.close()
        await gone.wait()
        await opened.told(1)
    (call,) = opened.calls
    assert (call.hung_up, call.answer_began, call.failure) == (True, True, None)
    assert opened.shown == []


@pytest.mark.parametrize("streamed", [True, False], ids=["streamed", "plain"])
async def test_a_program_that_goes_away_with_its_whole_answer_was_answered(streamed: bool) -> None:
    """It knows by what it read that nothing follows; the server's end of the answer comes later, or never."""
    last = event("done", "stop") + b"data: [DONE]\n\n" if streamed else chat_answer()
    head = SSE if streamed else SSE.replace(b"text/event-stream", b"application/json")
    gone = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await request_of(reader)
        writer.write(head + chunk(last))
        await writer.drain()
        await gone.wait()
        writer.close()

    async with played(serve) as opened:
        async with opened.client.post(PATHS[opened.wire], json=opened.body(stream=streamed)) as said:
            assert await said.content.readexactly(len(last)) == last
            said.close()
        await opened.told(1)
        gone.set()
    (call,) = opened.calls
    assert (call.hung_up, call.answer_began, call.failure, call.stop) == (False, True, None, Stop.END)


async def test_a_program_that_goes_away_before_the_answer_is_told_once() -> None:
    async with scripted(Wire.ANTHROPIC, Hang()) as (opened, server):
        asking = asyncio.create_task(opened.ask())
        await server.heard(1)
        asking.cancel()
        await asyncio.wait([asking])
        await opened.told(1)
    (call,) = opened.calls
    assert (call.hung_up, call.answer_began, call.failure, call.usage.tokens_in) == (True, False, None, None)


async def test_a_program_that_goes_away_while_it_asks_is_told_once() -> None:
    async with played(saying(b"")) as opened:
        _, writer = await asyncio.open_unix_connection(opened.socket)
        writer.write(b"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\r\n{")
        await writer.drain()
        writer.transport.abort()
        await opened.told(1)
    (call,) = opened.calls
    assert (call.hung_up, call.failure) == (True, None)


async def test_what_is_under_way_when_the_gateway_closes_is_told_before_it_is_closed() -> None:
    async with scripted(Wire.ANTHROPIC, Hang(times=0)) as (opened, server):
        given = settings(server.base_url(Wire.ANTHROPIC), Wire.ANTHROPIC)
        folder = opened.socket.parent / "second"
        folder.mkdir()
        told: list[bool] = []
        own = asyncio.all_tasks()
        async with Gateway(
            given, given.wire, folder, on_call=lambda call: told.append(call.hung_up), activity=lambda text: None
        ):
            connector = aiohttp.UnixConnector(str(folder / "socket"))
            client = aiohttp.ClientSession("http://gateway", connector=connector)
            asking = [asyncio.create_task(_post(client)) for _ in range(5)]
            await server.heard(5)
            assert told == []
        assert told == [True] * 5
        ended = await asyncio.gather(*asking, return_exceptions=True)
        assert all(isinstance(each, aiohttp.ClientError) for each in ended)
        await client.close()
        left = asyncio.all_tasks() - own - set(asking)
        assert [task for task in left if "aiohttp" in repr(task) or "engine/models" in repr(task)] == []


async def _post(client: aiohttp.ClientSession) -> None:
    async with client.post("/v1/messages", json={}) as said:
        await said.read()


async def test_closing_while_the_trial_is_cancelled_still_closes_all() -> None:
    inside = asyncio.Event()
    kept: list[Opened] = []

    async def work() -> None:
        async with scripted(Wire.ANTHROPIC, Hang()) as (opened, server):
            kept.append(opened)
            async with asyncio.TaskGroup() as group:
                group.create_task(opened.ask())
                await server.heard(1)
                inside.set()

    task = asyncio.create_task(work())
    await inside.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not kept[0].socket.exists()
    assert [call.hung_up for call in kept[0].calls] == [True]
