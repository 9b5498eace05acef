"""Search over a file, against a regular expression over a naive split."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from screens import log_search
from screens.log_search import BadPattern, Pattern, Search
from tests.screens.test_log_lines import InMemory, naive

PATTERNS = [
    "a",
    "A.c",
    "^b",
    "c$",
    r"\d+",
    "a|b",
    "x*",
    r"\s",
    "é",
    "a.b",
    r"[^a]b",
    "AB",
    r"\CAB",
    "^$",
    "(?!a)b",
]


def hits(search: Search) -> list[int]:
    return list(search._hits)


@given(
    lines=st.lists(st.text(st.sampled_from("abcABC1 éx"), max_size=10), max_size=30),
    ended=st.booleans(),
    pattern=st.sampled_from(PATTERNS),
    cuts=st.lists(st.integers(0, 300), max_size=4),
)
@settings(deadline=None)
def test_hits_are_the_lines_that_match_however_the_file_grew(
    lines: list[str], ended: bool, pattern: str, cuts: list[int]
) -> None:
    data = ("\n".join(lines) + ("\n" if ended else "")).encode()
    whole = len(data)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(log_search, "_CHUNK", 16)
        file = InMemory(b"")
        search = Search(file, Pattern(pattern))
        for cut in [*sorted(min(cut, whole) for cut in cuts), whole]:
            file.data = data[:cut]
            assert search.extend()
    source = pattern.replace(r"\C", "")
    expression = re.compile(source, 0 if r"\C" in pattern else re.IGNORECASE)
    expected = [
        line.start
        for line in naive(data)
        if expression.search(data[line.start : line.end].decode("utf-8", "backslashreplace"))
    ]
    assert hits(search) == expected
    assert search.count == len(expected)


def test_colours_and_carriage_returns_do_not_hide_a_match() -> None:
    file = InMemory(b"\x1b[31mFAILED\x1b[0m x\r\nok\n")
    search = Search(file, Pattern("failed x$"))
    search.extend()
    assert hits(search) == [0]


@pytest.mark.parametrize("text", ["/*", "(", "[", "*", "a{2,1}", "(?P<x"])
def test_a_text_that_is_no_expression_says_so(text: str) -> None:
    if text == "/*":
        Pattern(text)  # a slash, any number of times: it is one
        return
    with pytest.raises(BadPattern, match="not a regular expression"):
        Pattern(text)


def test_next_and_previous_go_round() -> None:
    file = InMemory(b"x\ny\nx\ny\nx\n")
    search = Search(file, Pattern("x"))
    search.extend()
    assert [search.next_after(offset) for offset in (-1, 0, 2, 4, 8)] == [0, 4, 4, 8, 0]
    assert [search.last_before(offset) for offset in (0, 2, 4, 8, 9)] == [8, 0, 0, 4, 8]
    assert search.rank(4) == 2
    assert search.rank(2) is None


def test_nothing_found_leads_nowhere() -> None:
    search = Search(InMemory(b"abc"), Pattern("x"))
    search.extend()
    assert search.count == 0
    assert search.next_after(0) is None and search.last_before(0) is None


def test_a_stopped_search_goes_on_where_it_was() -> None:
    file = InMemory(b"needle\n" * 200_000)
    search = Search(file, Pattern("NEEDLE"))
    stops = iter([False, False, True])
    assert not search.extend(lambda: next(stops))
    assert 0 < search.searched < file.size
    assert search.extend()
    assert search.count == 200_000


def test_hits_are_bounded_and_counted_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_search, "MAX_HITS", 10)
    search = Search(InMemory(b"x\n" * 100), Pattern("x"))
    search.extend()
    assert len(hits(search)) == 10
    assert search.count == 100


def test_a_line_of_many_megabytes_is_one_hit() -> None:
    data = b"head\n" + b"x needle " * 1_500_000 + b"\nneedle\n"
    search = Search(InMemory(data), Pattern("needle"))
    search.extend()
    assert hits(search) == [5, len(data) - 7]
    assert search.count == 2
