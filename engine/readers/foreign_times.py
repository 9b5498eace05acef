"""Times of records that name a zone beside times that name none."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

_ZONES = tuple(
    timedelta(minutes=minutes)
    for minutes in sorted(
        {hour * 60 for hour in range(-12, 15)} | {-570, -210, -150, 210, 270, 330, 345, 390, 525, 570, 630, 765, 825},
        key=abs,
    )
)
"""Every distance from UTC that clocks are set to, summer times included."""

_SAME_MOMENT = timedelta(minutes=7)


def parsed(value: object) -> datetime | None:
    """A time as it was written, with or without a zone: ISO 8601 text, or seconds since the epoch. Else None."""
    try:
        if isinstance(value, str):
            return datetime.fromisoformat(value.strip()) if len(value) < 64 else None
        if isinstance(value, int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(value, UTC)
    except (ValueError, OverflowError, OSError):
        pass
    return None


def in_utc(value: object, beside: Iterable[datetime] = ()) -> datetime | None:
    """A written time in UTC. One without a zone was local to its writer: the zone is the one in which it meets one of
    `beside` (known times of the same moment, within minutes), else this host's."""
    found = parsed(value)
    if found is None:
        return None
    try:
        if found.tzinfo is not None:
            return found.astimezone(UTC)
        offset = _offset(found, beside)
        return found.astimezone(UTC) if offset is None else (found - offset).replace(tzinfo=UTC)
    except (OverflowError, ValueError, OSError):
        return None


def _offset(naive: datetime, beside: Iterable[datetime]) -> timedelta | None:
    written = naive.replace(tzinfo=UTC)
    best: tuple[timedelta, timedelta] | None = None
    for known in beside:
        apart = written - known
        offset = min(_ZONES, key=lambda zone: abs(apart - zone))
        rest = abs(apart - offset)
        if rest <= _SAME_MOMENT and (best is None or rest < best[0]):
            best = rest, offset
    return None if best is None else best[1]


def seconds_between(start: datetime | None, end: datetime | None) -> float | None:
    """Never negative: a clock that was set back in between measured nothing."""
    if start is None or end is None:
        return None
    return max(0.0, (end - start).total_seconds())
