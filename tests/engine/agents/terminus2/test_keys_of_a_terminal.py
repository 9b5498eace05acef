"""Names of keys are keys; everything else arrives byte by byte."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.agents.terminus2.keys import LONGEST_LINE, NAMES, Stroke, stroke_of


@pytest.mark.parametrize("keys", ["C-c", "C-d", "C-z", "M-x", "Enter", "Escape", "F10", "C-\\", "C-M-a", "S-Up"])
def test_a_name_is_a_key(keys: str) -> None:
    assert stroke_of(keys) == Stroke(names=(keys,))


def test_several_names_are_several_keys() -> None:
    assert stroke_of("Down Down Enter") == Stroke(names=("Down", "Down", "Enter"))


def test_a_newline_after_a_key_with_a_modifier_means_nothing() -> None:
    assert stroke_of("C-c\n") == Stroke(names=("C-c",))


@pytest.mark.parametrize(
    "keys", ["Up\n", "Enter\n", "End of file\n", "q", ":wq\n", "C-", "C-c C-x y", "C-;", "Home/x", " "]
)
def test_everything_else_is_text(keys: str) -> None:
    assert stroke_of(keys) == Stroke(text=keys.replace("\n", "\r").encode())


def test_newlines_are_the_enter_key_once() -> None:
    assert stroke_of("a\r\nb\n").text == b"a\rb\r"


def test_bytes_that_are_no_text_arrive() -> None:
    """Case 61."""
    assert stroke_of(b"\xff\xfe;".decode("utf-8", "surrogateescape")).text == b"\xff\xfe;"
    assert stroke_of("\ud800;").text == b"?;"


def test_a_line_that_the_kernel_would_cut_is_known() -> None:
    assert not stroke_of("a" * LONGEST_LINE + "\nb\n").has_long_line
    assert stroke_of("b\n" + "é" * LONGEST_LINE + "\n").has_long_line


@given(st.text(st.characters(codec="utf-8")))
def test_text_loses_nothing(keys: str) -> None:
    stroke = stroke_of(keys)
    if stroke.names:
        assert all(name in NAMES or "-" in name for name in stroke.names)
    else:
        assert stroke.text.decode() == keys.replace("\r\n", "\n").replace("\n", "\r")
