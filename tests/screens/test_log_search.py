"""Search over a file, against a regular expression over a naive split."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from screens import log_search
from screens.log_pattern import BadPattern, Pattern, Within, filter_pattern
from screens.log_search import Search
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
    found: list[int] = []
    at = search.at_or_after(0)
    while at is not None:
        found.append(at)
        at = search.at_or_after(at + 1)
    return found


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


def test_a_pattern_that_every_line_matches_costs_sixteen_bytes_a_stretch() -> None:
    file = InMemory(b"x\n" * 2_000_000)
    search = Search(file, Pattern("x"))
    search.extend()
    assert search.count == 2_000_000
    assert len(search._starts) == 16
    assert [search.rank(offset) for offset in (0, 2, 3_999_998, 3_999_997)] == [1, 2, 2_000_000, None]
    assert search.before(3_000_001) == 3_000_000 and search.at_or_after(3_000_001) == 3_000_002


def test_a_line_of_many_megabytes_is_one_hit() -> None:
    data = b"head\n" + b"x needle " * 1_500_000 + b"\nneedle\n"
    search = Search(InMemory(data), Pattern("needle"))
    search.extend()
    assert hits(search) == [5, len(data) - 7]
    assert search.count == 2


@given(
    lines=st.lists(st.binary(max_size=12).map(lambda line: line.replace(b"\n", b"\r")), max_size=40),
    pattern=st.sampled_from(PATTERNS),
    inverse=st.booleans(),
)
@settings(deadline=None)
def test_hits_ranks_and_neighbours_agree_with_each_other_over_any_bytes(
    lines: list[bytes], pattern: str, inverse: bool
) -> None:
    data = b"\n".join(lines)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(log_search, "_CHUNK", 16)
        search = Search(InMemory(data), filter_pattern(("!" if inverse else "") + pattern))
        search.extend()
        found = hits(search)
        assert search.count == len(found)
        assert [search.rank(at) for at in found] == list(range(1, len(found) + 1))
        backwards: list[int] = []
        at = search.before(len(data) + 1)
        while at is not None:
            backwards.append(at)
            at = search.before(at)
        assert backwards[::-1] == found
        other = Search(InMemory(data), filter_pattern(("" if inverse else "!") + pattern))
        other.extend()
        assert sorted(found + hits(other)) == [line.start for line in naive(data)]


def test_a_search_cut_back_and_gone_on_with_is_the_search_of_the_new_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_search, "_CHUNK", 64)
    file = InMemory(b"ax\nby\n" * 100)
    search = Search(file, Pattern("x"))
    search.extend()
    file.data = file.data[:303] + b"xx\n" * 50
    search.cut_back(303)
    assert search.searched <= 303 and search.extend()
    fresh = Search(file, Pattern("x"))
    fresh.extend()
    assert hits(search) == hits(fresh) and search.count == fresh.count


def test_a_search_within_a_filter_counts_only_what_passes() -> None:
    search = Search(InMemory(b"error a\nok a\nerror b\n"), Within(Pattern("a"), filter_pattern("!ok")))
    search.extend()
    assert hits(search) == [0]


@pytest.mark.parametrize("pattern", ["(?<=x)y", r"(a)\1", "x(?!z)y", r"\Aerror", "a{,2}b", "a++b"])
def test_what_the_fast_engine_does_not_know_is_still_found(pattern: str) -> None:
    file = InMemory(b"no\nerror xy aab\nno\n")
    search = Search(file, Pattern(pattern))
    search.extend()
    assert search.count in (0, 1) and search.complete
    assert hits(search) == ([3] if re.search(pattern, "error xy aab") else [])


def test_without_the_fast_engine_the_same_lines_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    data = "error é\nok\r\n\x1b[31mERROR\x1b[0m\nb\xff\n".encode() + b"\xfe error\n"
    quick = [Pattern(text).find_all(data) for text in ("error", "é$", "e.*r", r"\xfe")]
    monkeypatch.setattr("screens.log_pattern.re2", None)
    assert [Pattern(text).find_all(data) for text in ("error", "é$", "e.*r", r"\xfe")] == quick
    assert quick[0] == [0, 13, 32]
