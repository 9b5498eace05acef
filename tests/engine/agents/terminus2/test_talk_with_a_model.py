"""How full the context is, and what is left out first."""

from __future__ import annotations

import pytest

from engine.agents.agent import AgentConfigInvalid
from engine.agents.terminus2.limits import Limits, Meter
from engine.agents.terminus2.settings import Settings, settings_of
from engine.agents.terminus2.talk import Talk, room_for, tokens_in, unwound
from engine.models.conversation import Turn
from engine.models.model_call import Usage
from tests.engine.agents.terminus2.model import reply


def test_the_servers_own_count_is_believed_and_only_the_rest_estimated() -> None:
    talk = Talk("system", "x" * 3000)
    assert 1000 < talk.tokens < 1100
    talk.answered(reply("ok", usage=Usage(tokens_in=5000, tokens_out=300, tokens_reasoning=250)))
    assert talk.tokens == 5050
    talk.say("y" * 300)
    assert talk.tokens == 5050 + tokens_in("y" * 300)


def test_without_a_count_everything_is_estimated() -> None:
    talk = Talk("", "x" * 300)
    before = talk.tokens
    talk.answered(reply("y" * 300, usage=Usage()))
    assert talk.tokens == before + tokens_in("y" * 300)


def test_an_answer_that_is_kept_in_part_counts_in_part() -> None:
    talk = Talk("", "x")
    talk.answered(reply("y" * 30_000, usage=Usage(tokens_in=10, tokens_out=10_000)), "y" * 30)
    assert talk.tokens == 10 + tokens_in("y" * 30)


def test_turns_alternate_and_are_never_empty() -> None:
    talk = Talk("", "a")
    talk.say("b")
    talk.answered(reply(" "))
    assert talk.turns == [Turn("user", "a\n\nb"), Turn("assistant", "(no answer)")]


def test_there_must_be_room_for_an_answer() -> None:
    talk = Talk("", "a")
    talk.answered(reply("b", usage=Usage(tokens_in=90_000, tokens_out=0)))
    assert not talk.is_near(None, None)
    assert not talk.is_near(100_000, None)
    assert talk.is_near(100_000, 8_000)
    assert room_for(6_000, 100_000) == 2_000


def test_the_latest_turns_are_left_out_first() -> None:
    turns = [Turn("user" if n % 2 == 0 else "assistant", "x" * 300) for n in range(7)]
    assert unwound(turns, 10_000).turns == tuple(turns[:6])
    kept = unwound(turns, 4 * tokens_in("x" * 300))
    assert (kept.turns, kept.left_out) == (tuple(turns[:4]), 3)
    assert unwound(turns, 3 * tokens_in("x" * 300)).turns == tuple(turns[:2])
    assert unwound(turns, 0).turns == tuple(turns[:1])


def test_limits_are_counted_over_all_calls() -> None:
    meter = Meter(Limits(max_tokens=250, max_cost=0.7, max_turns=9))
    for _ in range(2):
        assert meter.reached() == ""
        meter.add(reply("x"), 0, 0)
    assert meter.reached() == ""
    meter.add(reply("x", usage=Usage(), cost_usd=None), 20, 10)
    assert meter.reached() == "max_tokens=250: 250 tokens were used"
    assert meter.calls_without_cost == 1
    meter = Meter(Limits(max_cost=0.5))
    meter.add(reply("x"), 0, 0)
    meter.add(reply("x"), 0, 0)
    assert meter.reached() == "max_cost=0.5: $0.5000 was spent"


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"answers": "yaml"}, "arm a: answers is yaml, expected json or xml"),
        ({"waits": "never"}, "expected early or full"),
        ({"summarise": "yes"}, "expected on or off"),
        ({"max_turns": "0"}, "max_turns is 0, expected a whole number above 0"),
        ({"max_turns": "1.5"}, "whole number"),
        ({"max_tokens": "-3"}, "whole number"),
        ({"max_cost": "free"}, "max_cost is free, expected a number above 0"),
        ({"max_cost": "nan"}, "number above 0"),
        ({"max_seconds": "inf"}, "number above 0"),
    ],
)
def test_parameters_that_can_not_be_are_refused(parameters: dict[str, str], said: str) -> None:
    with pytest.raises(AgentConfigInvalid, match="arm a: ") as caught:
        settings_of(parameters, "arm a")
    assert said in str(caught.value)


def test_parameters_are_read() -> None:
    assert settings_of({}, "arm a") == Settings()
    given = {"answers": "xml", "waits": "full", "summarise": "off", "max_turns": "3", "max_cost": "0.5"}
    assert settings_of(given, "arm a") == Settings(
        answers="xml", ends_early=False, summarises=False, limits=Limits(max_turns=3, max_cost=0.5)
    )
