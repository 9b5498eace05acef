"""Counts of tokens as providers write them, brought to one meaning: tokens in include the cached ones.

OpenAI-type counts include what came from the cache, Anthropic-type counts leave it out, and what was written to the
cache as well.
"""

from __future__ import annotations

import msgspec

from engine.trajectories.untyped import Record, record, whole


class Usage(msgspec.Struct, frozen=True):
    tokens_in: int | None = None
    tokens_cached: int | None = None
    tokens_out: int | None = None


def anthropic_usage(usage: Record) -> Usage:
    fresh = whole(usage.get("input_tokens"))
    read = whole(usage.get("cache_read_input_tokens"))
    written = whole(usage.get("cache_creation_input_tokens"))
    known = [count for count in (fresh, read, written) if count is not None]
    return Usage(sum(known) if known else None, read, whole(usage.get("output_tokens")))


def openai_usage(usage: Record) -> Usage:
    """Both spellings: of chat completions, and of responses (and Codex)."""

    def first(*names: str) -> int | None:
        return next((found for name in names if (found := whole(usage.get(name))) is not None), None)

    details = record(usage.get("prompt_tokens_details") or usage.get("input_tokens_details"))
    cached = first("cached_input_tokens", "cache_read_input_tokens")
    if (told := whole(details.get("cached_tokens"))) is not None:
        cached = told
    return Usage(
        first("prompt_tokens", "input_tokens"),
        cached,
        first("completion_tokens", "output_tokens"),
    )


def any_usage(usage: Record) -> Usage:
    """By its names: a count of prompt tokens is of OpenAI's type, input tokens beside cache counts of Anthropic's."""
    if "prompt_tokens" not in usage and ("cache_read_input_tokens" in usage or "cache_creation_input_tokens" in usage):
        return anthropic_usage(usage)
    return openai_usage(usage)
