"""When a line of a log was written, and where in a log a moment is.

Known are ISO 8601 (Docker, most programs, Python's `logging` with its comma), the same with `/`, Apache's and
nginx's, Redis's (`30 Nov 2026 12:03:44.250`), syslog's without a year, seconds and milliseconds since 1970, and a
bare time of day as in `[12:03:44]`. Stamps without a zone are taken for UTC, as containers have it, or for local time
where that lies nearer to the file's own date.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from pathlib import Path

from screens.log_lines import Line, LineReader
from screens.log_pattern import as_read

_HEAD = 240
"""A line's time is looked for in so many bytes at its beginning."""
_UNTIMED = 256 * 1024
"""How far one looks for a line with a time behind one without."""
_MONTHS = {name: number for number, name in enumerate(b"Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(), 1)}

_STAMP = re.compile(
    rb"(?P<year>(?:19|20)\d\d)[-/](?P<month>\d\d)[-/](?P<day>\d\d)[T _](?P<clock>\d\d:\d\d:\d\d)(?:[.,](?P<part>\d+))?"
    rb"(?: ?(?P<zone>Z|UTC|[+-]\d\d:?\d\d))?"
    rb"|(?P<day2>\d\d)/(?P<name2>[A-Z][a-z]{2})/(?P<year2>\d{4}):(?P<clock2>\d\d:\d\d:\d\d) (?P<zone2>[+-]\d{4})"
    rb"|^(?:<\d+>)?(?P<name3>[A-Z][a-z]{2}) +(?P<day3>\d\d?) (?P<clock3>\d\d:\d\d:\d\d)(?:\.(?P<part3>\d+))?\b"
    rb"|\b(?P<day6>\d\d?) (?P<name6>[A-Z][a-z]{2}) (?P<year6>(?:19|20)\d\d) "
    rb"(?P<clock6>\d\d:\d\d:\d\d)(?:\.(?P<part6>\d+))?"
    rb"|(?:^\W{0,2}|\"(?:ts|time|timestamp|created|at)\": ?\"?)"
    rb"(?P<epoch>1\d{9})(?P<milli>\d{3})?(?:\.(?P<part4>\d+))?\b"
    rb"|^\W{0,2}(?P<clock5>\d\d:\d\d:\d\d)(?:[.,](?P<part5>\d+))?(?=\W|$)"
)


class LogTimes:
    """The times of one log. `dated` is the moment its file was last written: what stamps leave out is taken from it."""

    def __init__(self, dated: datetime | None = None, zone: tzinfo = UTC) -> None:
        self.dated = dated or datetime.now(UTC)
        self.zone = zone
        self._days: dict[bytes, float] = {}

    @classmethod
    def of(cls, path: Path, reader: LineReader) -> LogTimes:
        """Of a file whose last line with a time tells which zone its stamps are in."""
        try:
            dated = datetime.fromtimestamp(path.stat().st_mtime, UTC)
        except OSError:
            return cls()
        times = cls(dated)
        local = dated.astimezone().tzinfo  # as it was then: summer time is not that of today
        last = times.last(reader)
        if last is not None and local is not None and times.zone_free(reader, last[0]):
            other = cls(dated, local)
            at = other.of_line(reader, last[0])
            if at is not None and abs(at - dated.timestamp()) + 60 < abs(last[1] - dated.timestamp()):
                return other
        return times

    def seconds(self, data: bytes) -> float | None:
        """Since 1970, from a line's beginning; None where it tells no time."""
        found = _stamp_in(data)
        if found is None:
            return None
        try:
            return self._seconds(found)
        except (ValueError, OverflowError, KeyError):
            return None

    def _seconds(self, found: re.Match[bytes]) -> float:
        if epoch := found["epoch"]:
            return int(epoch) + (int(found["milli"]) / 1000 if found["milli"] else _part(found["part4"]))
        if clock := found["clock"]:
            day = self._day(int(found["year"]), int(found["month"]), int(found["day"]), found["zone"] or b"")
            return day + _clock(clock) + _part(found["part"])
        if clock := found["clock2"]:
            day = self._day(int(found["year2"]), _MONTHS[found["name2"]], int(found["day2"]), found["zone2"])
            return day + _clock(clock)
        if clock := found["clock6"]:
            day = self._day(int(found["year6"]), _MONTHS[found["name6"]], int(found["day6"]), b"")
            return day + _clock(clock) + _part(found["part6"])
        latest = self.dated.timestamp() + 60
        if clock := found["clock3"]:
            month, year = _MONTHS[found["name3"]], self.dated.year
            at = self._day(year, month, int(found["day3"]), b"") + _clock(clock) + _part(found["part3"])
            if at <= latest + 86_400:
                return at
            return self._day(year - 1, month, int(found["day3"]), b"") + _clock(clock) + _part(found["part3"])
        today = self.dated.astimezone(self.zone)
        at = self._day(today.year, today.month, today.day, b"") + _clock(found["clock5"]) + _part(found["part5"])
        return at if at <= latest else at - 86_400

    def _day(self, year: int, month: int, day: int, zone: bytes) -> float:
        key = b"%d-%d-%d %s" % (year, month, day, zone)
        seconds = self._days.get(key)
        if seconds is None:
            if len(self._days) > 4_000:
                self._days.clear()
            midnight = date(year, month, day)
            where = self.zone if not zone else _zone(zone)
            seconds = datetime(midnight.year, midnight.month, midnight.day, tzinfo=where).timestamp()
            self._days[key] = seconds
        return seconds

    # --- in a file ---

    def of_line(self, reader: LineReader, line: Line) -> float | None:
        return self.seconds(reader.file.read(line.start, min(line.length, _HEAD)))

    def zone_of(self, reader: LineReader, line: Line) -> tzinfo:
        """The zone that a line's own stamp is in."""
        found = _stamp_in(reader.file.read(line.start, min(line.length, _HEAD)))
        zone = (found["zone"] or found["zone2"]) if found else None
        try:
            return _zone(zone) if zone else self.zone
        except ValueError:  # +99:99
            return self.zone

    def zone_free(self, reader: LineReader, line: Line) -> bool:
        """A line's stamp names no zone, so one has to be supposed."""
        found = _stamp_in(reader.file.read(line.start, min(line.length, _HEAD)))
        return found is not None and not (found["zone"] or found["zone2"] or found["epoch"])

    def first(self, reader: LineReader, offset: int = 0, end: int | None = None) -> tuple[Line, float] | None:
        """The first line with a time from the line at `offset` on, within a bounded distance."""
        until = min(offset + _UNTIMED, reader.file.size if end is None else end)
        line = reader.line_at(offset)
        while line is not None and line.start < until:
            at = self.of_line(reader, line)
            if at is not None:
                return line, at
            line = reader.line_at(line.after)
        return None

    def last(self, reader: LineReader, offset: int | None = None) -> tuple[Line, float] | None:
        """The last line with a time that begins before `offset`, within a bounded distance."""
        start = reader.file.size if offset is None else offset
        line = reader.line_before(start)
        while line is not None and line.start >= start - _UNTIMED:
            at = self.of_line(reader, line)
            if at is not None:
                return line, at
            line = reader.line_before(line.start)
        return None

    def find(self, reader: LineReader, at: float, stop: Callable[[], bool] = lambda: False) -> Line | None:
        """The first line written at that moment or later; None where the log ends before it, or tells no times."""
        low, high = 0, reader.file.size
        while high - low > _HEAD and not stop():
            middle = reader.line_of((low + high) // 2)
            found = self.first(reader, middle.start, high) if middle is not None else None
            if middle is None or found is None or middle.start <= low:
                if middle is not None and low < middle.start:
                    high = middle.start
                    continue
                break
            if found[1] < at:
                low = found[0].after
            else:
                high = middle.start
        found = self.first(reader, low)
        while found is not None and found[1] < at and not stop():
            found = self.first(reader, found[0].after)
        return found[0] if found is not None else None


def _stamp_in(data: bytes) -> re.Match[bytes] | None:
    return _STAMP.search(as_read(data[:_HEAD]) if b"\x1b" in data[:_HEAD] else data, 0, _HEAD)


def is_stamp(text: str) -> bool:
    """A time stands at the text's beginning, in a form that logs have."""
    found = _STAMP.match(text.encode("utf-8", "surrogateescape"))
    return found is not None


def _clock(text: bytes) -> int:
    return int(text[:2]) * 3600 + int(text[3:5]) * 60 + int(text[6:8])


def _part(text: bytes | None) -> float:
    return float(b"0." + text[:9]) if text else 0.0


def _zone(text: bytes) -> tzinfo:
    if text in (b"Z", b"UTC"):
        return UTC
    minutes = int(text[1:3]) * 60 + int(text[-2:])
    return timezone(timedelta(minutes=-minutes if text[:1] == b"-" else minutes))
