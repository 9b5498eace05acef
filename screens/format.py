"""How times, sizes, rates and states are written on every screen. Unknown is a dash, never a zero."""

from __future__ import annotations

import math
from datetime import UTC, datetime, tzinfo

from engine import trial_state
from engine.issues import Severity
from engine.trial_state import TrialState

DASH = "—"

GLYPHS = {
    trial_state.QUEUED: "·",
    trial_state.WAITING: "◌",
    trial_state.RUNNING: "●",
    trial_state.PASSED: "✓",
    trial_state.FAILED: "−",
    trial_state.UNSCORED: "✗",
    trial_state.REFUSED: "⊘",
    trial_state.CANCELLED: "⊘",
    trial_state.INTERRUPTED: "↺",
}
TIMED_OUT_GLYPH = "▲"
"""Failed, and its budget of time was used up."""

SEVERITY_GLYPHS = {Severity.FATAL: "✗", Severity.ERROR: "!", Severity.WARNING: "▵"}


def clock_time(seconds: float | None) -> str:
    """`0:02:11`, as columns want it."""
    if seconds is None:
        return DASH
    whole = int(max(0.0, seconds))
    return f"{whole // 3600}:{whole // 60 % 60:02}:{whole % 60:02}"


def short_time(seconds: float | None) -> str:
    """`0:41`, `12:05`, `1:02:03`: minutes and seconds, hours only where there are some."""
    if seconds is None:
        return DASH
    whole = int(max(0.0, seconds))
    if whole >= 3600:
        return clock_time(whole)
    return f"{whole // 60}:{whole % 60:02}"


def span(seconds: float | None) -> str:
    """A limit or a rough span with its unit: `45 s`, `10 min`, `8 h`, `1 h 30`."""
    if seconds is None:
        return DASH
    if seconds < 10 and seconds != int(seconds):
        return f"{seconds:.1f} s"
    if seconds < 100 or (seconds < 600 and seconds % 60):
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    if minutes < 100:
        return f"{minutes} min"
    hours, rest = divmod(minutes, 60)
    return f"{hours} h {rest:02}" if rest else f"{hours} h"


def about(seconds: float) -> str:
    """An estimate, no more exact than it can be: to 10 seconds, a minute, 5 or 15 minutes, an hour, each way up."""
    limits = ((60, 10), (600, 60), (3600, 300), (36_000, 900))
    step = next((step for below, step in limits if seconds <= below), 3600)
    return span(max(10, step * math.ceil(seconds / step)))


def short_span(seconds: float | None) -> str:
    """The same without a blank, for a narrow column: `45s`, `10m`, `8h`, `1.5h`."""
    if seconds is None:
        return DASH
    if seconds < 100:
        return f"{seconds:.0f}s"
    if seconds < 6000:
        return f"{seconds / 60:.0f}m"
    return f"{seconds / 3600:.1f}".removesuffix(".0") + "h"


def size(count: float | None) -> str:
    """Bytes in at most four characters: `512`, `640K`, `1.9G`, `38G`."""
    if count is None:
        return DASH
    value = float(max(0.0, count))
    for unit in ("", "K", "M", "G", "T"):
        if value < 999.5 or unit == "T":
            short = value < 9.95 and unit not in ("", "K")
            text = f"{value:.1f}" if short else f"{value:.0f}"
            return f"{text.removesuffix('.0')}{unit}"
        value /= 1024
    raise AssertionError


def size_of(used: float | None, limit: float | None) -> str:
    """`1.9/4G`, `0.8/128M`: in the limit's unit, in at most eight characters."""
    if used is None:
        return DASH
    if not limit:
        return size(used)
    whole = size(limit)
    unit = whole[-1] if whole[-1].isalpha() else ""
    value = max(0.0, used) / 1024 ** ("KMGT".find(unit) + 1 if unit else 0)
    part = f"{value:.1f}".removesuffix(".0") if value < 9.95 else f"{value:.0f}"
    return f"{part}/{whole}"


