"""Counts of three wires brought to one meaning (case 67)."""

from __future__ import annotations

from typing import Any

import pytest

from engine.models.model_call import Usage
from engine.models.settings import Wire
from engine.models.usage_of import usage_of

OPENAI = (Wire.OPENAI_CHAT, Wire.OPENAI_RESPONSES)


def test_inclusive_counts_stay_as_they_are() -> None:
    """Case 67."""
    usage = {
        "prompt_tokens": 1270492,
        "completion_tokens": 8679,
        "prompt_tokens_details": {"cached_tokens": 1202176},
        "completion_tokens_details": {"reasoning_tokens": 5000},
    }
    assert usage_of(Wire.OPENAI_CHAT, usage) == Usage(
        tokens_in=1270492, tokens_cached=1202176, tokens_out=8679, tokens_reasoning=5000
    )


def test_exclusive_counts_are_added_up() -> None:
    """Case 67: 3 tokens in are not 3 tokens of work."""
    usage = {
        "input_tokens": 3,
        "cache_read_input_tokens": 12000,
        "cache_creation_input_tokens": 1500,
        "output_tokens": 900,
    }
    assert usage_of(Wire.ANTHROPIC, usage) == Usage(
        tokens_in=13503, tokens_cached=12000, tokens_cache_written=1500, tokens_out=900
    )


def test_responses_spell_their_counts_in_their_own_way() -> None:
    usage = {
        "input_tokens": 100,
        "input_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 10},
        "output_tokens": 20,
        "output_tokens_details": {"reasoning_tokens": 15},
    }
    assert usage_of(Wire.OPENAI_RESPONSES, usage) == Usage(
        tokens_in=100, tokens_cached=60, tokens_cache_written=10, tokens_out=20, tokens_reasoning=15
    )


def test_what_is_written_for_an_hour_and_thought_is_told_apart_on_the_exclusive_wire() -> None:
    usage = {
        "input_tokens": 10,
        "cache_creation_input_tokens": 300,
        "cache_creation": {"ephemeral_5m_input_tokens": 100, "ephemeral_1h_input_tokens": 200},
        "output_tokens": 50,
        "output_tokens_details": {"thinking_tokens": 40},
    }
    assert usage_of(Wire.ANTHROPIC, usage) == Usage(
        tokens_in=310,
        tokens_cached=0,
        tokens_cache_written=300,
        tokens_cache_written_1h=200,
        tokens_out=50,
        tokens_reasoning=40,
    )


@pytest.mark.parametrize("wire", OPENAI)
def test_a_count_that_is_not_given_is_unknown_and_not_zero(wire: Wire) -> None:
    assert usage_of(wire, {}) == Usage()
    assert usage_of(wire, {"prompt_tokens": 5, "completion_tokens": 0}) == Usage(tokens_in=5, tokens_out=0)
    assert usage_of(Wire.ANTHROPIC, {"output_tokens": 2}) == Usage(tokens_out=2)


def test_nothing_is_cached_on_the_exclusive_wire_unless_it_says_so() -> None:
    usage = {"input_tokens": 7, "output_tokens": 2, "cache_read_input_tokens": None}
    assert usage_of(Wire.ANTHROPIC, usage) == Usage(tokens_in=7, tokens_cached=0, tokens_cache_written=0, tokens_out=2)


def test_another_providers_spelling_of_cached_tokens_is_read() -> None:
    usage = {"prompt_tokens": 10, "completion_tokens": 1, "prompt_cache_hit_tokens": 8, "prompt_cache_miss_tokens": 2}
    assert usage_of(Wire.OPENAI_CHAT, usage).tokens_cached == 8


@pytest.mark.parametrize(
    ("wire", "usage", "words"),
    [
        (Wire.OPENAI_CHAT, {"prompt_tokens": 3, "completion_tokens": 1,
                            "prompt_tokens_details": {"cached_tokens": 12000}},
         "12000 tokens from the cache, but only 3 tokens in"),
        (Wire.OPENAI_RESPONSES, {"input_tokens": 3, "output_tokens": 1,
                                 "output_tokens_details": {"reasoning_tokens": 2}},
         "2 tokens of reasoning, but only 1 tokens out"),
        (Wire.OPENAI_CHAT, {"prompt_tokens": -3, "completion_tokens": 1}, "prompt_tokens is -3"),
        (Wire.ANTHROPIC, {"input_tokens": "12", "output_tokens": 1}, "input_tokens is '12', no whole number"),
        (Wire.ANTHROPIC, {"input_tokens": 1.5, "output_tokens": 1}, "input_tokens is 1.5, no whole number"),
        (Wire.ANTHROPIC, {"input_tokens": True, "output_tokens": 1}, "input_tokens is True, no whole number"),
        (Wire.ANTHROPIC, {"input_tokens": 1, "output_tokens": 1, "cache_creation_input_tokens": 5,
                          "cache_creation": {"ephemeral_1h_input_tokens": 6}},
         "6 tokens written to the cache for an hour, but only 5 written at all"),
    ],
)  # fmt: skip
def test_counts_that_cannot_be_right_are_said(wire: Wire, usage: dict[str, Any], words: str) -> None:
    """Case 67."""
    assert usage_of(wire, usage).odd == words


def test_a_whole_number_written_as_a_fraction_is_one() -> None:
    assert usage_of(Wire.ANTHROPIC, {"input_tokens": 12.0, "output_tokens": 1}).tokens_in == 12


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 10**400, 1e300, [], {"a": 1}, "x\x1b[2J"])
def test_nonsense_is_unknown_and_its_words_are_clean(value: object) -> None:
    usage = usage_of(Wire.OPENAI_CHAT, {"prompt_tokens": value, "completion_tokens": 1})
    assert usage.tokens_in is None and usage.odd and "\x1b" not in usage.odd
