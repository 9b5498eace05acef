"""Files that somebody else writes: half-written, hostile, or leading elsewhere."""

from __future__ import annotations

import os
from pathlib import Path

from engine.json_document import json_document
from engine.readers.inside import files_in, folders_in, is_inside, read_inside
from engine.readers.json_file import JsonFile, parse_json, read_json
from engine.readers.json_values import count, flat, mapping, number, rows, within


def test_a_half_written_file_keeps_its_last_whole_value_and_is_read_again(tmp_path: Path) -> None:
    """Case 80."""
    path = tmp_path / "result.json"
    file = JsonFile(tmp_path, path)
    assert not file.look()
    assert file.missing
    path.write_text('{"n": 1}')
    assert file.look()
    assert file.value == {"n": 1}
    for cut in ("", '{"n": ', "{", "\x00\x00"):
        path.write_text(cut)
        assert not file.look()
        assert file.problem
        assert file.value == {"n": 1}
    path.write_text('{"n": 2}')
    assert file.look()
    assert (file.value, file.problem) == ({"n": 2}, "")


def test_a_file_replaced_within_one_tick_of_the_clock_by_one_as_long_is_read(tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    path.write_text('{"n": 1}')
    file = JsonFile(tmp_path, path)
    assert file.look()
    found = path.stat()
    path.write_text('{"n": 2}')
    os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))
    assert file.look()
    assert file.value == {"n": 2}


def test_a_file_that_has_settled_is_not_read_again(tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    path.write_text('{"n": 1}')
    os.utime(path, ns=(10**18, 10**18))
    file = JsonFile(tmp_path, path)
    assert file.look()
    path.write_text('{"n": 2}')
    os.utime(path, ns=(10**18, 10**18))
    assert not file.look()
    path.write_text('{"n": 3}')
    assert file.look()


def test_hostile_files_have_no_value_and_say_why(tmp_path: Path) -> None:
    deep = tmp_path / "deep.json"
    deep.write_bytes(b"[" * 100_000 + b"]" * 100_000)
    large = tmp_path / "large.json"
    large.write_bytes(b'"' + b"x" * 2_000_000 + b'"')
    outside = tmp_path.parent / f"{tmp_path.name}-outside.json"
    outside.write_text('{"secret": 1}')
    link = tmp_path / "link.json"
    link.symlink_to(outside)
    pipe = tmp_path / "pipe.json"
    os.mkfifo(pipe)
    folder = tmp_path / "folder.json"
    folder.mkdir()
    for path in (deep, large, link, pipe, folder):
        file = JsonFile(tmp_path, path, most=1_000_000)
        assert not file.look()
        assert file.value is None
        assert file.problem
        assert read_json(tmp_path, path, most=1_000_000) is None
    assert read_inside(tmp_path, large, 10) == b'"xxxxxxxxx'
    assert not is_inside(tmp_path, link)
    assert files_in(tmp_path, tmp_path) == [deep, large]
    assert folders_in(tmp_path) == [folder]
    assert folders_in(tmp_path / "nowhere") == files_in(tmp_path, tmp_path / "no\x00where") == []


def test_what_json_does_not_know_still_reads(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(b'{"nan": NaN, "big": 123456789012345678901234567890, "bytes": "\xff"}')
    value = mapping(read_json(tmp_path, path))
    assert number(value["nan"]) is None
    assert number(value["big"]) == 1.2345678901234568e29
    assert value["bytes"] == "�"


def test_values_are_what_they_are_asked_for_or_nothing() -> None:
    assert number(True) is None
    assert number("1") is None
    assert number(10**400) is None
    assert count(2.5) is count(-1) is None
    assert count(3.0) == 3
    assert rows([1, {"a": 1}, None]) == [{"a": 1}]
    assert rows({"a": 1}) == []
    assert within({"a": {"b": 1}}, "a", "b") == 1
    assert within({"a": []}, "a", "b") is None
    assert dict(flat({"a": None, "b": {"c": [1, "x"], "d": False}, "e": []})) == {"b.c": "1, x", "b.d": "false"}


def test_halves_of_surrogate_pairs_are_spelled_out_so_that_they_can_be_written_again() -> None:
    """Case 19."""
    found = parse_json(rb'{"a\ud800": ["\udc80 \ud83d\ude00", "\\ud800"], "b": NaN}')
    assert list(mapping(found)) == ["a\\ud800", "b"]
    assert mapping(found)["a\\ud800"] == ["\\udc80 \N{GRINNING FACE}", "\\ud800"]
    assert json_document(found).startswith(b"{")


def test_a_byte_order_mark_is_no_part_of_a_file() -> None:
    assert parse_json(b'\xef\xbb\xbf{"n": 1}') == {"n": 1}