def percent(value: float | None, digits: int = 0) -> str:
    """`value` is already in percent."""
    return DASH if value is None else f"{value:.{digits}f} %"


def rate(part: int, whole: int) -> str:
    """`64.6 %`; a dash of nothing."""
    return percent(100 * part / whole, 1) if whole else DASH


BEYOND_MONEY = 1e9
"""Dollars that nobody spent: a mistake in a record, which is shown as one and breaks no table."""


def usd(value: float | None) -> str:
    if value is None:
        return DASH
    if abs(value) >= BEYOND_MONEY:
        return f"${value:.1e}"
    if value and abs(value) < 0.0005:  # a call of a cheap model is not free
        return f"${value:.4f}" if abs(value) >= 0.00005 else "<$0.0001"
    if value and abs(value) < 0.995:
        return f"${value:.3f}" if abs(value) < 0.0995 else f"${value:.2f}"
    return f"${value:,.2f}"


def cost(known: float | None, unknown: int) -> str:
    """What was spent; trials whose cost nobody knows make it a lower bound, never a smaller number."""
    if known is None:
        return DASH
    return f"≥ {usd(known)}, {unknown} unknown" if unknown else usd(known)


def spent(value: float | None, *, partial: bool) -> str:
    """One trial's cost; where some of it is unknown, a lower bound."""
    return f"≥ {usd(value)}" if partial and value is not None else usd(value)


def reward(value: float | None) -> str:
    return DASH if value is None else f"{value:.2f}"


def count(number: int, one: str, many: str = "") -> str:
    """`1 trial`, `2 trials`."""
    return f"{number} {one if number == 1 else many or one + 's'}"


_zone: tzinfo | None = None


def show_times_in_utc(utc: bool) -> None:
    """Times of day in UTC, or in this machine's zone; of the whole process."""
    global _zone
    _zone = UTC if utc else None


def in_zone(at: datetime) -> datetime:
    """The moment in the zone that times are shown in."""
    return at.astimezone(_zone)


def wall_time(at: datetime | None) -> str:
    """Time of day, local unless UTC is wanted."""
    return DASH if at is None else in_zone(at).strftime("%H:%M:%S")


def wall_date(at: datetime | None) -> str:
    """Day and minute, local unless UTC is wanted."""
    return DASH if at is None else in_zone(at).strftime("%Y-%m-%d %H:%M")


def ago(seconds: float) -> str:
    """`12 s ago`, `3 min ago`, `2 h ago`, `5 days ago`."""
    for limit, unit, name in ((100, 1, "s"), (6000, 60, "min"), (172_800, 3600, "h")):
        if seconds < limit:
            return f"{max(0, int(seconds / unit))} {name} ago"
    return f"{int(seconds / 86_400)} days ago"


def arm_letter(index: int) -> str:
    """A, B, … Z, AA, AB, …"""
    letters = ""
    index += 1
    while index:
        index, rest = divmod(index - 1, 26)
        letters = chr(65 + rest) + letters
    return letters


def state_glyph(trial: TrialState) -> str:
    if trial.state == trial_state.FAILED and trial.timed_out:
        return TIMED_OUT_GLYPH
    return GLYPHS[trial.state]


def state_word(trial: TrialState) -> str:
    """A running trial is called by its phase."""
    if trial.state == trial_state.RUNNING:
        return str(trial.phase) if trial.phase is not None else "running"
    return trial.state


def bar(fraction: float, width: int) -> tuple[str, str]:
    """The filled and the empty part of a thin bar; a started one shows at least half a cell."""
    halves = round(max(0.0, min(1.0, fraction)) * width * 2)
    if fraction > 0:
        halves = max(1, halves)
    full, half = divmod(halves, 2)
    filled = "━" * full + "╸" * half
    return filled, "─" * (width - len(filled))
