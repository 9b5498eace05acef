"""What two trials took and brought, in the same columns on both sides, each with its difference to the other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from engine.trial_state import TrialState
from screens import format as fmt
from screens.causes import Causes, cause_text
from screens.pieces import Piece, Pieces, cells
from screens.trial_facts import tokens

ROOMY = 80
"""Cells from which on columns stand apart and are named in full."""
_LABELS = ("reward", "steps", "in", "out", "cost", "time")
_FULL = {"in": "tokens in", "out": "tokens out"}
SAME = "="


@dataclass(frozen=True)
class SideFacts:
    """None is unknown. `cost_partial`: the cost is a lower bound. `cause` as a list of trials names it."""

    reward: float | None
    steps: int | None
    tokens_in: int | None
    tokens_out: int | None
    cost_usd: float | None
    cost_partial: bool
    seconds: float | None
    cause: str


def side_facts(trial: TrialState, now: datetime, causes: Causes | None) -> SideFacts:
    return SideFacts(
        reward=trial.reward,
        steps=trial.steps or None,
        tokens_in=trial.tokens_in,
        tokens_out=trial.tokens_out,
        cost_usd=trial.cost_usd,
        cost_partial=trial.cost_partial,
        seconds=trial.elapsed(now),
        cause=cause_text(causes, trial),
    )


def fact_lines(own: SideFacts, other: SideFacts | None, letter: str, width: int) -> list[Pieces]:
    """Names, values, and by how much they are more (+) or less (−) than those of the other side, which `letter` names.
    Columns are as wide as the other side's, so that what belongs together stands at the same place."""
    roomy = width >= ROOMY
    labels = [_FULL.get(label, label) if roomy else label for label in _LABELS]
    rows = [labels, _values(own)]
    others: list[list[str]] = []
    if other is not None:
        rows.append(_differences(own, other))
        others = [_values(other), _differences(other, own)]
    widths = [max(map(cells, column)) for column in zip(*rows, *others, strict=True)]
    gap = 3 if roomy else 1
    lasts = [("cause", "deck--dim"), (own.cause or fmt.DASH, "" if own.cause else "deck--faint")]
    lasts.append((f"than {letter}", "deck--dim"))
    styles = ("deck--dim", "", "deck--accent")
    return [_line(*row, widths, gap) for row in zip(rows, styles, lasts, strict=False)]


def _line(texts: list[str], style: str, last: Piece, widths: list[int], gap: int) -> Pieces:
    pieces: Pieces = [(" ", "")]
    for text, room in zip(texts, widths, strict=True):
        ink = "deck--faint" if text in (fmt.DASH, SAME) else style
        pieces += [(" " * (room - cells(text)) + text, ink), (" " * gap, "")]
    return [*pieces, (" ", ""), last]


def _values(side: SideFacts) -> list[str]:
    return [
        fmt.reward(side.reward),
        fmt.DASH if side.steps is None else f"{side.steps:,}",
        tokens(side.tokens_in),
        tokens(side.tokens_out),
        fmt.spent(side.cost_usd, partial=side.cost_partial).replace("≥ ", "≥"),
        fmt.short_time(side.seconds),
    ]


def _differences(own: SideFacts, other: SideFacts) -> list[str]:
    partial = own.cost_partial or other.cost_partial  # which of two lower bounds is more, nobody knows
    return [
        _more(own.reward, other.reward, fmt.reward),
        _more(own.steps, other.steps, lambda count: f"{count:,.0f}"),
        _more(own.tokens_in, other.tokens_in, lambda count: tokens(round(count))),
        _more(own.tokens_out, other.tokens_out, lambda count: tokens(round(count))),
        fmt.DASH if partial else _more(own.cost_usd, other.cost_usd, fmt.usd),
        _more(own.seconds, other.seconds, fmt.short_time),
    ]


def _more(own: float | None, other: float | None, words: Callable[[float], str]) -> str:
    """`+1.00`, `−0:05`, `=` where it is the same as far as it is shown, a dash where one of them is unknown."""
    if own is None or other is None:
        return fmt.DASH
    text = words(abs(own - other))
    if text == words(0):
        return SAME
    return f"{'+' if own > other else '−'}{text}"
