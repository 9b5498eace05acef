"""When a failed call is tried again: how often, after how long, and no longer than until when."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import anyio
import msgspec

from engine.issues import Code
from engine.models.model_call import ModelFailure

MOST_TRIES = 6
FIRST_PAUSE_SEC = 2.0
LONGEST_PAUSE_SEC = 60.0
MOST_SEC = 900.0
"""No try begins later than this after the first one began, and no wait that a server asks for goes beyond it."""
SPREAD_SEC = 5.0
"""Over so long the trials are spread that a server told to come back at the same moment."""


class Pacing(msgspec.Struct, frozen=True, kw_only=True):
    """`clock` gives seconds of any origin, `chance` a number from 0 up to 1; tests put in their own."""

    clock: Callable[[], float]
    chance: Callable[[], float]
    sleep: Callable[[float], Awaitable[None]] = anyio.sleep
    most_tries: int = MOST_TRIES
    most_sec: float = MOST_SEC


def pause_before(tries: int, failure: ModelFailure, elapsed: float, pacing: Pacing) -> float | None:
    """Seconds to wait after so many tries, the last of which failed so; None: it is not tried again.

    Full jitter: anything up to a bound that doubles with every try. What the server asks for is the least.
    """
    if not failure.retryable or tries >= pacing.most_tries:
        return None
    bound = min(LONGEST_PAUSE_SEC, FIRST_PAUSE_SEC * 2 ** (tries - 1))
    if failure.retry_after_sec is None:
        pause = pacing.chance() * bound
    else:
        pause = failure.retry_after_sec + pacing.chance() * min(bound, SPREAD_SEC)
    return None if elapsed + pause > pacing.most_sec else pause


def retry_words(failure: ModelFailure, next_try: int, pause: float, pacing: Pacing) -> str:
    """What the trial does meanwhile: `model: 429, try 2 of 6 in 3 s`."""
    return f"model: {why_words(failure)}, try {next_try} of {pacing.most_tries} in {max(1, round(pause))} s"


def why_words(failure: ModelFailure) -> str:
    """The status where there is one, else a word or two."""
    why = str(failure.status) if failure.status is not None and failure.status >= 400 else _WHY.get(failure.code, "")
    return why or "no good answer"


_WHY = {
    Code.MODEL_RATE_LIMITED: "rate limited",
    Code.MODEL_OVERLOADED: "overloaded",
    Code.MODEL_TIMEOUT: "no answer in time",
    Code.MODEL_UNREACHABLE: "not reached",
}
