"""Text from tasks, containers and agents can't do anything to a terminal."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.text import clean, clean_line, decode_output

FORBIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")
NASTY = st.text(
    st.one_of(
        st.characters(),
        st.sampled_from(list("\x1b\x9b\x9d\x07\r\n\t[]0;m8\\\u202e\ufeff\ud800\x85\u2028")),
    )
)


@given(NASTY)
def test_nothing_that_a_terminal_obeys_survives(text: str) -> None:
    assert not FORBIDDEN.search(clean(text))


@given(NASTY)
def test_a_line_stays_one_line(text: str) -> None:
    found = clean_line(text)
    assert not FORBIDDEN.search(found)
    assert "\n" not in found and "\t" not in found


@given(NASTY)
def test_cleaning_twice_is_cleaning_once(text: str) -> None:
    assert clean(clean(text)) == clean(text)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("\x1b[31mFAILED\x1b[0m x", "FAILED x"),
        ("\x1b]0;owned\x07title", "title"),
        ("\x1b]52;c;aGk=\x1b\\clip", "clip"),
        ("\x1b[2Jcleared", "cleared"),
        ("\x9b31mC1\x9b0m", "C1"),
        ("a\x1bcb", "ab"),
        ("half a sequence \x1b[31", "half a sequence "),
        ("10%\r50%\r100%\ndone", "100%\ndone"),
        ("windows\r\nlines\r\n", "windows\nlines\n"),
        ("bell\x07", "bell�"),
        ("right\u202eleft", "right�left"),
        ("tab\tstays", "tab\tstays"),
        ("[bold]markup is only text[/bold]", "[bold]markup is only text[/bold]"),
    ],
)
def test_codes_go_and_words_stay_case_28(text: str, left: str) -> None:
    assert clean(text) == left


def test_a_long_text_is_cut_and_says_so() -> None:
    assert clean("x" * 100, limit=10) == "x" * 10 + "…"


def test_output_that_is_not_utf8_never_raises_case_19() -> None:
    assert decode_output(b"o\xff\xfek\n") == "o��k\n"


def test_only_the_end_of_an_output_is_looked_at() -> None:
    assert decode_output(b"a" * 1000 + b"end", limit=3) == "end"
