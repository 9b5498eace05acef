"""Counts of tokens as the three wires give them, brought to one meaning.

OpenAI's input counts include what came from the cache and what was written to it, Anthropic's leave both out; output
counts include reasoning on all three. What can't be right is said in `odd`, and then no cost is computed from it.
"""

from __future__ import annotations

from collections.abc import Mapping

from engine.json_numbers import MOST
from engine.models.model_call import Usage
from engine.models.settings import Wire
from engine.text import clean_line


def usage_of(wire: Wire, usage: Mapping[str, object]) -> Usage:
    """`usage` is the answer's own object. A count that it doesn't give is None, which is not zero."""
    counts = _Counts(usage)
    return _exclusive(counts) if wire is Wire.ANTHROPIC else _inclusive(counts)


def _inclusive(counts: _Counts) -> Usage:
    tokens_in = counts.first("prompt_tokens", "input_tokens")
    within = counts.inside("prompt_tokens_details", "input_tokens_details")
    cached = within.first("cached_tokens")
    if cached is None:  # spellings of other providers
        cached = counts.first("prompt_cache_hit_tokens", "cached_tokens")
    written = within.first("cache_write_tokens", "cache_creation_tokens")
    tokens_out = counts.first("completion_tokens", "output_tokens")
    reasoning = counts.inside("completion_tokens_details", "output_tokens_details").first("reasoning_tokens")
    odd = [*counts.odd]
    for part, whole, words in (
        (cached, tokens_in, "tokens from the cache, but only {whole} tokens in"),
        (written, tokens_in, "tokens written to the cache, but only {whole} tokens in"),
        (reasoning, tokens_out, "tokens of reasoning, but only {whole} tokens out"),
    ):
        if part is not None and whole is not None and part > whole:
            odd.append(f"{part} {words.format(whole=whole)}")
    return Usage(
        tokens_in=tokens_in,
        tokens_cached=cached,
        tokens_cache_written=written,
        tokens_out=tokens_out,
        tokens_reasoning=reasoning,
        odd="; ".join(odd),
    )


def _exclusive(counts: _Counts) -> Usage:
    fresh = counts.first("input_tokens")
    read = counts.first("cache_read_input_tokens")
    written = counts.first("cache_creation_input_tokens")
    hour = counts.inside("cache_creation").first("ephemeral_1h_input_tokens")
    tokens_out = counts.first("output_tokens")
    reasoning = counts.inside("output_tokens_details").first("thinking_tokens", "reasoning_tokens")
    odd = [*counts.odd]
    if hour is not None and written is not None and hour > written:
        odd.append(f"{hour} tokens written to the cache for an hour, but only {written} written at all")
    if reasoning is not None and tokens_out is not None and reasoning > tokens_out:
        odd.append(f"{reasoning} tokens of reasoning, but only {tokens_out} tokens out")
    # Nothing is cached on this wire unless the request asks for it: a count that is left out is none.
    if fresh is not None:
        read, written = read or 0, written or 0
    return Usage(
        tokens_in=None if fresh is None else fresh + (read or 0) + (written or 0),
        tokens_cached=read,
        tokens_cache_written=written,
        tokens_cache_written_1h=hour,
        tokens_out=tokens_out,
        tokens_reasoning=reasoning,
        odd="; ".join(odd),
    )


class _Counts:
    """A usage object, looked at with suspicion; `odd` is shared with the objects inside it."""

    def __init__(self, values: Mapping[str, object], odd: list[str] | None = None) -> None:
        self._values = values
        self.odd: list[str] = [] if odd is None else odd

    def first(self, *names: str) -> int | None:
        """The first of these counts that is given; what is no count is unknown, and said."""
        for name in names:
            value = self._values.get(name)
            if value is None:
                continue
            if isinstance(value, float) and value.is_integer():
                value = int(value)
            if isinstance(value, bool) or not isinstance(value, int):
                self.odd.append(f"{name} is {clean_line(repr(value), 60)}, no whole number")
                return None
            if not 0 <= value <= MOST:
                self.odd.append(f"{name} is {clean_line(str(value), 60)}")
                return None
            return value
        return None

    def inside(self, *names: str) -> _Counts:
        for name in names:
            if isinstance(value := self._values.get(name), Mapping):
                return _Counts(value, self.odd)
        return _Counts({}, self.odd)
