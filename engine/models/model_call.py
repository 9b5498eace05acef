"""One call of a model: what it used, what it cost, how it ended. Facts alone, told to whoever counts."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from engine.issues import Code


class CostSource(StrEnum):
    """Where a cost comes from. A cost that has no source is unknown, which is not zero."""

    PROVIDER = "provider"  # the provider's own figure
    PRICES = "prices"  # our price table, whose date is shown beside it
    AGENT = "agent"  # the agent's program says so


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """Tokens of one call, brought to one meaning (None: unknown).

    `tokens_in` is everything that the model read; parts of it are `tokens_cached` (read from the cache) and
    `tokens_cache_written`, and of the latter `tokens_cache_written_1h` (kept for an hour, which is dearer).
    `tokens_out` is everything it wrote, `tokens_reasoning` a part of it. `odd` says what can't be right in the
    provider's counts (more cached than read, say), "" where nothing is.
    """

    tokens_in: int | None = None
    tokens_cached: int | None = None
    tokens_cache_written: int | None = None
    tokens_cache_written_1h: int | None = None
    tokens_out: int | None = None
    tokens_reasoning: int | None = None
    odd: str = ""


class Stop(StrEnum):
    """Why the model stopped writing."""

    END = "end"
    TOOL = "tool"
    LENGTH = "length"  # cut off by the output limit
    REFUSAL = "refusal"
    FILTER = "filter"  # a content filter cut it off
    CONTEXT = "context"  # the context is full
    MALFORMED = "malformed"  # with a call of a tool whose arguments are no JSON
    OTHER = "other"


class ModelFailure(msgspec.Struct, frozen=True, kw_only=True):
    """How a call failed. `words` are the server's or the connection's own, cleaned, bounded, without any key.

    `status` is the HTTP status (None: no answer came). `retry_after_sec` is what the server asked for.
    """

    code: Code
    words: str
    status: int | None = None
    retryable: bool = False
    retry_after_sec: float | None = None


class ModelCallFailed(Exception):
    """A call that failed for good: not to be retried, or retried as often as is allowed (`tries` in all)."""

    def __init__(self, failure: ModelFailure, tries: int = 1) -> None:
        super().__init__(failure.words)
        self.failure = failure
        self.tries = tries


class ModelCall(msgspec.Struct, frozen=True, kw_only=True):
    """One request that reached its end. `failure` None: it was answered. `number` counts from 1 in its trial.

    `hung_up`: who asked went away before the answer was whole; that is neither an answer nor a failure of the model's.
    `answer_began`: its server had begun to answer by then.
    `cost_usd` None: unknown. `path` is that of the request, without its query.
    """

    number: int
    seconds: float
    path: str = ""
    model: str = ""
    usage: Usage = Usage()
    stop: Stop | None = None
    cost_usd: float | None = None
    cost_source: CostSource | None = None
    failure: ModelFailure | None = None
    hung_up: bool = False
    answer_began: bool = False
