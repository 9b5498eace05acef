"""A program's stream of JSON, read while it runs, whatever pieces it comes in."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.agents.arms import parse_arm
from engine.agents.in_main.json_stream import JsonStream
from engine.agents.in_main.told_steps import ToldSteps
from engine.trajectories import held_line
from engine.trajectories.claude_code import ClaudeCodeFold
from engine.trajectories.untyped import Record
from tests.engine.agents.sessions import Session
from tests.engine.tasks.task_folders import UNTIMED


def said(number: int, text: str = "hello") -> dict[str, object]:
    message = {"id": f"m{number}", "role": "assistant", "model": "m", "content": [{"type": "text", "text": text}]}
    return {"type": "assistant", "message": message}


class Reading:
    def __init__(self, folder: Path, before: bytes = b"") -> None:
        self.session = Session(folder, parse_arm("claude_code:model=x"))
        log = self.session.folder / "log.txt"
        log.write_bytes(before)
        self.seen: list[tuple[int, Record]] = []
        self.steps = ToldSteps(self.session.given, agent="claude-code", version="1")
        self.stream = JsonStream(
            ClaudeCodeFold(), self.steps, log, watch=lambda line, record: self.seen.append((line, record))
        )

    @property
    def lines(self) -> list[int]:
        return [line for line, _ in self.seen]


def test_a_step_is_reported_once_the_next_one_has_begun_and_the_last_at_the_end(tmp_path: Path) -> None:
    reading = Reading(tmp_path)
    for number in range(3):
        reading.stream.sink("stdout", json.dumps(said(number, f"step {number}")).encode() + b"\n")
        assert [step.what for step in reading.session.steps] == [f"step {one}" for one in range(number)]
        assert reading.session.activities[-1] == f"step {number + 1} · step {number}"
    reading.stream.finish()
    reading.steps.finish()
    assert [step.what for step in reading.session.steps] == ["step 0", "step 1", "step 2"]
    assert reading.steps.made == 3


@UNTIMED
@given(st.lists(st.integers(1, 60), min_size=1, max_size=30))
def test_pieces_may_be_cut_anywhere(tmp_path_factory: pytest.TempPathFactory, cuts: list[int]) -> None:
    """Cases 23 and 29."""
    reading = Reading(tmp_path_factory.mktemp("reading"))
    data = b"".join(json.dumps(said(number, "ü 😀"), ensure_ascii=False).encode() + b"\n" for number in range(4))
    position = 0
    while position < len(data):
        for cut in cuts:
            reading.stream.sink("stdout", data[position : position + cut])
            position += cut
    reading.stream.finish()
    assert reading.lines == [1, 2, 3, 4]
    assert [draft.messages for draft in reading.stream.fold.session.drafts] == [["ü 😀"]] * 4


def test_lines_are_numbered_as_they_stand_in_the_log(tmp_path: Path) -> None:
    reading = Reading(tmp_path, before=b"npm said this\nand this\n")
    reading.stream.sink("stderr", b"a warning\n")
    reading.stream.sink("stdout", b"no JSON\n" + json.dumps(said(1)).encode() + b"\n")
    reading.stream.sink("stderr", b"two\nmore\n")
    reading.stream.sink("stdout", json.dumps(said(2)).encode() + b"\n")
    assert reading.lines == [5, 8] and reading.stream.records == 2


def test_a_last_line_without_its_end_is_read_if_it_is_whole(tmp_path: Path) -> None:
    reading = Reading(tmp_path)
    reading.stream.sink("stdout", json.dumps(said(1)).encode())
    assert reading.lines == []
    reading.stream.finish()
    assert reading.lines == [1]


def test_a_half_written_last_line_is_left_out(tmp_path: Path) -> None:
    reading = Reading(tmp_path)
    reading.stream.sink("stdout", json.dumps(said(1)).encode()[:-5])
    reading.stream.finish()
    assert reading.lines == [] and reading.stream.fold.session.drafts == []


def test_a_line_without_end_does_not_fill_the_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Case 29."""
    monkeypatch.setattr(held_line, "MOST_LINE", 100)
    reading = Reading(tmp_path)
    for _ in range(50):
        reading.stream.sink("stdout", b"x" * 10)
    reading.stream.sink("stdout", b"\n" + json.dumps({"type": "x"}).encode() + b"\n")
    assert reading.stream.too_long == 1 and reading.lines == [2]
    assert reading.stream.fold.session.problems


@pytest.mark.parametrize("line", [b"", b"{", b"[]", b"null", b'{"type": 5}', b"\xff\xfe{}", b'{"a": NaN}', b"{" * 5000])
def test_lines_of_any_kind_are_passed_over(tmp_path: Path, line: bytes) -> None:
    reading = Reading(tmp_path)
    reading.stream.sink("stdout", line + b"\n" + json.dumps(said(1)).encode() + b"\n")
    assert reading.lines[-1] == 2
