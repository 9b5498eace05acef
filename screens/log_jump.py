"""From a place that a person asks for to the line of a log that stands there."""

from __future__ import annotations

from collections.abc import Callable

from screens.log_lines import LineReader
from screens.log_places import ClockTime, Moment, Moved, Place, Stamp
from screens.log_times import LogTimes

Stop = Callable[[], bool]
Looked = tuple[int | None, str]
"""Where a line begins, or None and what to say."""

NO_TIMES = "the lines of this log tell no time"
ENDS_BEFORE = "the log ends before that"


def at_place(place: Place, reader: LineReader, times: LogTimes, here: int, stop: Stop) -> Looked:
    """The first line written then or later, or the last one with a time. Reads the file: call it in a thread."""
    known = times.first(reader, here) or times.last(reader, here) or times.last(reader)
    if known is None:
        return None, NO_TIMES
    line, now = known
    match place:
        case Moved(seconds):
            wanted = now + seconds
        case ClockTime():
            wanted = place.near(now, place.zone or times.zone_of(reader, line))
        case Stamp(text):
            told = times.seconds(text.encode("utf-8", "surrogateescape"))
            if told is None:
                return None, "there is no such time"
            wanted = told
        case Moment(at):
            zone = at.tzinfo or times.zone_of(reader, line)
            wanted = at.replace(tzinfo=zone).timestamp()
        case _:
            return None, ""
    found = times.find(reader, wanted, stop)
    if found is not None:
        return found.start, ""
    last = times.last(reader)
    return (None, NO_TIMES) if last is None else (last[0].start, ENDS_BEFORE)
