"""What an answer cost, and who says so (case 68)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from engine.models.answer_cost import answer_cost
from engine.models.heard import heard_in
from engine.models.model_call import CostSource
from engine.models.settings import Wire
from engine.models.told_cost import told_cost
from engine.models.usage_of import usage_of

CHAT = {
    "model": "gpt-5-2025-08-07",
    "choices": [],
    "usage": {"prompt_tokens": 1000, "completion_tokens": 100, "prompt_tokens_details": {"cached_tokens": 0}},
}
MESSAGE = {"model": "claude-opus-4-8", "content": [], "usage": {"input_tokens": 1000, "output_tokens": 100}}


def cost(wire: Wire, answer: dict[str, Any], asked: str = "mine", headers: dict[str, str] | None = None) -> object:
    heard = heard_in(wire, json.dumps(answer).encode())
    return answer_cost(asked, heard, usage_of(wire, heard.usage), headers or {})


def test_the_model_that_answered_has_a_price_where_the_name_asked_for_has_none() -> None:
    assert cost(Wire.OPENAI_CHAT, CHAT) == (pytest.approx((1000 * 1.25 + 100 * 10) / 1e6), CostSource.PRICES)
    assert cost(Wire.OPENAI_CHAT, CHAT | {"model": "unknown"}, "gpt-5-nano") == (
        pytest.approx((1000 * 0.05 + 100 * 0.4) / 1e6),
        CostSource.PRICES,
    )
    assert cost(Wire.OPENAI_CHAT, CHAT | {"model": "unknown"}) == (None, None)


@pytest.mark.parametrize(
    ("wire", "answer"),
    [
        (Wire.OPENAI_CHAT, CHAT | {"service_tier": "priority"}),
        (Wire.OPENAI_RESPONSES, CHAT | {"service_tier": "flex"}),
        (Wire.ANTHROPIC, MESSAGE | {"usage": {"input_tokens": 1, "output_tokens": 1, "speed": "fast"}}),
        (Wire.ANTHROPIC, MESSAGE | {"usage": {"input_tokens": 1, "output_tokens": 1, "service_tier": "priority"}}),
    ],
)
def test_a_tier_with_a_price_of_its_own_costs_nobody_knows_what(wire: Wire, answer: dict[str, Any]) -> None:
    assert cost(wire, answer, "gpt-5") == (None, None)


def test_the_usual_tier_costs_what_the_table_says() -> None:
    assert cost(Wire.OPENAI_CHAT, CHAT | {"service_tier": "default"}) != (None, None)
    usual = MESSAGE | {"usage": {"input_tokens": 1000, "output_tokens": 100, "service_tier": "standard"}}
    assert cost(Wire.ANTHROPIC, usual) == (pytest.approx((1000 * 5 + 100 * 25) / 1e6), CostSource.PRICES)


def test_a_gateways_header_tells_a_cost() -> None:
    told = cost(Wire.OPENAI_CHAT, CHAT, headers={"X-LiteLLM-Response-Cost": "1.5e-05"})
    assert told == (1.5e-05, CostSource.PROVIDER)


@pytest.mark.parametrize("value", [-1, float("nan"), float("inf"), 10**400, "0.5", True, None, []])
def test_what_can_be_no_cost_is_none(value: object) -> None:
    assert told_cost({"cost": value}, {"x-litellm-response-cost": "None"}) is None


def test_a_told_zero_is_a_real_zero() -> None:
    assert told_cost({"cost": 0}, {}) == 0
