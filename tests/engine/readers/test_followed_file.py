"""A file of lines that grows under its reader."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.readers.followed_file import FollowedFile
from tests.engine.descriptors import open_descriptors
from tests.engine.tasks.task_folders import UNTIMED


def append(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


def test_a_line_without_its_end_waits_for_it(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    followed = FollowedFile(path)
    assert followed.new_lines() == []  # not even there yet
    append(path, b"one\ntw")
    assert followed.new_lines() == [b"one"]
    assert followed.new_lines() == []
    append(path, b"o\n\nfour\n")
    assert followed.new_lines() == [b"two", b"", b"four"]
    followed.close()


def test_a_cut_last_line_that_is_removed_is_never_seen_case_80(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    followed = FollowedFile(path)
    append(path, b"one\ncut by a cra")
    assert followed.new_lines() == [b"one"]
    os.truncate(path, 4)
    append(path, b"two\n")
    assert followed.new_lines() == [b"two"]
    followed.close()


def test_a_file_that_became_shorter_is_read_on_from_its_end(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    followed = FollowedFile(path)
    append(path, b"one\ntwo\n")
    followed.new_lines()
    os.truncate(path, 0)
    assert followed.new_lines() == []
    append(path, b"new\n")
    assert followed.new_lines() == [b"new"]
    followed.close()


def test_of_a_line_without_any_bound_the_beginning_is_kept_and_the_next_line_comes_whole_case_29(
    tmp_path: Path,
) -> None:
    path = tmp_path / "lines"
    append(path, b"one\n" + b"x" * 5_000_000)
    followed = FollowedFile(path, longest=100_000)
    assert followed.new_lines(1_000) == [b"one"]
    assert followed.new_lines(1_000) == [b"x" * 100_000]
    assert followed.new_lines(1_000) == []
    append(path, b"x" * 3_000_000)
    assert followed.new_lines(1_000) == []
    append(path, b"x\nnext\n")
    assert followed.new_lines(1_000) == [b"next"]
    append(path, b"y" * 300_000 + b"\nlast\n")
    assert followed.new_lines(1_000) == [b"y" * 100_000]
    assert followed.new_lines(1_000) == [b"last"]
    followed.close()


def test_a_copy_that_is_put_in_the_files_place_is_read_on_from_where_the_first_one_ended(tmp_path: Path) -> None:
    """As rsync does it with a run that goes on elsewhere."""
    path = tmp_path / "lines"
    append(path, b"one\ntwo\n")
    followed = FollowedFile(path)
    assert followed.new_lines() == [b"one", b"two"]
    for more, new in ((b"", []), (b"three\n", [b"three"]), (b"three\nfour\n", [b"four"])):
        append(tmp_path / "copy", b"one\ntwo\n" + more)
        (tmp_path / "copy").rename(path)
        assert followed.new_lines() == new
    path.unlink()
    assert followed.new_lines() == []
    os.mkfifo(path)
    assert followed.new_lines() == []
    followed.close()


def test_a_line_longer_than_the_bound_comes_whole_case_29(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    append(path, b"x" * 200_000 + b"\nnext\n")
    followed = FollowedFile(path)
    found = followed.new_lines(max_bytes=1000)
    while more := followed.new_lines(max_bytes=1000):
        found += more
    assert [len(line) for line in found] == [200_000, 4]
    followed.close()


def test_a_long_line_without_its_end_waits_too(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    append(path, b"x" * 5000)
    followed = FollowedFile(path)
    assert followed.new_lines(max_bytes=100) == []
    append(path, b"\n")
    assert followed.new_lines(max_bytes=100) == [b"x" * 5000]
    followed.close()


@UNTIMED
@given(st.lists(st.binary(max_size=40), max_size=12), st.integers(1, 64))
def test_lines_cut_anywhere_come_once_and_in_order(pieces: list[bytes], bound: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "lines"
        followed = FollowedFile(path)
        found: list[bytes] = []
        for piece in pieces:
            append(path, piece)
            while lines := followed.new_lines(max_bytes=bound):
                found += lines
        followed.close()
        assert found == b"".join(pieces).split(b"\n")[:-1]


def test_a_look_at_a_growing_file_reads_no_more_than_its_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "lines"
    append(path, b"12345678\n" * 1000)
    asked: list[int] = []
    real = os.pread

    def pread(descriptor: int, size: int, offset: int) -> bytes:
        asked.append(size)
        return real(descriptor, size, offset)

    monkeypatch.setattr(os, "pread", pread)
    followed = FollowedFile(path)
    assert followed.new_lines(max_bytes=90)
    assert asked == [90]
    followed.close()


def test_closing_leaves_no_descriptor_open_case_73(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    append(path, b"one\n")
    before = open_descriptors()
    followed = FollowedFile(path)
    followed.new_lines()
    followed.close()
    followed.close()
    assert open_descriptors() == before
