"""A model asked over the providers' own SDKs, in three protocols, by a server that fails on command (cases 62, 64, 67,
68)."""

from __future__ import annotations

import itertools
import sys

import anyio
import pytest

from engine.issues import Code
from engine.models import answer_bound
from engine.models.connect import load_sdk
from engine.models.model_call import CostSource, ModelCallFailed, ModelFailure, Stop, Usage
from engine.models.retries import MOST_TRIES
from engine.models.scripted.script import (
    Break,
    ContextFull,
    CutOff,
    Empty,
    Fail,
    Filter,
    Hang,
    Refuse,
    Say,
    Tokens,
    Turn,
)
from engine.models.settings import Wire
from tests.engine.models.asked import HELLO, KEY, Asked, asking

pytestmark = pytest.mark.anyio
every_wire = pytest.mark.parametrize("wire", Wire)

TOKENS = Tokens(tokens_in=1000, tokens_out=90, cached=600, cache_written=100, reasoning=30)
OPENAI = (Wire.OPENAI_CHAT, Wire.OPENAI_RESPONSES)


async def failed(asked: Asked) -> ModelFailure:
    with pytest.raises(ModelCallFailed) as raised:
        await asked.client.ask(HELLO)
    assert KEY not in str(raised.value)
    assert raised.value.tries == len(asked.calls)
    assert asked.calls[-1].failure == raised.value.failure
    return raised.value.failure


@every_wire
async def test_an_answer_brings_its_text_its_thoughts_its_counts_and_its_price(wire: Wire) -> None:
    """Case 67."""
    async with asking(wire, Say(text="hi", reasoning="let me think", tokens=TOKENS)) as asked:
        reply = await asked.client.ask(HELLO, system="be kind")
    assert (reply.text, reply.reasoning, reply.stop, reply.tries) == ("hi", "let me think", Stop.END, 1)
    usage = reply.usage
    assert (usage.tokens_in, usage.tokens_cached, usage.tokens_cache_written, usage.tokens_out, usage.odd) == (
        1000,
        600,
        100,
        90,
        "",
    )
    assert usage.tokens_reasoning == (None if wire is Wire.ANTHROPIC else 30)
    assert reply.cost_usd == pytest.approx((400 * 1.25 + 600 * 0.125 + 90 * 10) / 1e6)
    assert reply.cost_source is CostSource.PRICES
    [call] = asked.calls
    assert (call.number, call.usage, call.cost_usd, call.failure, call.stop) == (
        1,
        usage,
        reply.cost_usd,
        None,
        Stop.END,
    )
    assert call.path == {
        Wire.OPENAI_CHAT: "/chat/completions",
        Wire.OPENAI_RESPONSES: "/responses",
        Wire.ANTHROPIC: "/v1/messages",
    }[wire]  # fmt: skip


@pytest.mark.parametrize("wire", OPENAI)
async def test_the_providers_own_cost_goes_before_the_price_table(wire: Wire) -> None:
    """Case 68."""
    async with asking(wire, Say(text="hi", tokens=TOKENS, cost_usd=0.0)) as asked:
        reply = await asked.client.ask(HELLO)
    assert (reply.cost_usd, reply.cost_source) == (0.0, CostSource.PROVIDER)


@every_wire
async def test_a_model_without_a_price_costs_nobody_knows_what(wire: Wire) -> None:
    """Case 68."""
    async with asking(wire, Say(text="hi", tokens=TOKENS), name="my-own") as asked:
        reply = await asked.client.ask(HELLO)
    assert (reply.cost_usd, reply.cost_source) == (None, None)
    assert reply.usage.tokens_in == 1000


@pytest.mark.parametrize("wire", OPENAI)
async def test_an_answer_without_counts_has_none_and_no_cost(wire: Wire) -> None:
    """Case 68."""
    async with asking(wire, Say(text="hi", told=False)) as asked:
        reply = await asked.client.ask(HELLO)
    assert (reply.usage, reply.cost_usd) == (Usage(), None)


