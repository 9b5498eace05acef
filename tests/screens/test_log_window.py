"""The window over a log, against all rows of a naive layout."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from screens.log_filter import FilteredReader
from screens.log_index import LineIndex
from screens.log_ink import Ink
from screens.log_pattern import Pattern
from screens.log_search import Search
from screens.log_text import Look
from screens.log_window import LogWindow
from tests.screens.test_log_lines import InMemory, naive


def window_over(data: bytes, width: int, height: int, wrap: bool = False) -> LogWindow:
    file = InMemory(data)
    window = LogWindow(file, LineIndex(file))
    window.resize(width, height)
    window.set_wrap(wrap)
    return window


def all_rows(data: bytes, width: int, wrap: bool) -> list[tuple[int, int]]:
    rows = []
    for line in naive(data):
        length = line.end - line.start
        parts = max(1, -(-length // width)) if wrap else 1
        rows += [(line.start, part) for part in range(parts)]
    return rows


def seen(window: LogWindow) -> list[tuple[int, int]]:
    return [(row.line.start, row.part) for row in window.rows()]


@given(
    lines=st.lists(st.text("ab", max_size=25), max_size=30),
    ended=st.booleans(),
    width=st.integers(1, 12),
    height=st.integers(1, 8),
    wrap=st.booleans(),
    moves=st.lists(st.one_of(st.integers(-12, 12), st.sampled_from(["home", "end"])), max_size=12),
)
@settings(deadline=None)
def test_scrolling_shows_the_rows_of_a_naive_layout(
    lines: list[str], ended: bool, width: int, height: int, wrap: bool, moves: list[int | str]
) -> None:
    data = ("\n".join(lines) + ("\n" if ended else "")).encode()
    window = window_over(data, width, height, wrap)
    rows = all_rows(data, width, wrap)
    last = max(0, len(rows) - height)
    at = 0
    for move in moves:
        if move == "home":
            window.home()
            at = 0
        elif move == "end":
            window.end()
            at = last
        else:
            assert isinstance(move, int)
            window.scroll(move)
            at = min(last, max(0, at + move))
        assert seen(window) == rows[at : at + height]
        assert window.at_end == (at == last)


def test_a_line_that_is_not_seen_is_shown_a_third_down() -> None:
    window = window_over(b"".join(b"%04d\n" % number for number in range(1_000)), 10, 9)
    window.show(500 * 5)
    assert [row.text for row in window.rows()][:4] == ["0497", "0498", "0499", "0500"]
    window.show(502 * 5)
    assert window.rows()[0].text == "0497"


def test_the_last_line_is_shown_while_it_is_being_written() -> None:
    file = InMemory(b"one\ntw")
    window = LogWindow(file, LineIndex(file))
    assert [row.text for row in window.rows()] == ["one", "tw"]
    file.data += b"o\n"
    window.changed()
    assert [row.text for row in window.rows()] == ["one", "two"]


def test_wide_characters_wrap_at_whole_characters() -> None:
    window = window_over("日本語日本語\n".encode(), 5, 5, wrap=True)
    assert [row.text for row in window.rows()] == ["日本", "語日", "本語"]


def test_an_empty_file_has_no_rows_and_is_at_its_end() -> None:
    window = window_over(b"", 10, 5)
    window.scroll(3)
    window.end()
    assert window.rows() == []
    assert window.at_end


def test_a_cut_line_says_so() -> None:
    window = window_over(b"x" * 1_200_000 + b"\nnext\n", 80, 5)
    first, second = window.rows()
    assert first.text.endswith("x … cut, 1.2 MB")
    assert second.text == "next"


@given(
    lines=st.lists(st.text("ab", max_size=25), max_size=30),
    width=st.integers(1, 12),
    height=st.integers(1, 8),
    wrap=st.booleans(),
    moves=st.lists(st.one_of(st.integers(-12, 12), st.sampled_from(["home", "end"])), max_size=12),
)
@settings(deadline=None)
def test_a_filtered_window_scrolls_as_one_over_the_lines_that_pass(
    lines: list[str], width: int, height: int, wrap: bool, moves: list[int | str]
) -> None:
    data = "\n".join(lines).encode()
    file, window = InMemory(data), window_over(data, width, height, wrap)
    passed = Search(file, Pattern("ab"))
    passed.extend()
    window.set_reader(FilteredReader(file, LineIndex(file), passed))
    few = window_over("\n".join(line for line in lines if "ab" in line).encode(), width, height, wrap)
    for move in moves:
        for each in (window, few):
            if move == "home":
                each.home()
            elif move == "end":
                each.end()
            else:
                assert isinstance(move, int)
                each.scroll(move)
        assert [(row.text, row.part) for row in window.rows()] == [(row.text, row.part) for row in few.rows()]
        assert window.at_end == few.at_end


def test_colours_that_a_line_leaves_on_go_on_in_the_next() -> None:
    window = window_over(b"\x1b[31mred\nstill\n\x1b[0mplain\n", 20, 5)
    rows = window.rows()
    assert [window.inked(row.line).spans for row in rows] == [((0, 3, Ink(1)),), ((0, 5, Ink(1)),), ()]
    window.set_look(Look.PLAIN)
    assert [window.inked(row.line).spans for row in window.rows()] == [(), (), ()]
    window.set_look(Look.RAW)
    assert window.rows()[0].text == "^[[31mred"


def test_lines_without_an_end_in_sight_are_read_a_little_of_and_shown_whole_once_indexed() -> None:
    data = b"first\n" + b"x" * (64 * 1024 * 1024) + b"\nlast\n"
    file = InMemory(data)
    window = LogWindow(file, LineIndex(file))
    window.resize(80, 20)
    window.end()
    pieces = window.rows()
    assert len(pieces) == 20
    assert pieces[0].line.start > file.size - 50 * 1024 * 1024  # a page is read, not the file
    window.reader.index.extend()
    window.settle()
    assert [row.text[:5] for row in window.rows()] == ["first", "xxxxx", "last"]
