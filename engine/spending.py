"""What a trial used of its model: tokens and money, added up the same way while it runs and for its record.

Where the engine saw the model's calls, they are what counts, and what the agent says of its steps is not added to it.
None means unknown, which is not zero, and stays unknown through sums.
"""

from __future__ import annotations

from typing import Any, Protocol

from engine import events as ev
from engine.issues import Code
from engine.text import clean_line

MIXED = "mixed"
_SPENT_UNSEEN = frozenset({Code.MODEL_TIMEOUT.value})
"""Failures after which the provider may have worked, and billed, without a word to us."""


class Spending(Protocol):
    """`cost_partial`: some of it is unknown, so that `cost_usd` is a lower bound. `cost_source` is that of every known
    part, or MIXED. `model_calls` were answered (None: the engine sees none of them), `model_failures` were not, and
    after `model_retries` of these another one came."""

    steps: int
    tokens_in: int | None
    tokens_cached: int | None
    tokens_cache_written: int | None
    tokens_out: int | None
    tokens_reasoning: int | None
    cost_usd: float | None
    cost_partial: bool
    cost_source: str
    model_calls: int | None
    model_failures: int
    model_retries: int
    calls_seen: int


TOKENS = ("tokens_in", "tokens_cached", "tokens_cache_written", "tokens_out", "tokens_reasoning")


def add_step(to: Spending, step: ev.AgentStepped) -> None:
    to.steps = max(to.steps, step.number)
    if to.calls_seen:
        return
    _add_tokens(to, step)
    _add_cost(to, step.cost_usd, step.cost_source)
    if step.cost_usd is None and step.tokens_out:
        to.cost_partial = True


def add_call(to: Spending, call: ev.ModelCalled) -> None:
    if not to.calls_seen:  # what steps said until now is said by calls from here on
        for name in TOKENS:
            setattr(to, name, None)
        to.cost_usd, to.cost_partial, to.cost_source = 0.0, False, ""
    elif to.model_failures > to.model_retries:
        to.model_retries += 1
    to.calls_seen += 1
    to.model_calls = (to.model_calls or 0) + (not call.code and not call.hung_up)
    to.model_failures += bool(call.code)
    _add_tokens(to, call)
    _add_cost(to, call.cost_usd, call.cost_source)
    if call.cost_usd is None and (not call.code or call.code in _SPENT_UNSEEN or call.status == 200):
        to.cost_partial = True
        if not to.cost_source:  # nothing of it is known
            to.cost_usd = None


def add(total: float | Any | None, more: float | Any | None) -> Any:
    """None stays out of the sum and is never taken for 0."""
    if more is None:
        return total
    return more if total is None else total + more


def _add_tokens(to: Spending, more: ev.AgentStepped | ev.ModelCalled) -> None:
    for name in TOKENS:
        setattr(to, name, add(getattr(to, name), getattr(more, name)))


def _add_cost(to: Spending, cost: float | None, source: str) -> None:
    if cost is None:
        return
    source = clean_line(source, 60)
    to.cost_usd = add(to.cost_usd, cost)
    to.cost_source = source if to.cost_source in ("", source) else MIXED