@every_wire
@pytest.mark.parametrize(
    ("turn", "code"),
    [
        (Fail(status=429), Code.MODEL_RATE_LIMITED),
        (Fail(status=529), Code.MODEL_OVERLOADED),
        (Fail(status=500), Code.MODEL_FAILED),
        (Fail(status=502), Code.MODEL_FAILED),
        (Fail(status=503), Code.MODEL_OVERLOADED),
        (Fail(status=504), Code.MODEL_TIMEOUT),
        (Break(), Code.MODEL_UNREACHABLE),
        (Break(at="middle"), Code.MODEL_UNREACHABLE),
        (Fail(status=529, in_stream=True), Code.MODEL_OVERLOADED),
    ],
)
async def test_what_passes_is_tried_again_shown_and_counted(wire: Wire, turn: Turn, code: Code) -> None:
    """Case 62."""
    async with asking(wire, turn, Say(text="at last")) as asked:
        reply = await asked.client.ask(HELLO)
    assert (reply.text, reply.tries) == ("at last", 2)
    first, second = asked.calls
    assert first.failure is not None and (first.failure.code, first.failure.retryable) == (code, True)
    assert (first.number, first.cost_usd, second.number, second.failure) == (1, None, 2, None)
    [pause] = asked.time.pauses
    assert asked.shown[0].startswith("model: ") and asked.shown[0].endswith(f", try 2 of 6 in {pause:.0f} s")
    assert asked.shown[1:] == ["model: try 2 of 6", "model: answered at try 2"]


@every_wire
async def test_an_answer_without_an_end_is_given_up(wire: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answer_bound, "MOST_ANSWER", 1 << 20)
    async with asking(wire, Say(text="x" * (2 << 20), piece=1 << 16)) as asked:
        failure = await failed(asked)
    assert (failure.code, failure.retryable) == (Code.MODEL_FAILED, False)
    assert failure.words == "the answer is larger than 1 MiB" and len(asked.calls) == 1
    async with asking(wire, Say(text="x" * 500_000, piece=1 << 16)) as asked:
        assert len((await asked.client.ask(HELLO)).text) == 500_000


@every_wire
async def test_tries_are_bounded_and_the_last_failure_is_told(wire: Wire) -> None:
    """Case 62."""
    async with asking(wire, Fail(status=529, times=0)) as asked:
        failure = await failed(asked)
    assert (failure.code, failure.status) == (Code.MODEL_OVERLOADED, 529)
    assert [call.number for call in asked.calls] == list(range(1, MOST_TRIES + 1))
    assert asked.time.pauses == [1, 2, 4, 8, 16]


@every_wire
async def test_the_servers_wish_to_wait_is_honoured_within_the_bound(wire: Wire) -> None:
    async with asking(wire, Fail(status=429, headers={"retry-after": "30"}), Say(text="ok")) as asked:
        assert (await asked.client.ask(HELLO)).text == "ok"
        assert asked.time.pauses == [31.0]
        assert asked.shown[0] == "model: 429, try 2 of 6 in 31 s"
    async with asking(wire, Fail(status=429, headers={"retry-after": "7200"})) as asked:
        assert (await failed(asked)).retry_after_sec == 7200
        assert asked.time.pauses == []


@every_wire
@pytest.mark.parametrize(
    ("turn", "code"),
    [
        (Fail(status=401), Code.MODEL_AUTH_FAILED),
        (Fail(status=403), Code.MODEL_AUTH_FAILED),
        (Fail(status=400), Code.MODEL_CALL_MALFORMED),
        (Fail(status=404), Code.MODEL_CALL_MALFORMED),
        (Filter(), Code.MODEL_FILTERED),
        (Filter(midway=True), Code.MODEL_FILTERED),
        (Refuse(), Code.MODEL_REFUSED),
        (ContextFull(), Code.MODEL_CONTEXT_FULL),
        (Fail(status=429, body={"error": {"code": "insufficient_quota", "message": "pay"}}), Code.MODEL_AUTH_FAILED),
    ],
)
async def test_what_no_other_try_mends_is_asked_once(wire: Wire, turn: Turn, code: Code) -> None:
    """Case 64."""
    async with asking(wire, turn, Say(text="never heard")) as asked:
        failure = await failed(asked)
    assert (failure.code, failure.retryable, len(asked.calls)) == (code, False, 1)
    assert asked.time.pauses == [] and asked.shown == []


@every_wire
async def test_a_refusal_is_paid_for_and_counted(wire: Wire) -> None:
    """Cases 64 and 68: what a refusal used is not lost."""
    async with asking(wire, Refuse(tokens=TOKENS)) as asked:
        await failed(asked)
    [call] = asked.calls
    assert (call.stop, call.usage.tokens_in, call.cost_source) == (Stop.REFUSAL, 1000, CostSource.PRICES)
    assert call.cost_usd


