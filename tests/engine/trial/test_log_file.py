"""The log of a command: every byte in its order, and beside it which of them came on stderr."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine import log_streams
from engine.issues import Phase
from engine.layout import trial_logs
from engine.log_streams import Stream, read_ranges, streams_path
from engine.trial.log_file import LogFile

ERR, OUT = Stream.STDERR, Stream.STDOUT


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "agent" / "command.txt"


def write(path: Path, *pieces: tuple[str, bytes]) -> LogFile:
    with LogFile(path, path.parent.parent) as log:
        for stream, data in pieces:
            log.write(stream, data)
    return log


def stream_of_each_line(path: Path) -> list[tuple[bytes, Stream]]:
    """A line is of the stream that its first byte came from."""
    ranges, at, found = read_ranges(path), 0, []
    for line in path.read_bytes().splitlines(keepends=True):
        found.append((line.rstrip(b"\n"), ranges.at(at)))
        at += len(line)
    return found


def test_both_streams_stand_in_their_order_and_each_line_knows_its_own(path: Path) -> None:
    write(path, ("stdout", b"one\ntw"), ("stdout", b"o\n"), ("stderr", b"bad\nworse\n"), ("stdout", b"three\n"))
    assert path.read_bytes() == b"one\ntwo\nbad\nworse\nthree\n"
    assert stream_of_each_line(path) == [
        (b"one", OUT), (b"two", OUT), (b"bad", ERR), (b"worse", ERR), (b"three", OUT),
    ]  # fmt: skip


def test_a_line_that_both_streams_wrote_is_of_the_one_that_began_it(path: Path) -> None:
    write(path, ("stdout", b"building "), ("stderr", b"warning!\n"), ("stderr", b"more "), ("stdout", b"done\nend\n"))
    assert stream_of_each_line(path) == [(b"building warning!", OUT), (b"more done", ERR), (b"end", OUT)]


def test_without_stderr_nothing_stands_beside_it(path: Path) -> None:
    write(path, ("stdout", b"one\n"), ("stderr", b""), ("stdout", b"two\n"))
    assert [child.name for child in path.parent.iterdir()] == ["command.txt"]


def test_a_log_that_is_gone_on_with_keeps_what_it_knew(path: Path) -> None:
    write(path, ("stdout", b"one\n"))
    write(path, ("stderr", b"two\n"))
    write(path, ("stderr", b"three\n"))
    write(path, ("stdout", b"four\n"))
    assert stream_of_each_line(path) == [(b"one", OUT), (b"two", ERR), (b"three", ERR), (b"four", OUT)]


def test_what_a_crash_noted_of_bytes_that_never_came_does_not_count(path: Path) -> None:
    write(path, ("stdout", b"one\n"), ("stderr", b"two\n"))
    with streams_path(path).open("ab") as file:
        file.write(b"8 stdout\n8 stderr\n1000 stdout\n20")
    write(path, ("stdout", b"three\n"), ("stderr", b"four\n"))
    assert stream_of_each_line(path) == [(b"one", OUT), (b"two", ERR), (b"three", OUT), (b"four", ERR)]


def test_streams_that_change_for_ever_cost_no_more_than_the_bound(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_streams, "MOST_BYTES", 300)
    write(path, *(("stderr" if number % 2 else "stdout", b"x\n") for number in range(1000)))
    assert path.stat().st_size == 2000
    assert streams_path(path).stat().st_size <= 300
    lines = stream_of_each_line(path)
    assert lines[0][1] is OUT and lines[1][1] is ERR and lines[-1][1] is Stream.UNKNOWN


def test_what_can_not_be_noted_is_said_and_the_log_is_whole(path: Path) -> None:
    streams_path(path).mkdir(parents=True)
    log = write(path, ("stdout", b"one\n"), ("stderr", b"two\n"))
    assert path.read_bytes() == b"one\ntwo\n"
    complaint = log.complaint(Phase.AGENT)
    assert complaint is not None and "which came on stderr" in complaint.message


def test_it_is_no_log_of_the_trial(tmp_path: Path) -> None:
    for name in ("agent/command.txt", "verifier/test-stdout.txt", "logs/hooks.log", "logs/services/main.log"):
        write(tmp_path / name, ("stderr", b"two\n"))
    assert [log.label for log in trial_logs(tmp_path)] == ["command", "main", "hooks", "test-stdout"]
