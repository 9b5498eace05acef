"""Characters and the cells they stand in."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from rich.segment import Segment
from textual.strip import Strip

from screens.cell_span import CellSpan, cell_span, character_at

TEXTS = st.text("a b日本é\u0301語", max_size=30)


@given(text=TEXTS, left=st.integers(0, 40), width=st.integers(1, 20))
def test_what_is_seen_of_a_line_is_what_a_strip_shows_of_all_of_it(text: str, left: int, width: int) -> None:
    whole = Strip([Segment(text)])
    start, end, lead = cell_span(text, left, width)
    seen = Strip([Segment(text[start:end])]).crop(lead, lead + width)
    assert seen.text.rstrip("\u0301") == whole.crop(left, left + width).text.strip("\u0301")


def test_a_line_is_walked_only_as_far_as_it_is_seen() -> None:
    assert cell_span("é" + "x" * 1_000_000, 0, 10) == CellSpan(0, 10, 0)
    assert cell_span("日本語", 1, 4) == CellSpan(0, 3, 1)
    assert cell_span("日本", 8, 4) == CellSpan(2, 2, 0)


def test_a_blank_is_a_character_too() -> None:
    assert character_at("é   abc", 3) == 3
    assert character_at("日  本", 1) == 0
    assert character_at("日", 9) == 1
