"""How numbers read: points with one decimal, a true minus sign. Shared by text, Markdown and screens."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from engine.text import clean_line

DASH = "—"
MINUS = "−"
LEVEL = "95 %"
"""Of every interval; `bootstrap.CONFIDENCE` in words, without its import."""
LABELLED = "nothing is labelled infrastructure or ambiguous, so every reading agrees"


def percent(share: float | None) -> str:
    return DASH if share is None else f"{100 * share:.1f} %"


def percent_range(interval: tuple[float, float] | None) -> str:
    return DASH if interval is None else f"{100 * interval[0]:.1f}–{100 * interval[1]:.1f}"


def signed(value: float, decimals: int = 1) -> str:
    """+6.1, −6.1, 0.0: never a plus or minus before what reads as zero."""
    text = f"{abs(value):.{decimals}f}"
    if float(text) == 0:
        return text
    return (MINUS if value < 0 else "+") + text


def points(difference: float | None) -> str:
    return DASH if difference is None else signed(100 * difference)


def points_range(low: float | None, high: float | None) -> str:
    return DASH if low is None or high is None else f"{points(low)} to {points(high)}"


def p_value(p: float) -> str:
    """Two figures that say something, never a zero."""
    if p < 0.0001:
        return "< 0.0001"
    return f"{p:.2f}" if p >= 0.1 else f"{p:.3f}" if p >= 0.01 else f"{p:.4f}"


def reward(value: float | None) -> str:
    if value is None:
        return DASH
    return f"{value:.2f}".replace("-", MINUS)


def money(usd: float) -> str:
    """What nobody spent is a mistake in a record: it is shown as one, and breaks no table."""
    if abs(usd) >= 1e9:
        return f"${usd:.1e}"
    return f"${usd:.4f}" if 0 < usd < 0.01 else f"${usd:,.2f}"


def per_resolved(cost_per_resolved: float | None, is_lower_bound: bool, total: float | None, resolved: int) -> str:
    if total is None:
        return "cost unknown"
    if resolved == 0 or cost_per_resolved is None:
        return f"n/a, {at_least(total, is_lower_bound)} spent"
    return f"{at_least(cost_per_resolved, is_lower_bound)} a resolved task"


def at_least(usd: float, is_lower_bound: bool) -> str:
    return f"at least {money(usd)}" if is_lower_bound else money(usd)


def many(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def listed(names: Sequence[str], most: int = 5) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def cells(text: str) -> int:
    """Columns that a terminal gives this text."""
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text
    )


def fit(text: str, width: int) -> str:
    """One safe line of exactly `width` columns, cut with an ellipsis or padded."""
    text = clean_line(text)
    if cells(text) > width:
        while text and cells(text) > width - 1:
            text = text[:-1]
        text += "…"
    return text + " " * (width - cells(text))


def wrap(text: str, width: int, indent: str = "") -> list[str]:
    """Safe lines of at most `width` columns, broken at blanks, later ones indented. Longer words are cut."""
    lines: list[str] = []
    line = ""
    for word in clean_line(text).split(" "):
        candidate = f"{line} {word}" if line.strip() else line + word
        if cells(candidate) > width and line.strip():
            lines.append(line)
            candidate = indent + word
        line = fit(candidate, width) if cells(candidate) > width else candidate
    return [*lines, line]
