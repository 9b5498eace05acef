"""Recordings of terminals: read in every version, carried out, sought in, and harmless whatever they hold."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.style import Style

from screens.cast_file import CastFile, is_cast
from screens.cast_player import CastPlayer
from screens.cast_terminal import MOST_COLUMNS, MOST_ROWS, Terminal
from screens.widgets.cast_view import moment_of
from tests.screens import casts


def opened(path: Path) -> CastFile:
    cast = CastFile(path)
    while cast.index_more(4_096):
        pass
    return cast


def at(player: CastPlayer, seconds: float) -> list[str]:
    player.seek(seconds)
    while not player.catch_up(1.0):
        pass
    return [player.terminal.text(row) for row in range(player.terminal.rows)]


def fed(written: str, columns: int = 20, rows: int = 4) -> list[str]:
    terminal = Terminal(columns, rows)
    terminal.feed(written)
    return [terminal.text(row) for row in range(terminal.rows)]


@pytest.mark.parametrize("write", [casts.version_1, casts.version_2, casts.version_3])
def test_every_version_plays_the_same(tmp_path: Path, write: Callable[[Path], Path]) -> None:
    path = write(tmp_path / "agent.cast")
    cast = opened(path)
    assert is_cast(path) and cast.complete and not cast.problem and cast.duration == pytest.approx(23.0)
    player = CastPlayer(cast)
    assert at(player, 0.5)[0] == "$ make"
    assert at(player, 10)[:2] == ["$ make", "red and plain"]
    assert at(player, 20.5)[:2] == ["cleared", ""]
    assert at(player, 1.0)[:2] == ["$ make", "red and plain"]
    assert at(player, 23.0)[:3] == ["cleared", "small now", "bye"]


def test_a_terminal_that_changed_its_size_changes_the_picture(tmp_path: Path) -> None:
    player = CastPlayer(opened(casts.version_2(tmp_path / "a.cast")))
    assert len(at(player, 20.5)) == 12 and len(at(player, 22.5)) == 10 and len(at(player, 0)) == 12


def test_markers_are_gone_to_by_order(tmp_path: Path) -> None:
    player = CastPlayer(opened(casts.version_3(tmp_path / "a.cast")))
    assert [player.seek_marker(1), player.position] == ["tests begin", pytest.approx(1.0)]
    assert [player.seek_marker(1), player.position] == ["the end", pytest.approx(22.0)]
    assert player.seek_marker(1) is None
    assert player.seek_marker(-1) == "tests begin" and player.seek_marker(-1) is None


def test_pauses_are_shortened_on_demand_only(tmp_path: Path) -> None:
    player = CastPlayer(opened(casts.version_3(tmp_path / "a.cast")))
    player.playing = True
    at(player, 1.0)
    player.advance(0.5)
    assert player.position == pytest.approx(1.5)
    player.short_pauses = True
    player.advance(0.1)
    assert player.position == pytest.approx(20.0 - 1.5)


def test_playing_stops_at_the_end(tmp_path: Path) -> None:
    player = CastPlayer(opened(casts.version_2(tmp_path / "a.cast")))
    player.playing, player.speed = True, 32.0
    for _ in range(3):
        player.advance(1.0)
        player.catch_up(1.0)
    assert player.at_end and not player.playing and player.position == 23.0


def test_a_recording_that_is_still_made_is_read_on(tmp_path: Path) -> None:
    path = casts.version_2(tmp_path / "a.cast", casts.EVENTS[:2])
    cast = opened(path)
    assert cast.duration == 1.0
    with path.open("a") as file:
        file.write('[3.0, "o", "more')
        file.flush()
        assert not cast.index_more()
        file.write('"]\n')
    assert cast.index_more() and cast.duration == 3.0 and at(CastPlayer(cast), 3)[2] == "more"


def test_seeking_back_in_a_long_recording_comes_to_the_same_picture(tmp_path: Path) -> None:
    events = [(number / 10, "o", f"\x1b[{31 + number % 7}mline {number} {'x' * 300}\r\n") for number in range(1_500)]
    player = CastPlayer(opened(casts.version_2(tmp_path / "a.cast", events)))
    late, middle = at(player, 149.9), at(player, 75.0)
    assert at(player, 149.9) == late and at(player, 75.0) == middle and "line 750" in "".join(middle)
    assert at(CastPlayer(player.cast), 75.0) == middle


def test_times_that_run_backwards_or_are_none_never_stop_it(tmp_path: Path) -> None:
    path = tmp_path / "a.cast"
    lines = ['{"version": 2, "width": 80, "height": 24}', '[5, "o", "a"]', '[-3, "o", "b"]', '[1e999, "o", "c"]', "[}"]
    path.write_text("\n".join([*lines, '[6, "o", 7]', '[7, "r", "99999999999x3"]', '[8, "o", "d"]']) + "\n")
    cast = opened(path)
    assert [cast.time(number) for number in range(len(cast))] == [5, 5, 5, 6, 7, 8]
    assert cast.left_out == 1 and at(CastPlayer(cast), 8)[0] == "abcd"


def test_numbers_of_400_digits_are_none(tmp_path: Path) -> None:
    large = 10**400
    first, second = tmp_path / "first.cast", tmp_path / "second.cast"
    first.write_text(json.dumps({"version": 1, "width": large, "stdout": [[large, "a"], [2, "b"]]}))
    second.write_text(
        json.dumps({"version": 2, "width": large, "duration": large}) + f'\n[{large}, "o", "a"]\n[2, "o", "b"]\n'
    )
    for path in (first, second):
        cast = opened(path)
        assert cast.columns == 80 and [cast.time(number) for number in range(len(cast))] == [0, 2]


@pytest.mark.parametrize(
    "content", ["", "x" * 100, "[]\n" * 20, '{"version": 9}\n', '{"steps": []}' + " " * 50, '{"version": 1}\n' * 3]
)
def test_what_is_no_recording_says_so_or_shows_nothing(tmp_path: Path, content: str) -> None:
    path = tmp_path / "a.cast"
    path.write_text(content)
    cast = opened(path)
    assert not len(cast) and (not content or cast.problem or cast.version == 1)
    assert opened(tmp_path / "missing.cast").problem.startswith("can't be read")


def test_a_terminal_of_any_size_stays_within_bounds() -> None:
    terminal = Terminal(10**9, 10**9)
    assert (terminal.columns, terminal.rows) == (MOST_COLUMNS, MOST_ROWS)
    terminal.resize(10**9, 10**9)
    terminal.feed("\x1b[?3h" * 10)
    assert terminal.columns <= MOST_COLUMNS and terminal.rows <= MOST_ROWS


EVIL = [
    "\x1b]52;c;AAAA\x07",
    "\x1b]52;c;" + "A" * 5_000,
    "\x1b[>4;2m\x1b[?2026h\x1b[=1;1u\x1b[<u",
    "\x1b[?6r\x1b[?5g\x1b[0;0r\x1b[50;2r\x1b[99999;99999H",
    "\x1bP+q544e\x1b\\\x1b_Gf=100;AAAA\x1b\\\x1bXx\x1b\\",
    "\x1b[38;5;300m\x1b[38;2;999;1;1m\x1b[38m\x1b[4:3m\x1b[48:2::1:2:3m",
    "\x1b7" * 500 + "\x1b8" * 500,
    "e" + "\u0301" * 5_000,
    "\u202e\u200b\ufeff\ud800\x80\x9b31m",
    "\x1b[99999@\x1b[99999P\x1b[99999L\x1b[99999M\x1b[99999X\x1b[99999S",
    "[/red] [@click=app.quit]x[/]",
    "\x1b",
    "\x1b[" + "1;" * 2_500 + "m",
]


@pytest.mark.parametrize("evil", EVIL, ids=range(len(EVIL)))
def test_whatever_is_written_stays_inside_the_picture(evil: str) -> None:
    for pieces in ([evil], list(evil)):
        terminal = Terminal(30, 5)
        for piece in [*pieces, "\x1b\\\x1bcafter\r\n"]:
            terminal.feed(piece)
        strips = [terminal.strip(row, Style()) for row in range(terminal.rows)]
        assert all(strip.cell_length == sum(segment.cell_length for segment in strip) == 30 for strip in strips)
        text = "".join(strip.text for strip in strips)
        assert not any(ord(char) < 32 or 127 <= ord(char) < 160 or 0xD800 <= ord(char) < 0xE000 for char in text)
        assert "after" in text


def test_what_wide_and_joined_characters_leave_is_as_wide_as_the_screen() -> None:
    terminal = Terminal(10, 2)
    terminal.feed("⚠\ufe0f 漢字 👨‍👩‍👧 e\u0301x")
    strip = terminal.strip(0, Style())
    assert sum(segment.cell_length for segment in strip) == 10 and "漢字" in strip.text


def test_sequences_cut_in_two_are_one() -> None:
    terminal = Terminal(20, 2)
    for piece in ("a\x1b", "[3", "1mb\x1b]0;ti", "tle\x07c"):
        terminal.feed(piece)
    assert terminal.text(0) == "abc"


def test_the_screen_behind_an_editor_comes_back() -> None:
    assert fed("before\x1b[?1049h\x1b[Hin vim")[0] == "in vim"
    assert fed("before\x1b[?1049h\x1b[Hin vim\x1b[?1049l")[0] == "before"


def test_nothing_blinks_and_the_cursor_is_seen() -> None:
    terminal = Terminal(5, 1)
    terminal.feed("\x1b[5;32mx")
    styles = [segment.style for segment in terminal.strip(0, Style())]
    assert not any(style and style.blink for style in styles)
    assert any(style and style.reverse for style in styles)


@pytest.mark.parametrize(
    ("typed", "seconds"),
    [("90", 90), ("1:30", 90), ("1:00:05", 3605), ("+30", 130), ("-30", 70), ("40 %", 80), ("", None), ("x", None),
     ("+4%", None)],
)  # fmt: skip
def test_moments_that_a_person_types(typed: str, seconds: float | None) -> None:
    assert moment_of(typed, 100.0, 200.0) == seconds


def test_a_large_recording_is_indexed_in_bites(tmp_path: Path) -> None:
    path = tmp_path / "a.cast"
    line = json.dumps([1.0, "o", "x" * 1_000]) + "\n"
    path.write_text('{"version": 2, "width": 80, "height": 24}\n' + line * 5_000)
    cast = CastFile(path)
    assert cast.index_more(1 << 20) and 0 < len(cast) < 2_000 and not cast.complete
    while cast.index_more(1 << 20):
        pass
    assert len(cast) == 5_000 and cast.complete
