"""What stands beside a log and tells its streams apart, whatever became of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine import log_streams
from engine.log_streams import (
    MOST_BYTES,
    Stream,
    StreamRanges,
    StreamsFile,
    changes_text,
    read_ranges,
    streams_path,
)

OUT, ERR, UNKNOWN = Stream.STDOUT, Stream.STDERR, Stream.UNKNOWN


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "agent.txt"


def told(text: bytes) -> StreamRanges:
    ranges = StreamRanges()
    ranges.feed(text)
    return ranges


def noted(log: Path, *notes: tuple[str, int]) -> StreamsFile:
    file = StreamsFile(log)
    for stream, offset in notes:
        file.note(stream, offset)
    file.close()
    return file


def test_nothing_is_written_before_the_first_byte_of_stderr(log: Path) -> None:
    noted(log, ("stdout", 0), ("stdout", 10))
    assert not streams_path(log).exists()
    assert not read_ranges(log).told


def test_a_change_costs_one_line_and_the_same_stream_none(log: Path) -> None:
    noted(log, ("stdout", 0), ("stderr", 10), ("stderr", 20), ("stdout", 30), ("stderr", 31))
    assert streams_path(log).read_bytes() == b"10 stderr\n30 stdout\n31 stderr\n"
    ranges = read_ranges(log)
    assert [ranges.at(offset) for offset in (0, 9, 10, 29, 30, 31, 10**9)] == [OUT, OUT, ERR, ERR, OUT, ERR, ERR]


def test_a_later_writer_says_where_it_begins_whatever_was_left(log: Path) -> None:
    noted(log, ("stderr", 4), ("stdout", 900), ("stderr", 950))  # and then the log was cut to 100 bytes
    noted(log, ("stdout", 100), ("stdout", 120), ("stderr", 130))
    assert read_ranges(log).changes() == [(4, ERR), (100, OUT), (130, ERR)]


def test_a_line_that_a_crash_cut_off_reads_as_none_before_and_after_a_later_writer(log: Path) -> None:
    whole = b"4 stderr\n12345 stdout\n"
    for size in range(len(b"4 stderr\n"), len(whole) - 1):
        streams_path(log).write_bytes(whole[:size])
        assert read_ranges(log).changes() == [(4, ERR)]
        noted(log, ("stdout", 99999))
        assert read_ranges(log).changes() == [(4, ERR), (99999, OUT)]


@pytest.mark.parametrize("size", [200, 1000])
def test_what_is_past_the_bound_has_a_word_and_the_file_grows_no_more(
    log: Path, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_streams, "MOST_BYTES", size)
    for begin in range(0, 2500, 500):
        noted(log, *(("stderr" if at % 2 else "stdout", at) for at in range(begin, begin + 500)))
    assert streams_path(log).stat().st_size <= size
    ranges = read_ranges(log)
    assert ranges.at(2499) is UNKNOWN and ranges.unknown_from is not None
    assert ranges.at(1) is ERR and ranges.at(2) is OUT


def test_a_file_that_is_longer_than_any_of_ours_is_read_to_the_bound_only(log: Path) -> None:
    line = b"%014d stderr\n%014d stdout\n"
    pairs = MOST_BYTES // len(line % (0, 0)) + 10
    streams_path(log).write_bytes(b"".join(line % (at * 10, at * 10 + 5) for at in range(1, pairs)))
    ranges = read_ranges(log)
    assert ranges.full and ranges.at(10) is ERR and ranges.at(15) is OUT
    assert ranges.at(pairs * 10) is UNKNOWN


def test_a_full_disk_ends_the_notes_and_is_remembered(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.write", full)
    file = noted(log, ("stderr", 4), ("stdout", 8))
    assert file.failed is not None and file.failed.errno == 28


def test_a_link_in_its_place_is_not_written_through(log: Path, tmp_path: Path) -> None:
    streams_path(log).symlink_to(tmp_path / "elsewhere")
    file = noted(log, ("stderr", 4))
    assert file.failed is not None
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"\0" * 500,
        b"stderr\n-4 stderr\n 4 stderr\n4 stderr \n4  stderr\n4 STDERR\n\xff 4 stderr\n1e3 stderr\n",
        b"1234567890123456 stderr\n",
        b"4 stderr",
        b"x" * 70 + b"\n",
    ],
)
def test_what_is_no_note_says_nothing(text: bytes) -> None:
    assert not told(text).told
    assert told(text).changes() == []


def test_notes_in_any_order_leave_what_the_last_ones_say() -> None:
    ranges = told(b"100 stderr\n50 stdout\n70 stderr\n70 stdout\n0 stderr\n20 unknown\n30 unknown\n10 stderr\n")
    assert ranges.changes() == [(0, ERR)]
    assert told(b"5 stderr\n0 stdout\n").changes() == []


def test_fed_in_pieces_it_says_what_it_says_fed_at_once() -> None:
    text = b"10 stderr\n20 stdout\n25 stderr\n22 stdout\n300 unknown\n"
    for cut in range(len(text)):
        ranges = StreamRanges()
        ranges.feed(text[:cut])
        ranges.feed(text[cut:])
        assert ranges.changes() == told(text).changes()


def test_feeding_tells_from_where_on_something_is_another_than_before() -> None:
    ranges = StreamRanges()
    assert ranges.feed(b"10 stderr\n20 stdout\n") == 10
    assert ranges.feed(b"30 stdout\n") is None
    assert ranges.feed(b"40 stderr\n") == 40
    assert ranges.feed(b"15 stderr\n") == 15


def test_the_next_and_the_last_place_of_a_stream() -> None:
    ranges = told(b"10 stderr\n20 stdout\n30 unknown\n40 stdout\n")
    assert [ranges.next_of(ERR, at) for at in (0, 10, 15, 20, 30, 39, 40)] == [10, 10, 15, 30, 30, 39, None]
    assert [ranges.next_of(OUT, at) for at in (0, 9, 10, 20, 35, 40)] == [0, 9, 20, 20, 35, 40]
    assert [ranges.last_of(ERR, at) for at in (0, 5, 10, 11, 21, 31, 40, 99)] == [None, None, None, 10, 19, 30, 39, 39]
    assert [ranges.last_of(OUT, at) for at in (0, 1, 11, 20, 21, 50)] == [None, 0, 9, 9, 20, 49]
    assert ranges.kept(ERR, [5, 10, 19, 20, 35, 45]) == [10, 19, 35]


def test_a_folder_a_pipe_and_nothing_in_its_place_say_nothing(log: Path) -> None:
    assert not read_ranges(log).told
    streams_path(log).mkdir()
    assert not read_ranges(log).told


def test_changes_written_again_say_the_same() -> None:
    ranges = told(b"0 stderr\n10 stdout\n20 unknown\n")
    assert told(changes_text(ranges.changes())).changes() == ranges.changes()
