"""The gateway: what passes, what doesn't, and what is told of it."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import aiohttp
import pytest

from engine.issues import Code
from engine.models.model_call import CostSource, Stop
from engine.models.scripted.script import (
    ContextFull,
    CutOff,
    Fail,
    Filter,
    Malformed,
    Refuse,
    Run,
    Say,
    Tokens,
    Turn,
    Use,
)
from engine.models.settings import Secret, Wire
from tests.engine.models.gateways import (
    KEY,
    PATHS,
    answer,
    chat_answer,
    gateway,
    played,
    request_of,
    saying,
    scripted,
    settings,
)

pytestmark = pytest.mark.anyio

WIRES = pytest.mark.parametrize("wire", list(Wire))
STREAMED = pytest.mark.parametrize("stream", [False, True], ids=["plain", "streamed"])
TOKENS = Tokens(tokens_in=1000, tokens_out=90, cached=600, cache_written=100, reasoning=30)
SHELL = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}
TOOLS: dict[Wire, Any] = {
    Wire.OPENAI_CHAT: [{"type": "function", "function": {"name": "bash", "parameters": SHELL}}],
    Wire.OPENAI_RESPONSES: [{"type": "function", "name": "bash", "parameters": SHELL}],
    Wire.ANTHROPIC: [{"name": "bash", "input_schema": SHELL}],
}


@WIRES
@STREAMED
async def test_an_answer_passes_unchanged_and_its_tokens_stop_and_model_are_told(wire: Wire, stream: bool) -> None:
    async with scripted(wire, Say(text="hello there", tokens=TOKENS)) as (opened, server):
        status, said = await opened.ask(stream=stream)
        async with aiohttp.ClientSession(headers={"authorization": f"Bearer {KEY}"}) as direct:
            url = server.base_url(wire).removesuffix("/v1") + PATHS[wire]
            async with direct.post(url, json=opened.body(stream=stream)) as same:
                unchanged = await same.text()
    assert status == 200
    assert said.replace("000001", "000002").replace("1767225601", "1767225602") == unchanged
    (call,) = opened.calls
    usage = call.usage
    assert (usage.tokens_in, usage.tokens_cached, usage.tokens_cache_written, usage.tokens_out) == (1000, 600, 100, 90)
    if wire is not Wire.ANTHROPIC:
        assert usage.tokens_reasoning == 30
    assert (call.number, call.path, call.model, call.stop) == (1, PATHS[wire], "m", Stop.END)
    assert (call.failure, call.hung_up) == (None, False)


@WIRES
async def test_the_real_key_reaches_the_server_and_no_dummy_does(wire: Wire) -> None:
    heard: dict[str, str] = {}

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.update((await request_of(reader))[1])
        writer.write(answer(b"{}"))
        writer.close()

    extra = {"X-Team": Secret("benchmarks"), "api-key": Secret("of-the-arm")}
    given = {
        "authorization": "Bearer dummy",
        "x-api-key": "dummy",
        "api-key": "dummy",
        "cookie": "dummy",
        "x-team": "dummy",
        "x-forwarded-for": "dummy",
        "connection": "x-private, keep-alive",
        "x-private": "dummy",
        "anthropic-beta": "some-beta",
    }
    async with (
        played(serve, wire, headers=extra) as opened,
        opened.client.post(PATHS[wire], json=opened.body(), headers=given) as said,
    ):
        await said.read()
    key = {"x-api-key": KEY} if wire is Wire.ANTHROPIC else {"authorization": f"Bearer {KEY}"}
    assert heard.items() >= {**key, "x-team": "benchmarks", "api-key": "of-the-arm"}.items()
    assert heard["anthropic-beta"] == "some-beta"
    assert heard["accept-encoding"] == "identity"
    assert not [name for name, value in heard.items() if "dummy" in value]


@pytest.mark.parametrize(
    ("wire", "base", "asked", "reached"),
    [
        (Wire.OPENAI_CHAT, "/v1", "/v1/chat/completions", "/v1/chat/completions"),
        (Wire.OPENAI_CHAT, "/v1", "/chat/completions", "/v1/chat/completions"),
        (Wire.OPENAI_CHAT, "/openai", "/v1/chat/completions", "/openai/chat/completions"),
        (Wire.OPENAI_CHAT, "", "/v1/chat/completions?api-version=1", "/chat/completions?api-version=1"),
        (Wire.OPENAI_RESPONSES, "/v1", "/v1/responses", "/v1/responses"),
        (Wire.OPENAI_RESPONSES, "/v1", "/responses", "/v1/responses"),
        (Wire.ANTHROPIC, "", "/v1/messages?beta=true", "/v1/messages?beta=true"),
        (Wire.ANTHROPIC, "/v1", "/v1/messages", "/v1/messages"),
        (Wire.ANTHROPIC, "/claude", "/messages", "/claude/v1/messages"),
        (Wire.ANTHROPIC, "", "/v1/messages/count_tokens", "/v1/messages/count_tokens"),
    ],
)
async def test_addresses_with_and_without_v1_come_together(wire: Wire, base: str, asked: str, reached: str) -> None:
    lines: list[str] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        lines.append((await request_of(reader))[0])
        writer.write(answer(chat_answer()))
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}{base}"
    async with server, gateway(settings(address, wire)) as opened:
        assert (await opened.ask(path=asked))[0] == 200
    assert lines == [f"POST {reached} HTTP/1.1"]


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/v1/files"),
        ("POST", "/v1/files"),
        ("GET", "/v1/organization/admin_api_keys"),
        ("DELETE", "/v1/models/m"),
        ("GET", "/v1/chat/completions"),
        ("POST", "/v1/responses"),
        ("POST", "/v1/messages"),
        ("POST", "/v1/chat/completions/../files"),
        ("POST", "/v1/../v1/chat/completions"),
        ("GET", "/v1/models/../files"),
        ("GET", "/v1/models/.."),
        ("POST", "/v1//chat/completions"),
        ("POST", "/v1/v1/chat/completions"),
        ("POST", "/v1/chat%2fcompletions"),
        ("POST", "//elsewhere.example/v1/chat/completions"),
    ],
)
async def test_nothing_but_asking_the_model_passes(method: str, path: str) -> None:
    """The key may open more than the model: none of it is open to what runs in `main`."""
    async with scripted(Wire.OPENAI_CHAT, Say(text="one")) as (opened, server):
        reader, writer = await asyncio.open_unix_connection(opened.socket)
        writer.write(f"{method} {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: 0\r\n\r\n".encode())
        said = await reader.read(-1)
        writer.close()
        assert said.startswith(b"HTTP/1.1 404 ")
        assert b"POST /v1/chat/completions and GET /v1/models pass, nothing else" in said
        assert server.requests == []
    assert opened.calls == []


async def test_questions_beside_the_model_pass_and_are_no_calls() -> None:
    async with scripted(Wire.ANTHROPIC, Say(text="one")) as (opened, server):
        async with opened.client.head("/") as there:
            assert there.status == 200
        async with opened.client.get("/v1/models") as models:
            assert (await models.json())["data"][0]["id"] == "scripted"
        async with opened.client.get("/v1/models/a-model") as model:
            assert (await model.json())["id"] == "a-model"
        async with opened.client.post("/v1/messages/count_tokens", json=opened.body()) as counted:
            assert (await counted.json())["input_tokens"] > 0
        assert [heard.path for heard in server.requests] == [
            "/v1/models",
            "/v1/models/a-model",
            "/v1/messages/count_tokens",
        ]
    assert opened.calls == []


@WIRES
@STREAMED
@pytest.mark.parametrize(
    ("turn", "status", "code", "again"),
    [
        (Fail(status=401), 401, Code.MODEL_AUTH_FAILED, False),
        (Fail(status=429, headers={"retry-after": "7"}), 429, Code.MODEL_RATE_LIMITED, True),
        (Fail(status=500), 500, Code.MODEL_FAILED, True),
        (Fail(status=529, body="overloaded"), 529, Code.MODEL_OVERLOADED, True),
        (Filter(), 400, Code.MODEL_FILTERED, False),
        (Fail(status=504), 504, Code.MODEL_TIMEOUT, True),
    ],
    ids=lambda value: type(value).__name__ + str(getattr(value, "status", "")) if isinstance(value, Turn) else "",
)
async def test_failures_pass_as_they_are_and_are_told(
    wire: Wire, stream: bool, turn: Turn, status: int, code: Code, again: bool
) -> None:
    async with scripted(wire, turn, Say(text="one")) as (opened, _):
        async with opened.client.post(PATHS[wire], json=opened.body(stream=stream)) as failed:
            assert failed.status == status
            assert failed.headers.get("retry-after") == ("7" if status == 429 else None)
            assert failed.headers.get("x-should-retry") == (None if again else "false")
        assert (await opened.ask(stream=stream))[0] == 200
    first, second = opened.calls
    assert first.failure is not None
    assert (first.failure.code, first.failure.status, first.failure.retryable) == (code, status, again)
    assert first.failure.retry_after_sec == (7.0 if status == 429 else None)
    assert (second.number, second.failure) == (2, None)


@WIRES
async def test_an_error_inside_a_stream_is_a_failure(wire: Wire) -> None:
    async with scripted(wire, Fail(status=529, in_stream=True, body=_overloaded(wire))) as (opened, _):
        status, said = await opened.ask(stream=True)
    assert status == 200
    assert "overloaded" in said
    (call,) = opened.calls
    assert call.failure is not None
    assert (call.failure.code, call.failure.retryable) == (Code.MODEL_OVERLOADED, True)


def _overloaded(wire: Wire) -> dict[str, Any]:
    if wire is Wire.ANTHROPIC:
        return {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    return {"error": {"code": "server_is_overloaded", "message": "overloaded", "type": "server_error"}}


@WIRES
@STREAMED
@pytest.mark.parametrize(
    ("turn", "stop", "code"),
    [
        (CutOff(), Stop.LENGTH, None),
        (Refuse(), Stop.REFUSAL, Code.MODEL_REFUSED),
        (Run(command="ls"), Stop.TOOL, None),
        (Malformed(), Stop.MALFORMED, None),
        (Use(tool="bash"), Stop.TOOL, None),
    ],
    ids=["cut off", "refused", "called", "malformed", "no arguments"],
)
async def test_how_an_answer_ended_is_told(wire: Wire, stream: bool, turn: Turn, stop: Stop, code: Code | None) -> None:
    async with scripted(wire, turn) as (opened, _):
        assert (await opened.ask(stream=stream, tools=TOOLS[wire]))[0] == 200
    (call,) = opened.calls
    if isinstance(turn, Malformed) and wire is Wire.ANTHROPIC and not stream:
        stop = Stop.TOOL  # an answer in one piece can't hold broken arguments
    assert call.stop is stop
    assert (call.failure.code if call.failure is not None else None) is code


async def test_a_full_context_told_inside_a_stream_is_one() -> None:
    async with scripted(Wire.OPENAI_RESPONSES, ContextFull()) as (opened, _):
        assert (await opened.ask(stream=True))[0] == 200
    assert opened.calls[0].failure is not None
    assert opened.calls[0].failure.code is Code.MODEL_CONTEXT_FULL


@STREAMED
async def test_cost_is_the_providers_else_of_the_price_table_else_unknown(stream: bool) -> None:
    """Cases 67 and 68."""
    tokens = Tokens(tokens_in=1_270_492, tokens_out=8_679, cached=1_202_176)
    turns = Say(text="one", tokens=tokens, cost_usd=0.0)
    async with scripted(Wire.OPENAI_CHAT, turns, name="gpt-5") as (opened, _):
        await opened.ask(stream=stream, model="gpt-5")
    assert (opened.calls[0].cost_usd, opened.calls[0].cost_source) == (0.0, CostSource.PROVIDER)
    async with scripted(Wire.OPENAI_CHAT, Say(text="one", tokens=tokens), name="gpt-5") as (opened, _):
        await opened.ask(stream=stream, model="gpt-5")
        await opened.ask(stream=stream, model="a-model-without-a-price")
    priced, unknown = opened.calls
    assert priced.cost_source is CostSource.PRICES
    assert priced.cost_usd == pytest.approx(0.3225, abs=1e-4)
    assert (unknown.model, unknown.cost_usd, unknown.cost_source) == ("a-model-without-a-price", None, None)


async def test_usage_that_nobody_told_is_unknown_and_not_zero() -> None:
    async with scripted(Wire.OPENAI_CHAT, Say(text="one", told=False)) as (opened, _):
        await opened.ask()
    assert (opened.calls[0].usage.tokens_in, opened.calls[0].cost_usd) == (None, None)


async def test_a_failure_told_in_an_answers_place_is_a_failure() -> None:
    """Case 62: a gateway gave up, and says so with status 200 in the model's place."""
    said = "API call failed after 3 retries: HTTP 429: RateLimitError"
    body = json.dumps({"choices": [{"message": {"content": said}, "finish_reason": "stop"}], "usage": {}}).encode()
    async with played(saying(answer(body))) as opened:
        assert (await opened.ask())[0] == 200
    assert opened.calls[0].failure is not None
    assert opened.calls[0].failure.code is Code.MODEL_RATE_LIMITED


async def test_failures_in_a_row_are_shown_while_they_last() -> None:
    async with scripted(Wire.ANTHROPIC, Fail(status=429, times=2), Say(text="one")) as (opened, _):
        for _ in range(4):
            await opened.ask()
    assert opened.shown == [
        "model: 429, once",
        "model: 429, try 2",
        "model: 429, 2 times in a row",
        "model: 429, try 3",
        "model: answers again",
    ]


async def test_numbers_of_calls_can_be_given() -> None:
    numbers = iter((7, 9))
    async with gateway(settings("http://127.0.0.1:1/v1"), lambda: next(numbers)) as opened:
        for _ in range(2):
            assert (await opened.ask())[0] == 502
    assert [call.number for call in opened.calls] == [7, 9]
