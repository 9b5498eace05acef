"""Where in a log a person wants to go, as they type it: a line, a share, a time, or so much later or earlier."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo

from screens.log_times import is_stamp

HINT = "line 1200 · 50% · 14:02:31 · 2026-11-30 14:02 · +5m · -30s"

_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0, "ms": 0.001}
_MOVE = re.compile(r"([+-])(?=\d)((?:\d+(?:\.\d+)?(?:ms|[smhd]))+)")
_PIECE = re.compile(r"(\d+(?:\.\d+)?)(ms|[smhd])")
_CLOCK = re.compile(r"(\d{1,2}):(\d\d)(?::(\d\d)([.,]\d+)?)?([+-](?:0\d|1[0-4]):?[0-5]\d)?")
_UTC = re.compile(r"(?<=\d)\s*(?:UTC|GMT|[Zz])$")
_ZONE_APART = re.compile(r"(?<=\d)\s+(?=[+-]\d\d:?\d\d$)")


class BadPlace(ValueError):
    """The message says to a person what can be typed."""


@dataclass(frozen=True)
class LineNumber:
    number: int


@dataclass(frozen=True)
class Share:
    percent: float


@dataclass(frozen=True)
class Moved:
    seconds: float


@dataclass(frozen=True)
class ClockTime:
    """A time of day, on whichever day of the log is meant; without a zone it is meant in that of the log."""

    seconds: float
    zone: tzinfo | None = None

    def near(self, at: float, zone: tzinfo) -> float:
        """That time of day nearest to a moment, both in seconds since 1970."""
        day = datetime.fromtimestamp(at, zone).replace(hour=0, minute=0, second=0, microsecond=0)
        times = [(day + timedelta(days=days)).timestamp() + self.seconds for days in (-1, 0, 1)]
        return min(times, key=lambda time: abs(time - at))


@dataclass(frozen=True)
class Moment:
    """A date and a time; without a zone it is meant in that of the log."""

    at: datetime


@dataclass(frozen=True)
class Stamp:
    """A time as some log writes it."""

    text: str


Place = LineNumber | Share | Moved | ClockTime | Moment | Stamp


def parse_place(text: str) -> Place:
    typed = text.strip()
    text = _ZONE_APART.sub("", _UTC.sub("+00:00", typed))
    if re.fullmatch(r":?[0-9]{1,15}", text):
        return LineNumber(max(1, int(text.lstrip(":"))))
    if found := re.fullmatch(r"([0-9]{1,3}(?:\.[0-9]+)?) ?%", text):
        return Share(min(100.0, float(found[1])))
    if found := _MOVE.fullmatch(text.replace(" ", "").replace("−", "-")):
        seconds = sum(float(number) * _UNITS[unit] for number, unit in _PIECE.findall(found[2]))
        return Moved(seconds if found[1] == "+" else -seconds)
    if found := _CLOCK.fullmatch(text):
        hour, minute, second = int(found[1]), int(found[2]), int(found[3] or 0)
        if hour < 24 and minute < 60 and second < 61:
            part = float((found[4] or ".0").replace(",", "."))
            zone = datetime.strptime(found[5], "%z").tzinfo if found[5] else None
            return ClockTime(hour * 3600 + minute * 60 + second + part, zone)
    try:
        if len(text) >= 10:
            return Moment(datetime.fromisoformat(text))
    except ValueError:
        pass
    if is_stamp(typed):
        return Stamp(typed)
    raise BadPlace(f"a place is one of: {HINT}")
