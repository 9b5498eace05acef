"""Lines of a file read from anywhere, against a naive split of all its bytes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from screens import log_index, log_lines
from screens.log_file import Change, GrowingFile
from screens.log_index import BLOCK, LineIndex
from screens.log_lines import Line, LineReader


class InMemory:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.reads = 0

    @property
    def size(self) -> int:
        return len(self.data)

    def read(self, offset: int, length: int) -> bytes:
        self.reads += 1
        return self.data[max(0, offset) : max(0, offset + length)]


def naive(data: bytes) -> list[Line]:
    lines: list[Line] = []
    start = 0
    for piece in data.split(b"\n"):
        end = start + len(piece)
        if start < len(data):
            lines.append(Line(start, end, min(end + 1, len(data))))
        start = end + 1
    return lines


small_lines = st.lists(st.binary(max_size=12), max_size=40).map(b"\n".join)
large_lines = st.lists(
    st.sampled_from([b"", b"x", b"y" * 5_000, b"z" * (BLOCK - 1), b"w" * BLOCK, b"v" * (3 * BLOCK + 7)]),
    max_size=12,
).map(b"\n".join)


@given(data=st.one_of(small_lines, large_lines), indexed=st.booleans())
@settings(deadline=None)
def test_lines_forwards_backwards_and_by_number_agree_with_a_split(data: bytes, indexed: bool) -> None:
    file = InMemory(data)
    index = LineIndex(file)
    if indexed:
        assert index.extend()
    reader = LineReader(file, index)
    expected = naive(data)

    forwards: list[Line] = []
    position = 0
    while (line := reader.line_at(position)) is not None:
        forwards.append(line)
        position = line.after
    assert forwards == expected

    backwards: list[Line] = []
    position = file.size
    while (line := reader.line_before(position)) is not None:
        backwards.append(line)
        position = line.start
    assert backwards[::-1] == expected

    if indexed:
        assert index.lines == len(expected)
        assert [reader.numbered(number + 1) for number in range(len(expected))] == expected
        assert [reader.number(line) for line in expected] == list(range(1, len(expected) + 1))
        assert reader.numbered(len(expected) + 1) is None
        assert reader.numbered(0) is None


@given(data=st.one_of(small_lines, large_lines), offset=st.integers(0, 400_000))
@settings(deadline=None)
def test_any_byte_belongs_to_the_line_a_split_puts_it_in(data: bytes, offset: int) -> None:
    file = InMemory(data)
    reader = LineReader(file, LineIndex(file))
    found = reader.line_of(offset)
    if not data:
        assert found is None
        return
    offset = min(offset, len(data) - 1)
    assert found == next(
        line for line in naive(data) if line.start <= offset and offset < max(line.after, line.end + 1)
    )


@given(pieces=st.lists(st.binary(max_size=200), max_size=8), data=st.data())
@settings(deadline=None)
def test_an_index_that_grows_with_its_file_is_the_index_of_the_whole(pieces: list[bytes], data: st.DataObject) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(log_index, "BLOCK", 16)
        patched.setattr(log_index, "_STEP", 32)
        file = InMemory(b"")
        index = LineIndex(file)
        for piece in pieces:
            file.data += piece
            if data.draw(st.booleans()):
                index.extend()
        index.extend()
        assert index.complete
        assert index.newlines == file.data.count(b"\n")
        for offset in range(file.size + 1):
            assert index.newlines_before(offset) == file.data[:offset].count(b"\n")


def test_an_index_being_built_answers_for_the_part_it_has_seen() -> None:
    file = InMemory(b"a\n" * BLOCK * 20)
    index = LineIndex(file)
    stops = iter([False, True])
    assert not index.extend(lambda: next(stops))
    assert 0 < index.scanned < file.size
    assert index.newlines_before(10) == 5
    assert index.newlines_before(file.size) is None
    assert index.extend()
    assert index.lines == BLOCK * 20


def test_a_gigantic_line_is_jumped_over_with_the_index_and_never_read_whole_without() -> None:
    data = b"first\n" + b"x" * (40 * 1024 * 1024) + b"\nlast\n"
    file = InMemory(data)
    index = LineIndex(file)
    reader = LineReader(file, index)
    unknown = reader.line_at(6)
    assert unknown is not None and not unknown.whole
    assert unknown.length <= log_lines.SEARCHED_BYTES + 2 * BLOCK
    index.extend()
    file.reads = 0
    known = reader.line_at(6)
    assert known == Line(6, len(data) - 6, len(data) - 5)
    assert reader.line_before(len(data) - 5) == known
    assert file.reads < 20


def test_a_million_lines_are_numbered_right(tmp_path: Path) -> None:
    path = tmp_path / "seq.log"
    path.write_text("".join(f"{number}\n" for number in range(1, 1_000_001)))
    file = GrowingFile(path)
    assert file.look() is Change.GREW
    index = LineIndex(file)
    assert index.extend()
    reader = LineReader(file, index)
    assert index.lines == 1_000_000
    for number in (1, 2, 9_999, 500_000, 1_000_000):
        line = reader.numbered(number)
        assert line is not None
        assert file.read(line.start, line.length) == str(number).encode()
        assert reader.number(line) == number


def test_a_file_that_grows_is_told_from_one_that_was_cut_replaced_or_written_anew(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    file = GrowingFile(path)
    assert file.look() is Change.MISSING
    path.write_bytes(b"one\n")
    assert file.look() is Change.GREW
    assert file.look() is Change.NONE
    with path.open("ab") as more:
        more.write(b"two\n")
    assert file.look() is Change.GREW
    assert file.read(0, 100) == b"one\ntwo\n"
    os.truncate(path, 4)
    assert file.look() is Change.REPLACED
    assert file.size == 4
    path.write_bytes(b"quite another and longer text\n")  # same inode, cut and regrown between two looks
    assert file.look() is Change.REPLACED
    other = tmp_path / "b.log"
    other.write_bytes(b"new\n")
    other.rename(path)
    assert file.look() is Change.REPLACED
    assert file.read(0, 100) == b"new\n"
    assert not file.gone
    path.unlink()
    assert file.look() is Change.NONE
    assert file.gone
    assert file.read(0, 100) == b"new\n"
    file.close()
    assert file.read(0, 100) == b""


def test_nothing_beyond_the_last_look_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(b"one\n")
    file = GrowingFile(path)
    file.look()
    path.write_bytes(b"one\ntwo\n")
    assert file.read(0, 100) == b"one\n"


def test_a_pipe_in_the_place_of_a_log_does_not_hang(tmp_path: Path) -> None:
    path = tmp_path / "pipe.log"
    os.mkfifo(path)
    file = GrowingFile(path)
    assert file.look() is Change.MISSING
    assert file.missing == "not a file"
    assert file.size == 0
    assert file.read(0, 10) == b""
    file.close()


def test_a_file_of_the_same_size_that_was_written_anew_is_seen(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    path.write_bytes(b"running\n")
    file = GrowingFile(path)
    file.look()
    path.write_bytes(b"stopped\n")
    os.utime(path, ns=(1, 1))
    assert file.look() is Change.REPLACED
    assert file.read(0, 100) == b"stopped\n"
    os.utime(path, ns=(2, 2))
    assert file.look() is Change.NONE
    file.close()


def test_what_takes_the_name_of_a_file_and_is_none_is_not_read(tmp_path: Path) -> None:
    path, elsewhere = tmp_path / "a.log", tmp_path / "secret"
    elsewhere.write_bytes(b"secret\n")
    path.write_bytes(b"one\n")
    file = GrowingFile(path)
    file.look()
    for kind in ("link", "folder", "pipe"):
        if path.is_dir():
            path.rmdir()
        else:
            path.unlink()
        if kind == "link":
            path.symlink_to(elsewhere)
        elif kind == "folder":
            path.mkdir()
        else:
            os.mkfifo(path)
        assert file.look() is Change.NONE
        assert file.gone
        assert file.read(0, 100) == b"one\n"
    path.unlink()
    path.write_bytes(b"two\n")
    assert file.look() is Change.REPLACED
    assert not file.gone
    file.close()


def test_a_link_that_was_given_is_followed(tmp_path: Path) -> None:
    path, link = tmp_path / "a.log", tmp_path / "link.log"
    path.write_bytes(b"one\n")
    link.symlink_to(path)
    file = GrowingFile(link)
    assert file.look() is Change.GREW
    assert file.read(0, 100) == b"one\n"
    file.close()
