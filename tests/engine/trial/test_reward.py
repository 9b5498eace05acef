"""What counts as a reward, and what is none (cases 47, 50 and 59)."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.trial.reward import MAX_BYTES, parse_json, parse_text, read_reward
from tests.engine.tasks.task_folders import UNTIMED

VALID = [
    (b"1", 1.0),
    (b"1\n", 1.0),
    (b"1.0\r\n", 1.0),
    (b"0.5", 0.5),
    (b"0", 0.0),
    (b" \t 1 \n\n", 1.0),
    (b"1e0", 1.0),
    (b"+1", 1.0),
    (b".25", 0.25),
    (b"1.", 1.0),
    (b"-0.0", 0.0),
    (b"\xef\xbb\xbf1\n", 1.0),
]
INVALID = [
    b"nan",
    b"NaN",
    b"inf",
    b"Infinity",
    b"1e400",
    b"-0.5",
    b"1.5",
    b"2",
    b"1_000",
    "１".encode(),
    b"0x1",
    b"1,0",
    b"true",
    b"PASS",
    b"reward: 1",
    b"1\n0",
    b"1 1",
    b"",
    b"\n",
    b"   ",
    b"\xff\xfe1\x00\n\x00",
    b"1\x00",
    b"cannot parse metrics\n0.7\n",
    b"[1]",
]


@pytest.mark.parametrize(("data", "reward"), VALID)
def test_one_finite_number_from_0_to_1_is_a_reward_cases_47_and_50(data: bytes, reward: float) -> None:
    found = parse_text(data)
    assert (found.reward, found.problem) == (reward, "")
    assert math.copysign(1, found.rewards["reward"]) == 1


@pytest.mark.parametrize("data", INVALID)
def test_anything_else_is_no_verdict_cases_47_and_50(data: bytes) -> None:
    found = parse_text(data)
    assert found.reward is None and found.problem


@UNTIMED
@given(st.binary(max_size=40))
def test_no_bytes_at_all_make_a_reward_outside_of_0_to_1(data: bytes) -> None:
    for found in (parse_text(data), parse_json(data)):
        assert found.reward is None or 0.0 <= found.reward <= 1.0
        assert (found.reward is None) == bool(found.problem)
        assert all(math.isfinite(value) for value in found.rewards.values())


@pytest.mark.parametrize(
    ("data", "reward"),
    [
        (b'{"reward": 1}', 1.0),
        (b'{"reward": 0.25, "style": 3, "seconds": 1e9}', 0.25),
        (b'{"score": 1}', 1.0),
        (b'{"reward": -0.0}', 0.0),
        (b'\xef\xbb\xbf{"reward": 1}', 1.0),
        (b'{"reward": true}', 1.0),
        (b'{"reward": false}', 0.0),
        (b' \r\n{"reward": 1}\r\n ', 1.0),
    ],
)
def test_a_table_of_numbers_has_its_primary_one(data: bytes, reward: float) -> None:
    found = parse_json(data)
    assert (found.reward, found.problem) == (reward, "")


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b'{"reward": NaN}', "NaN"),
        (b'{"reward": Infinity}', "Infinity"),
        (b'{"reward": 1e400}', "finite"),
        (b'{"reward": ' + b"9" * 400 + b"}", "finite"),
        (b'{"reward": ' + b"9" * 5000 + b"}", "not valid JSON"),
        (b'{"reward": 1, "other": NaN}', "NaN"),
        (b'{"reward": "1"}', "found text"),
        (b'{"reward": null}', "found null"),
        (b'{"reward": [1]}', "found a list"),
        (b'{"reward": {"a": 1}}', "found an object"),
        (b'{"reward": 2}', "expected 0 to 1"),
        (b'{"reward": -1}', "expected 0 to 1"),
        (b'{"a": 1, "b": 0}', 'no "reward" among a, b'),
        (b"{}", "an object of numbers"),
        (b"1", "an object of numbers"),
        (b"[1]", "an object of numbers"),
        (b"", "empty"),
        (b"\n", "empty"),
        (b"{", "not valid JSON"),
        (b'{"reward": 1} trailing', "not valid JSON"),
        (b"\xff\xfe{\x00}\x00", "not valid JSON"),
        (b"[" * 200_000, "not valid JSON"),
    ],
)
def test_a_table_that_is_no_reward_says_why_cases_47_and_50(data: bytes, words: str) -> None:
    found = parse_json(data)
    assert found.reward is None
    assert words in found.problem


def test_true_and_false_are_named_for_a_warning() -> None:
    assert parse_json(b'{"reward": true, "b": false, "c": 1}').booleans == ("reward", "b")
    assert parse_json(b'{"reward": 1}').booleans == ()


def test_the_json_file_comes_first(tmp_path: Path) -> None:
    (tmp_path / "reward.txt").write_text("0")
    assert read_reward(tmp_path).source == "reward.txt"
    (tmp_path / "reward.json").write_text('{"reward": 1}')
    found = read_reward(tmp_path)
    assert (found.source, found.reward) == ("reward.json", 1.0)


def test_a_broken_json_file_is_not_passed_over(tmp_path: Path) -> None:
    (tmp_path / "reward.txt").write_text("1")
    (tmp_path / "reward.json").write_text("{")
    found = read_reward(tmp_path)
    assert (found.source, found.reward) == ("reward.json", None)


def test_no_file_a_folder_and_a_link_are_told_apart_case_59(tmp_path: Path) -> None:
    assert "neither reward.json nor reward.txt" in read_reward(tmp_path).problem
    place = tmp_path / "reward.txt"
    place.mkdir()
    assert "is a folder" in read_reward(tmp_path).problem
    place.rmdir()
    (tmp_path / "elsewhere").write_text("1")
    place.symlink_to(tmp_path / "elsewhere")
    found = read_reward(tmp_path)
    assert found.reward is None and "symbolic link" in found.problem


def test_the_bytes_of_a_wrong_one_are_shown_case_50(tmp_path: Path) -> None:
    (tmp_path / "reward.txt").write_bytes(b"\xff\xfe1\x00\n\x00")
    assert read_reward(tmp_path).raw == r"\xff\xfe1\x00\n\x00"


def test_a_huge_file_is_not_read_to_its_end(tmp_path: Path) -> None:
    with (tmp_path / "reward.txt").open("wb") as file:
        file.truncate(MAX_BYTES * 1000)
    assert "larger than 1 MiB" in read_reward(tmp_path).problem
