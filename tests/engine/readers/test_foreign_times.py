"""Local times without a zone beside times in UTC."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from engine.readers.foreign_times import in_utc, parsed, seconds_between


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.fixture
def tokyo(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize(
    ("local", "expected"),
    [
        ("2026-11-29T23:34:58.127139", "2026-11-29T23:34:58.127139"),
        ("2026-11-29T15:34:58", "2026-11-29T23:34:58"),  # Los Angeles
        ("2026-11-30T05:04:58", "2026-11-29T23:34:58"),  # India
        ("2026-11-30T05:19:58", "2026-11-29T23:34:58"),  # Nepal
    ],
)
def test_a_time_without_a_zone_is_placed_by_a_known_time_of_the_same_moment(local: str, expected: str) -> None:
    """Case 77."""
    assert in_utc(local, [utc("2026-11-29T23:34:58.164493")]) == utc(expected)


def test_the_hour_that_comes_twice_is_told_by_what_stands_beside_it() -> None:
    """Case 77: a start at half past two, an end twenty minutes earlier on the clock."""
    start = in_utc("2026-10-25T02:30:00", [utc("2026-10-25T00:30:04")])
    end = in_utc("2026-10-25T02:10:00+01:00")
    assert (start, end) == (utc("2026-10-25T00:30:00"), utc("2026-10-25T01:10:00"))
    assert seconds_between(start, end) == 2400.0


@pytest.mark.usefixtures("tokyo")
def test_with_nothing_of_the_same_moment_beside_it_it_is_local_here() -> None:
    assert in_utc("2026-11-29T23:00:00") == utc("2026-11-29T14:00:00")
    assert in_utc("2026-11-29T23:00:00", [utc("2026-11-29T12:20:00")]) == utc("2026-11-29T14:00:00")
    assert in_utc("2026-11-29T23:00:00Z") == utc("2026-11-29T23:00:00")


@pytest.mark.parametrize(
    "value", [None, True, "", "soon", "9" * 1000, 1e300, float("nan"), [], {}, "0001-01-01T00:00:00+14:00"]
)
def test_what_is_no_time_is_none(value: object) -> None:
    assert in_utc(value, [utc("2026-11-29T12:20:00")]) is None


def test_seconds_since_the_epoch_are_a_time() -> None:
    assert parsed(0) == utc("1970-01-01T00:00:00")


def test_durations_are_never_negative() -> None:
    assert seconds_between(utc("2026-01-01T00:00:05"), utc("2026-01-01T00:00:00")) == 0.0
    assert seconds_between(None, utc("2026-01-01T00:00:00")) is None