@every_wire
async def test_an_answer_cut_off_by_its_limit_is_an_answer_that_says_so(wire: Wire) -> None:
    async with asking(wire, CutOff(text="half of it")) as asked:
        reply = await asked.client.ask(HELLO)
    assert (reply.text, reply.stop) == ("half of it", Stop.LENGTH)


@every_wire
async def test_an_empty_answer_is_not_taken_for_an_end(wire: Wire) -> None:
    """The model wrote something, and none of it is text: the agent hears that this was no end."""
    async with asking(wire, Empty(tokens=TOKENS)) as asked:
        reply = await asked.client.ask(HELLO)
    assert (reply.text, reply.stop) == ("", Stop.OTHER)


@every_wire
async def test_an_answer_of_nothing_at_all_is_tried_again(wire: Wire) -> None:
    nothing = Empty(tokens=Tokens(tokens_in=10, tokens_out=0))
    async with asking(wire, nothing, Say(text="now")) as asked:
        reply = await asked.client.ask(HELLO)
    failure = asked.calls[0].failure
    assert failure is not None and "the answer is empty" in failure.words and reply.text == "now"


@every_wire
async def test_a_gateways_failure_told_as_an_answer_is_tried_again(wire: Wire) -> None:
    """Case 62."""
    words = "API call failed after 3 retries: HTTP 429: RateLimitError"
    async with asking(
        wire, Fail(status=200, body={"status": "success", "error": None, "output": words}), Say(text="ok")
    ) as asked:
        reply = await asked.client.ask(HELLO)
    assert reply.text == "ok"
    failure = asked.calls[0].failure
    assert failure is not None and (failure.code, failure.words) == (Code.MODEL_RATE_LIMITED, words)


@every_wire
async def test_a_key_that_the_server_echoes_is_not_told_on(wire: Wire) -> None:
    key = "company.0123456789.abcdefghijklmnop"  # like no provider's, so that only its value gives it away
    body = {"error": {"message": f"Incorrect API key provided: {key}, and {key[:20]} too"}}
    async with asking(wire, Fail(status=401, body=body), key=key, wanted=None) as asked:
        with pytest.raises(ModelCallFailed) as raised:
            await asked.client.ask(HELLO)
    told = f"{raised.value!r} {raised.value} {asked.calls}"
    assert "0123456789" not in told and "Incorrect API key provided: ***, and *** too" in told
    assert raised.value.__cause__ is None


@every_wire
async def test_numbers_come_from_the_trial_where_it_gives_them(wire: Wire) -> None:
    count = itertools.count(41)
    async with asking(wire, Fail(status=500), Say(text="ok"), first_number=lambda: next(count)) as asked:
        await asked.client.ask(HELLO)
        await asked.client.ask(HELLO)
    assert [call.number for call in asked.calls] == [41, 42, 43]


@every_wire
async def test_a_question_can_be_given_up_at_any_moment(wire: Wire) -> None:
    async with asking(wire, Hang()) as asked, anyio.create_task_group() as group:
        group.start_soon(asked.client.ask, HELLO)
        await asked.server.heard(1)
        group.cancel_scope.cancel()
    (call,) = asked.calls
    assert call.hung_up and call.failure is None and call.cost_usd is None


@every_wire
async def test_a_server_that_is_not_there_is_tried_again_and_then_said(wire: Wire) -> None:
    async with asking(wire, base_url="http://127.0.0.1:9/v1") as asked:
        failure = await failed(asked)
    assert (failure.code, failure.status) == (Code.MODEL_UNREACHABLE, None)
    assert len(asked.calls) == MOST_TRIES


def test_an_sdk_is_loaded_before_it_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    for wire, module in ((Wire.ANTHROPIC, "anthropic_speaking"), (Wire.OPENAI_CHAT, "openai_speaking")):
        monkeypatch.delitem(sys.modules, f"engine.models.{module}", raising=False)
        load_sdk(wire)
        assert f"engine.models.{module}" in sys.modules
    monkeypatch.delitem(sys.modules, "engine.models.openai_speaking")
    monkeypatch.setitem(sys.modules, "openai", None)
    load_sdk(Wire.OPENAI_CHAT)
    assert "engine.models.openai_speaking" not in sys.modules
