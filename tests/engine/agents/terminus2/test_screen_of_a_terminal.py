"""What of a screen is new, and how much of it is told."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engine.agents.terminus2.screen import MOST_BYTES, Look, Seen, View, limited, view

SEEN = Seen(history=0, row=2, above=("$ one", "1"), line="$")


def look(**fields: object) -> Look:
    given_: dict[str, object] = {
        "history": 0,
        "row": 4,
        "full_screen": False,
        "rows": ("$ one", "1  ", "$ two", "2", "$ ", ""),
        "old": ("$ one", "1  "),
        "since": ("$ two", "2", "$ ", ""),
        **fields,
    }
    return Look(**given_)  # type: ignore[arg-type]


def test_only_what_came_since_is_shown() -> None:
    shown, seen = view(look(), SEEN)
    assert shown == View(True, "$ two\n2\n$")
    assert seen == Seen(history=0, row=4, above=("$ one", "1", "$ two", "2"), line="$")


def test_the_first_look_shows_everything() -> None:
    shown, _ = view(look(old=(), since=look().rows), Seen())
    assert shown == View(True, "$ one\n1\n$ two\n2\n$")


def test_nothing_new_shows_the_screen() -> None:
    shown, seen = view(look(row=2, rows=("$ one", "1", "$ "), since=("$ ",)), SEEN)
    assert shown == View(False, "$ one\n1\n$")
    assert seen == SEEN


def test_a_line_that_was_typed_on_is_new() -> None:
    shown, _ = view(look(row=2, rows=("$ one", "1", "$ tw"), since=("$ tw",)), SEEN)
    assert shown == View(True, "$ tw")


def test_a_cleared_screen_is_shown_whole() -> None:
    shown, seen = view(look(rows=("$ two", "2", "$ "), old=("$ two", "2"), since=("$ ",), row=2), SEEN)
    assert shown == View(False, "$ two\n2\n$")
    assert seen.above == ("$ two", "2")


def test_a_program_that_fills_the_screen_is_shown_whole_and_forgotten_afterwards() -> None:
    shown, seen = view(look(full_screen=True, rows=("~", "~ vi", "~")), SEEN)
    assert shown == View(False, "~\n~ vi\n~")
    assert seen == SEEN
    assert view(look(), seen)[0] == View(True, "$ two\n2\n$")


def test_a_history_that_was_cut_or_moved_is_no_ground_to_compare_on() -> None:
    assert view(look(moved=True), SEEN)[0].is_new is False
    assert view(look(history=5), Seen(history=9, row=2, above=SEEN.above))[0].is_new is False


def test_short_output_is_not_touched() -> None:
    assert limited("é" * (MOST_BYTES // 2)) == "é" * (MOST_BYTES // 2)


def test_of_long_output_the_beginning_and_the_end_are_kept() -> None:
    text = "\n".join(f"line {number}" for number in range(5000))
    shown = limited(text)
    assert shown.startswith("line 0\nline 1\n")
    assert shown.endswith("\nline 4998\nline 4999")
    assert "bytes are left out here" in shown
    assert len(shown.encode()) < MOST_BYTES + 200
    lines = shown.split("\n")
    assert all(line in text.split("\n") for line in lines if not line.startswith("["))


@given(st.text(min_size=1), st.integers(1, 400), st.integers(20, 400))
def test_output_is_never_longer_than_asked(part: str, times: int, most: int) -> None:
    text = part * times
    shown = limited(text, most)
    size = len(text.encode("utf-8", "replace"))
    assert shown == text if size <= most else len(shown.encode()) <= most + 150
