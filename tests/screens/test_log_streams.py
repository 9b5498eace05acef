"""Lines of one stream alone, against what a slow and simple reader says."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from engine.log_streams import Stream, streams_path
from screens.files_tree import read_tree
from screens.log_file import GrowingFile
from screens.log_filter import FilteredReader
from screens.log_index import LineIndex
from screens.log_lines import LineReader
from screens.log_pattern import Pattern, filter_pattern
from screens.log_scan import first_from, last_before
from screens.log_search import Search
from screens.log_streams import LogStreams, StreamReader
from tests.screens.stream_logs import Written, written

OUT, ERR = Stream.STDOUT, Stream.STDERR


def ranges_of(path: Path) -> tuple[GrowingFile, LogStreams]:
    file, streams = GrowingFile(path), LogStreams(path)
    file.look()
    streams.read_on(file.size)
    return file, streams


def starts_of(reader: LineReader) -> list[int]:
    """By going down from the beginning."""
    found, at = [], 0
    while (line := reader.line_at(at)) is not None:
        found.append(line.start)
        at = line.after
    return found


def starts_upwards(reader: LineReader) -> list[int]:
    found, at = [], reader.file.size
    while (line := reader.line_before(at)) is not None:
        found.append(line.start)
        at = line.start
    return found[::-1]


class Counted:
    """A file that notes how many bytes each look into it took."""

    def __init__(self, file: GrowingFile) -> None:
        self.file = file
        self.lengths: list[int] = []

    @property
    def size(self) -> int:
        return self.file.size

    def read(self, offset: int, length: int) -> bytes:
        self.lengths.append(length)
        return self.file.read(offset, length)


def pieces_by_chance(chance: random.Random) -> list[Written]:
    letters = [b"a", b"bb", b"\n", b"\n", b"x" * 5000, b"c\nd"]
    return [
        (chance.choice(["stdout", "stderr"]), b"".join(chance.choices(letters, k=chance.randint(1, 4))))
        for _ in range(chance.randint(1, 25))
    ]


@pytest.mark.parametrize("seed", range(60))
def test_up_and_down_it_finds_the_lines_that_the_stream_began(tmp_path: Path, seed: int) -> None:
    pieces = pieces_by_chance(random.Random(seed))
    path = written(tmp_path / "agent.txt", *pieces)
    whose = [stream for stream, data in pieces for _ in data]
    data = path.read_bytes()
    begins = [0, *(at + 1 for at in range(len(data) - 1) if data[at : at + 1] == b"\n")]
    file, streams = ranges_of(path)
    for stream in (OUT, ERR):
        wanted = [at for at in begins if whose[at] == stream]
        if not streams.told:
            continue
        reader = StreamReader(file, LineIndex(file), streams.only(stream))
        assert starts_of(reader) == wanted
        assert starts_upwards(reader) == wanted
        for offset in {*begins, *(at + 1 for at in begins)}:
            line = reader.line_of(offset)
            own = max(at for at in begins if at <= offset)
            expected = next((at for at in wanted if at >= own), wanted[-1] if wanted else None)
            assert (line.start if line is not None else None) == expected
        found = Search(file, filter_pattern("!x"), streams.only(stream).kept)
        found.extend()
        passing = [at for at in wanted if b"x" not in data[at:].partition(b"\n")[0]]
        assert found.count == len(passing)
        assert starts_of(FilteredReader(file, LineIndex(file), found)) == passing


def test_errors_are_looked_for_in_one_stream_alone(tmp_path: Path) -> None:
    path = written(tmp_path / "a.txt", ("stdout", b"bad 1\n"), ("stderr", b"bad 2\n"), ("stdout", b"bad 3\n"))
    file, streams = ranges_of(path)
    keeps = streams.only(ERR).kept
    assert first_from(file, Pattern("bad"), 0, keeps=keeps) == 6
    assert last_before(file, Pattern("bad"), file.size, keeps=keeps) == 6
    assert first_from(file, Pattern("bad"), 12, keeps=keeps) is None


def test_notes_that_go_on_are_read_from_where_one_was_and_others_from_their_beginning(tmp_path: Path) -> None:
    log = tmp_path / "agent.txt"
    streams = LogStreams(log)
    assert streams.read_on(5) is None and not streams.told and streams.seen == 5
    streams_path(log).write_bytes(b"10 stderr\n")
    assert streams.read_on(20) == 10 and streams.at(10) is ERR and streams.at(20) is None
    with streams_path(log).open("ab") as file:
        file.write(b"30 stdout\n")
    assert streams.read_on(40) == 30 and streams.at(30) is OUT
    streams_path(log).unlink()
    assert streams.read_on(50) is None and streams.at(10) is ERR, "what was known stays"
    streams_path(log).write_bytes(b"15 stderr\n")
    assert streams.read_on(50) == 0 and streams.at(10) is OUT and streams.at(15) is ERR


def test_rare_lines_of_a_long_log_are_there_at_once(tmp_path: Path) -> None:
    """What lies between them is not read."""
    path = tmp_path / "agent.txt"
    plain = b"an ordinary line of some length\n" * 32_768
    written(
        path, *(("stdout", plain) for _ in range(30)), ("stderr", b"once\n"), *(("stdout", plain) for _ in range(30))
    )
    file, streams = ranges_of(path)
    counted = Counted(file)
    reader = StreamReader(counted, LineIndex(counted), streams.only(ERR))
    assert starts_of(reader) == starts_upwards(reader) == [30 * len(plain)]
    assert sum(counted.lengths) < 100_000


def test_among_the_files_it_is_said_what_stands_beside_a_log(tmp_path: Path) -> None:
    written(tmp_path / "agent.txt", ("stderr", b"two\n"))
    (tmp_path / "alone.streams").write_text("of something else\n")
    told = {entry.name: entry.detail for entry in read_tree(tmp_path)}
    assert told["agent.txt.streams"] == "which bytes of the log came on stderr"
    assert told["agent.txt"] == told["alone.streams"] == ""


def test_lines_that_stdout_begins_and_stderr_ends_are_walked_over_once(tmp_path: Path) -> None:
    half: list[Written] = [("stdout", b"building "), ("stderr", b"done\n")] * 300
    path = written(tmp_path / "agent.txt", *half, ("stderr", b"one\n"), *half, ("stdout", b"open "), ("stderr", b"end"))
    file, streams = ranges_of(path)
    counted = Counted(file)
    reader = StreamReader(counted, LineIndex(counted), streams.only(ERR))
    one = len(b"building done\n") * 300
    for _ in range(3):
        counted.lengths.clear()
        assert starts_of(reader) == starts_upwards(reader) == [one]
    assert len(counted.lengths) < 30
    written(path, ("stderr", b"ed\ntwo\n"))
    file.look()
    streams.read_on(file.size)
    two = file.size - len(b"two\n")
    assert starts_of(reader) == starts_upwards(reader) == [one, two]
