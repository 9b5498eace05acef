"""Raw bytes of a log line as a terminal would have left them, or harmless."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from screens.log_index import LineIndex
from screens.log_lines import SHOWN_BYTES, LineReader
from screens.log_text import shown
from tests.screens.test_log_lines import InMemory


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (b"plain", "plain"),
        (b"dos line\r", "dos line"),
        (b" 10%\r 50%\r100%", "100%"),
        (b"hello\rab", "abllo"),
        (b"\r\x1b[Kdone", "done"),
        (b"downloading 10%\r\x1b[2Kdone", "done"),
        (b"spin |\b/\b-\b\\", "spin \\"),
        (b"abc\x1b[2Dx", "axc"),
        (b"abc\x1b[1Gx", "xbc"),
        (b"a\tb", "a       b"),
        (b"\x1b[31mred\x1b[0m\tx", "red     x"),
        (b"\x1b[31mFAILED\x1b[0m x", "FAILED x"),
        (b"\x1b]0;owned\x07\x1b[2J\x1b]52;c;aGk=\x07tail", "tail"),
        (b"\x1b[2J\x1b[H", ""),
        (b"o\xff\xfek", "o\\xff\\xfek"),
        (b"nul\x00nul", "nul\ufffdnul"),
        ("日本語 ok".encode(), "日本語 ok"),
        ("日本\rx".encode(), "x本"),
        ("warn ⚠️ ✔️".encode(), "warn ⚠ ✔"),
        ("e\u0301\rx".encode(), "x"),
        (b"[/ [bold]x[/bold] ZLEXCOUNT z [b +", "[/ [bold]x[/bold] ZLEXCOUNT z [b +"),
        ("txt\u202egnp.exe".encode(), "txt\ufffdgnp.exe"),
        (b"", ""),
    ],
)
def test_a_line_is_shown_as_a_terminal_would_leave_it(raw: bytes, expected: str) -> None:
    assert shown(raw) == expected


def test_a_character_cut_by_the_border_is_left_out_until_it_is_whole() -> None:
    euro = "€".encode()
    assert shown(euro + euro[:2], ended=False) == "€"
    assert shown(euro + euro[:2], ended=True) == "€\\xe2\\x82"


@given(st.binary(max_size=400))
@settings(deadline=None)
def test_no_bytes_get_a_control_character_to_the_terminal(raw: bytes) -> None:
    text = shown(raw)
    assert not any(ord(char) < 32 or 127 <= ord(char) < 160 for char in text)
    text.encode()


@given(
    st.lists(
        st.sampled_from(
            [
                b"\x1b[",
                b"\x1b]",
                b"\r",
                b"\b",
                b"9999999999C",
                b"K",
                b"1K",
                b"\x9b",
                b"ab",
                "é本".encode(),
                b"\t",
                b"5D",
            ]
        )
    )
)
@settings(deadline=None)
def test_no_sequence_of_controls_breaks_or_blows_up(pieces: list[bytes]) -> None:
    text = shown(b"".join(pieces))
    assert "\x1b" not in text and "\r" not in text
    assert len(text) < 20_000 + 10 * len(pieces)


def show_line(data: bytes) -> tuple[str, int]:
    file = InMemory(data)
    reader = LineReader(file, LineIndex(file))
    line = reader.line_at(0)
    assert line is not None
    raw, left_out = reader.shown_bytes(line)
    return shown(raw, ended=not left_out), left_out


def test_twenty_thousand_carriage_returns_leave_the_last_number() -> None:
    data = b"".join(b"%d\r" % number for number in range(1, 20_001))
    assert show_line(data) == ("20000", 0)


def test_a_line_of_megabytes_is_cut_and_says_by_how_much() -> None:
    text, left_out = show_line(b"\xe2\x82\xac" * 400_000 + b"\n")
    assert set(text) == {"€"}
    assert left_out == 1_200_000 - SHOWN_BYTES
