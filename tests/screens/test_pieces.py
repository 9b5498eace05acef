"""Pieces of a line on several lines: between words, in words that are too long, never too wide."""

from __future__ import annotations

import pytest

from screens.pieces import cells, folded


def lines(text: str, width: int, most: int = 20) -> list[str]:
    found = folded([("said: ", "deck--dim"), (text, "")], width, most)
    assert all(cells("".join(part for part, _ in line)) <= width for line in found)
    return ["".join(part for part, _ in line) for line in found]


def test_it_is_broken_between_words() -> None:
    assert lines("one two three", 10) == ["said: one", "two three"]
    assert folded([("said: ", "deck--dim"), ("one two", "")], 10, 2)[1] == [("two", "")]


def test_a_word_that_is_longer_than_a_line_goes_on_in_the_next() -> None:
    assert "".join(lines("/a/path/that/is/long", 8)) == "said: /a/path/that/is/long"


def test_what_has_no_room_is_marked() -> None:
    assert lines("one two three four", 10, 2) == ["said: one", "two three…"]


@pytest.mark.parametrize("width", [2, 3, 7])
def test_wide_characters_are_never_cut_in_two(width: int) -> None:
    assert "".join(lines("日本語日本語", width)).replace(" ", "") == "said:日本語日本語"
