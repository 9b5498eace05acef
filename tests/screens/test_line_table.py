"""What a table paints, and what it leaves alone."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from textual.app import App, ComposeResult
from textual.strip import Strip

from screens.columns import Column
from screens.deck_screen import DeckScreen
from screens.pieces import Pieces, joined, width_of
from screens.widgets.line_table import LineTable

pytestmark = pytest.mark.anyio


class Words(LineTable):
    COLUMNS = (Column("word", "word", 10), Column("length", "length", 6, right=True))

    def __init__(self, words: list[str]) -> None:
        super().__init__()
        self.words = words
        self.painted: list[int] = []

    @property
    def keys(self) -> Sequence[str]:
        return self.words

    def find(self, key: str) -> int | None:
        return self.words.index(key) if key in self.words else None

    def cell(self, key: str, column: str) -> Pieces:
        return [(key.rstrip("!") if column == "word" else str(len(key)), "")]

    def render_line(self, y: int) -> Strip:
        self.painted.append(y)
        return super().render_line(y)


class WordsApp(App[None]):
    def __init__(self, words: list[str]) -> None:
        super().__init__()
        self.table = Words(words)

    def get_default_screen(self) -> DeckScreen[None]:
        return DeckScreen()

    def compose(self) -> ComposeResult:
        yield self.table

    def on_mount(self) -> None:
        self.table.rows_changed()


def words(count: int) -> list[str]:
    return [f"word-{number:03}" for number in range(count)]


async def test_only_lines_that_look_different_are_painted() -> None:
    app = WordsApp(words(8))
    async with app.run_test(size=(40, 12)) as pilot:
        await pilot.pause()
        app.table.painted.clear()
        app.table.rows_changed()
        app.table.repaint(app.table.words)
        await pilot.pause()
        assert app.table.painted == []
        app.table.words[3:5] = ["word-004", "word-003"]
        app.table.rows_changed()
        await pilot.pause()
        assert sorted(set(app.table.painted)) == [4, 5], "rows 3 and 4 below a line of titles"


async def test_moving_the_cursor_paints_two_lines() -> None:
    app = WordsApp(words(8))
    async with app.run_test(size=(40, 12)) as pilot:
        app.table.focus()
        await pilot.pause()
        app.table.painted.clear()
        await pilot.press("j")
        await pilot.pause()
        assert sorted(set(app.table.painted)) == [1, 2]


async def test_a_whole_refresh_makes_every_line_anew() -> None:
    """What is refreshed as a whole may look different for reasons that no row knows of."""
    app = WordsApp(words(8))
    async with app.run_test(size=(40, 12)) as pilot:
        await pilot.pause()
        app.table.words[0] = "word-000!"
        app.table.rows_changed()
        app.table.words[0] = "other-00"
        app.table.refresh()
        await pilot.pause()
        assert "other-00" in app.table.render_line(1).text


async def test_growing_below_a_scrollbar_lays_nothing_out_anew() -> None:
    app = WordsApp(words(30))
    async with app.run_test(size=(40, 12)) as pilot:
        await pilot.pause()
        layouts: list[object] = []
        app.screen.screen_layout_refresh_signal.subscribe(app.table, layouts.append, immediate=True)
        app.table.words = words(50)
        app.table.rows_changed()
        await pilot.pause()
        assert layouts == []
        assert app.table.max_scroll_y == 50 + app.table.HEAD - 12
        assert app.table.vertical_scrollbar.window_virtual_size == 51
        app.table.move_to(49)
        await pilot.pause()
        assert "word-049" in app.table.render_line(11).text


@pytest.mark.parametrize(("before", "after"), [(5, 30), (30, 5)])
async def test_a_scrollbar_comes_and_goes(before: int, after: int) -> None:
    app = WordsApp(words(before))
    async with app.run_test(size=(40, 12)) as pilot:
        await pilot.pause()
        app.table.words = words(after)
        app.table.rows_changed()
        await pilot.pause()
        assert app.table.show_vertical_scrollbar is (after > 12)


async def test_rows_that_were_filtered_away_leave_no_empty_lines_below_the_others() -> None:
    app = WordsApp(words(60))
    async with app.run_test(size=(40, 12)) as pilot:
        app.table.move_to(59)
        await pilot.pause()
        app.table.move_to(50)
        app.table.words = [*words(19), "word-050"]
        app.table.rows_changed()
        await pilot.pause()
        shown = [app.table.render_line(y).text.split()[-2] for y in range(1, 12)]
        assert shown == [f"word-{number:03}" for number in (*range(9, 19), 50)]


async def test_a_cursor_that_its_rows_come_to_late_is_in_sight() -> None:
    app = WordsApp([])
    async with app.run_test(size=(40, 12)) as pilot:
        app.table.cursor = "word-059"
        await pilot.pause()
        app.table.words = words(60)
        app.table.rows_changed()
        await pilot.pause()
        assert app.table.scroll_offset.y == 60 - 11
        assert app.table.render_line(11).text.startswith("› word-059")


def test_blanks_go_along_with_what_stands_before_them() -> None:
    pieces: Pieces = [
        ("› ", "deck--accent"),
        ("a", ""),
        ("  ", ""),
        ("   ", "deck--dim"),
        ("b", "deck--dim"),
        (" ", ""),
    ]
    assert joined(pieces) == [("› ", "deck--accent"), ("a     ", ""), ("b ", "deck--dim")]
    assert width_of(joined(pieces)) == width_of(pieces)
