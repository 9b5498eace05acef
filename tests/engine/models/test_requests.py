"""What is sent to a model, in each of the three protocols."""

from __future__ import annotations

from typing import Any

import pytest

from engine.models.conversation import Turn
from engine.models.scripted.script import Say
from engine.models.settings import Secret, Wire
from tests.engine.models.asked import HELLO, asking

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.filterwarnings("ignore:The model:DeprecationWarning"),  # the SDK's, of a model's end
]
every_wire = pytest.mark.parametrize("wire", Wire)

TALK = [Turn(role="user", text="one"), Turn(role="assistant", text="two"), Turn(role="user", text="three")]


async def sent(wire: Wire, talk: list[Turn] = TALK, system: str = "", **settings: Any) -> dict[str, Any]:
    async with asking(wire, Say(text="ok"), **settings) as asked:
        await asked.client.ask(talk, system=system)
        return asked.body


async def test_a_conversation_in_chat() -> None:
    assert await sent(Wire.OPENAI_CHAT, system="be kind") == {
        "model": "gpt-5",
        "messages": [
            {"role": "system", "content": "be kind"},
            {"role": "user", "content": "one"},
            {"role": "assistant", "content": "two"},
            {"role": "user", "content": "three"},
        ],
    }


async def test_a_conversation_in_responses_is_not_stored() -> None:
    assert await sent(Wire.OPENAI_RESPONSES, system="be kind") == {
        "model": "gpt-5",
        "instructions": "be kind",
        "input": [
            {"role": "user", "content": "one"},
            {"role": "assistant", "content": "two"},
            {"role": "user", "content": "three"},
        ],
        "store": False,
    }


async def test_a_conversation_in_messages_is_streamed_and_marked_to_be_cached() -> None:
    kept = {"cache_control": {"type": "ephemeral"}}
    assert await sent(Wire.ANTHROPIC, system="be kind") == {
        "model": "gpt-5",
        "max_tokens": 32_000,
        "stream": True,
        "system": [{"type": "text", "text": "be kind"} | kept],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "one"} | kept]},
            {"role": "assistant", "content": "two"},
            {"role": "user", "content": [{"type": "text", "text": "three"} | kept]},
        ],
    }


async def test_no_more_than_three_places_are_marked_however_long_the_talk() -> None:
    body = await sent(Wire.ANTHROPIC, TALK * 4, system="be kind")
    assert str(body).count("cache_control") == 3
    assert [isinstance(each["content"], list) for each in body["messages"]][-3:] == [True, False, True] or [
        isinstance(each["content"], list) for each in body["messages"]
    ].count(True) == 2


@every_wire
async def test_nothing_is_said_of_effort_temperature_and_limits_that_are_not_set(wire: Wire) -> None:
    body = await sent(wire)
    assert not {"temperature", "reasoning_effort", "reasoning", "output_config", "thinking"} & set(body)
    if wire is not Wire.ANTHROPIC:
        assert not {"max_tokens", "max_completion_tokens", "max_output_tokens"} & set(body)


@every_wire
async def test_a_temperature_is_sent_where_it_is_set(wire: Wire) -> None:
    assert (await sent(wire, temperature=0.0))["temperature"] == 0.0


@pytest.mark.parametrize(
    ("wire", "name", "effort", "expected"),
    [
        (Wire.OPENAI_CHAT, "gpt-5", "high", {"reasoning_effort": "high"}),
        (Wire.OPENAI_RESPONSES, "gpt-5", "xhigh", {"reasoning": {"effort": "xhigh"}}),
        (Wire.ANTHROPIC, "claude-opus-4-8", "max",
         {"output_config": {"effort": "max"}, "thinking": {"type": "adaptive"}}),
        (Wire.ANTHROPIC, "claude-opus-4-5-20251101", "low", {"output_config": {"effort": "low"}, "thinking": None}),
        (Wire.ANTHROPIC, "claude-sonnet-4-5", "8000",
         {"thinking": {"type": "enabled", "budget_tokens": 8000}, "output_config": None}),
        (Wire.ANTHROPIC, "claude-opus-4-8", "none", {"thinking": {"type": "disabled"}, "output_config": None}),
    ],
)  # fmt: skip
async def test_effort_is_said_in_the_protocols_own_way(
    wire: Wire, name: str, effort: str, expected: dict[str, object]
) -> None:
    body = await sent(wire, name=name, effort=effort)
    assert {key: body.get(key) for key in expected} == expected


@pytest.mark.parametrize(
    ("wire", "name", "key"),
    [
        (Wire.OPENAI_CHAT, "my-own", "max_tokens"),
        (Wire.OPENAI_CHAT, "gpt-5-mini", "max_completion_tokens"),
        (Wire.OPENAI_CHAT, "openai/o3", "max_completion_tokens"),
        (Wire.OPENAI_RESPONSES, "gpt-5", "max_output_tokens"),
        (Wire.ANTHROPIC, "claude-opus-5", "max_tokens"),
    ],
)
async def test_the_limit_of_an_answer_has_the_name_that_the_model_knows(wire: Wire, name: str, key: str) -> None:
    body = await sent(wire, name=name, max_output_tokens=1234)
    assert body[key] == 1234
    assert sum(1 for each in body if each.startswith("max_")) == 1


async def test_an_answer_leaves_room_in_a_small_context() -> None:
    assert (await sent(Wire.ANTHROPIC, context_tokens=8000))["max_tokens"] == 4000


@every_wire
async def test_extra_headers_are_sent_and_the_key_where_servers_look_for_it(wire: Wire) -> None:
    async with asking(wire, Say(text="ok"), headers={"X-Team": Secret("red")}) as asked:
        await asked.client.ask(HELLO)
        heard = asked.server.asked[-1]
    assert heard.headers["x-team"] == "red" and heard.key_right
    assert ("x-api-key" in heard.headers) is (wire is Wire.ANTHROPIC)
