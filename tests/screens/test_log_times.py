"""When a line was written, and where in a log a moment is."""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from screens.log_file import GrowingFile
from screens.log_index import LineIndex
from screens.log_lines import LineReader
from screens.log_places import BadPlace, ClockTime, LineNumber, Moment, Moved, Share, Stamp, parse_place
from screens.log_times import LogTimes
from tests.screens.test_log_lines import InMemory

DATED = datetime(2026, 11, 30, 18, 0, tzinfo=UTC)
INDIA = timezone(timedelta(hours=5, minutes=30))
NOON = datetime(2026, 11, 30, 12, 3, 44, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("line", "at"),
    [
        ("2026-11-30T12:03:44Z x", NOON),
        ("2026-11-30T12:03:44.250000000Z docker", NOON + 0.25),
        ("2026-11-30 12:03:44,250 INFO python logging", NOON + 0.25),
        ("2026-11-30T14:03:44+02:00 x", NOON),
        ("2026-11-30 10:03:44-0200 x", NOON),
        ("2026/11/30 12:03:44 [error] nginx", NOON),
        ('127.0.0.1 - - [30/Nov/2026:12:03:44 +0000] "GET /"', NOON),
        ("Nov 30 12:03:44 host cron[1]: x", NOON),
        ("1:M 30 Nov 2026 12:03:44.250 * Ready to accept connections", NOON + 0.25),
        ("1:M 30 Abc 2026 12:03:44.250 no such month", None),
        ("<13>Nov 30 12:03:44 host x", NOON),
        ("Dec  9 12:03:44 host last year", NOON - 356 * 86_400),
        ("[12:03:44] x", NOON),
        ("12:03:44.250 x", NOON + 0.25),
        ("[20:03:44] later than the file: the day before", NOON + 8 * 3600 - 86_400),
        (f"{int(NOON)} x", NOON),
        (f"[{int(NOON)}.250] x", NOON + 0.25),
        (f"{int(NOON)}250 x", NOON + 0.25),
        (f'{{"level":"info","ts":{int(NOON)}.25,"msg":"x"}}', NOON + 0.25),
        ('{"msg":"x","timestamp":"2026-11-30T12:03:44Z"}', NOON),
        ("\x1b[32m[12:03:44]\x1b[0m coloured", NOON),
        ("took 12:03:44 in all", None),
        ("2026-13-45T12:03:44Z no such day", None),
        ("port 1234567890123 x", None),
        ("", None),
    ],
)
def test_the_time_of_a_line(line: str, at: float | None) -> None:
    assert LogTimes(DATED).seconds(line.encode()) == (None if at is None else pytest.approx(at, abs=0.01))


def test_a_stamp_without_a_zone_is_in_the_zone_of_the_log() -> None:
    times = LogTimes(DATED, timezone(timedelta(hours=2)))
    assert times.seconds(b"2026-11-30 14:03:44 x") == NOON
    assert times.seconds(b"2026-11-30 12:03:44Z x") == NOON


def test_the_zone_of_a_line_is_that_of_the_stamp_that_is_read_and_no_impossible_one() -> None:
    lines = b"\x1b[32m2026-11-30T14:03:44+02:00\x1b[0m x\n2026-11-30T12:03:44+99:99 y\n"
    file = InMemory(lines)
    reader, times = LineReader(file, LineIndex(file)), LogTimes(DATED)
    first = reader.line_at(0)
    assert first is not None
    assert times.zone_of(reader, first).utcoffset(None) == timedelta(hours=2)
    second = reader.line_at(first.after)
    assert second is not None
    assert times.of_line(reader, second) is None
    assert times.zone_of(reader, second) == UTC


@given(
    steps=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 400), st.booleans()), max_size=80),
    wanted=st.integers(-5, 260),
)
@settings(deadline=None)
def test_a_moment_is_found_among_lines_with_and_without_times(steps: list[tuple[int, int, bool]], wanted: int) -> None:
    text, at, expected, offset = "", 0, None, 0
    for step, length, timed in steps:
        at += step
        stamp = f"{datetime.fromtimestamp(NOON + at, UTC):%Y-%m-%dT%H:%M:%SZ} " if timed else ""
        line = stamp + "x" * length + "\n"
        if timed and at >= wanted and expected is None:
            expected = offset
        text += line
        offset += len(line)
    file = InMemory(text.encode())
    found = LogTimes(DATED).find(LineReader(file, LineIndex(file)), NOON + wanted)
    assert (found.start if found else None) == expected


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("1200", LineNumber(1200)),
        ("0", LineNumber(1)),
        ("50%", Share(50)),
        ("14:02:31", ClockTime(50_551)),
        ("14:02", ClockTime(50_520)),
        ("+5m", Moved(300)),
        ("-30s", Moved(-30)),
        ("+1h30m", Moved(5_400)),
        ("2026-11-30 14:02", Moment(datetime(2026, 11, 30, 14, 2))),
        ("2026-11-30T14:02:31Z", Moment(datetime(2026, 11, 30, 14, 2, 31, tzinfo=UTC))),
        ("2026-11-30 14:02 UTC", Moment(datetime(2026, 11, 30, 14, 2, tzinfo=UTC))),
        ("2026-11-30 14:02 +0530", Moment(datetime(2026, 11, 30, 14, 2, tzinfo=INDIA))),
        ("14:02Z", ClockTime(50_520, UTC)),
        ("14:02:31 UTC", ClockTime(50_551, UTC)),
        ("14:02:31.5 +05:30", ClockTime(50_551.5, INDIA)),
        ("Nov 30 14:02:31", Stamp("Nov 30 14:02:31")),
        ("30/Nov/2026:14:02:31 +0000", Stamp("30/Nov/2026:14:02:31 +0000")),
        ("1796047351.25", Stamp("1796047351.25")),
    ],
)
def test_places_as_they_are_typed(text: str, place: object) -> None:
    assert parse_place(text) == place


@pytest.mark.parametrize("text", ["", "x", "25:00", "+5", "5m", "12:99", "-", "%", "²", "14:02+99:00", "took 14:02:31"])
def test_what_is_no_place_says_what_one_is(text: str) -> None:
    with pytest.raises(BadPlace, match="14:02:31"):
        parse_place(text)


def test_a_time_of_day_is_meant_on_the_nearest_day() -> None:
    midnight = datetime(2026, 11, 30, 23, 50, tzinfo=UTC).timestamp()
    assert ClockTime(600).near(midnight, UTC) == midnight + 1_200


def test_a_log_in_local_time_is_in_that_of_its_own_day_and_not_of_today(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setenv("TZ", "Europe/Berlin")
        time.tzset()
        try:
            for month in (1, 7):
                path = tmp_path / f"{month}.log"
                path.write_text(f"2026-{month:02}-15 12:03:44 x\n")
                written = datetime(2026, month, 15, 12, 3, 44).timestamp()
                os.utime(path, (written, written))
                file = GrowingFile(path)
                file.look()
                reader = LineReader(file, LineIndex(file))
                first = LogTimes.of(path, reader).first(reader)
                assert first is not None
                assert first[1] == written
        finally:
            patched.undo()
            time.tzset()
