"""Rows marked by mouse: one with ctrl, all up to it with shift, and without a key by dragging over them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pytest
from textual import events
from textual.app import App, ComposeResult

from screens.columns import Column
from screens.deck_screen import DeckScreen
from screens.pieces import Pieces
from screens.widgets.line_table import LineTable
from screens.widgets.marking_table import MarkingTable
from tests.screens.mouse import drag, move, wheel

pytestmark = pytest.mark.anyio


class Numbers(MarkingTable):
    """Every tenth row is a title, which can't be marked."""

    COLUMNS = (Column("number", "number", 10),)

    def __init__(self) -> None:
        super().__init__()
        self.numbers = [str(number) for number in range(40)]
        self.marks: set[str] = set()

    @property
    def keys(self) -> Sequence[str]:
        return self.numbers

    def find(self, key: str) -> int | None:
        return self.numbers.index(key) if key in self.numbers else None

    def cell(self, key: str, column: str) -> Pieces:
        return [(key, "")]

    def marked(self, key: str) -> bool:
        return key in self.marks

    def can_be_marked(self, key: str) -> bool:
        return not key.endswith("0")

    def set_marks(self, keys: Iterable[str], on: bool) -> None:
        (self.marks.update if on else self.marks.difference_update)(keys)


class NumbersApp(App[None]):
    def __init__(self) -> None:
        super().__init__()
        self.table = Numbers()
        self.opened: list[str] = []
        self.told = 0

    def get_default_screen(self) -> DeckScreen[None]:
        return DeckScreen()

    def compose(self) -> ComposeResult:
        yield self.table

    def on_mount(self) -> None:
        self.table.rows_changed()

    def on_line_table_opened(self, event: LineTable.Opened) -> None:
        self.opened.append(event.key)

    def on_marking_table_marks_changed(self) -> None:
        self.told += 1

    @property
    def marks(self) -> list[int]:
        return sorted(int(key) for key in self.table.marks)


SIZE = (30, 12)
"""A title and eleven rows."""


def cell(row: int) -> tuple[int, int]:
    return 3, row + 1


async def test_ctrl_click_marks_a_row_and_takes_its_mark_away_and_never_opens() -> None:
    app = NumbersApp()
    async with app.run_test(size=SIZE) as pilot:
        await pilot.click(Numbers, offset=cell(3), control=True)
        assert app.marks == [3] and app.table.cursor_key == "3"
        await pilot.click(Numbers, offset=cell(5), control=True)
        assert app.marks == [3, 5] and app.told == 2
        assert app.table.render_line(6).text.startswith("›*5")
        await pilot.click(Numbers, offset=cell(3), control=True, times=2)
        assert app.marks == [3, 5] and app.opened == []


async def test_shift_click_marks_all_from_the_last_mark_or_else_from_the_cursor() -> None:
    app = NumbersApp()
    async with app.run_test(size=SIZE) as pilot:
        await pilot.click(Numbers, offset=cell(2))
        await pilot.click(Numbers, offset=cell(4), shift=True)
        assert app.marks == [2, 3, 4]
        await pilot.click(Numbers, offset=cell(8), control=True)
        await pilot.click(Numbers, offset=cell(6), shift=True)
        assert app.marks == [2, 3, 4, 6, 7, 8] and app.table.cursor_key == "6"
        assert app.opened == []


async def test_a_plain_click_and_a_double_click_mark_nothing() -> None:
    app = NumbersApp()
    async with app.run_test(size=SIZE) as pilot:
        await pilot.click(Numbers, offset=cell(2))
        await pilot.click(Numbers, offset=cell(4), times=2)
        assert app.marks == [] and app.opened == ["4"] and app.told == 0
        await pilot.click(Numbers, offset=(3, 0), control=True)
        assert app.marks == [], "a title is no row"


async def test_dragging_over_rows_marks_them_and_back_takes_the_marks_away_that_it_made() -> None:
    app = NumbersApp()
    async with app.run_test(size=SIZE) as pilot:
        app.table.marks = {"5"}
        await drag(pilot, app.table, cell(2), cell(2), cell(4), cell(7), let_go=False)
        assert app.marks == [2, 3, 4, 5, 6, 7] and app.table.cursor_key == "7"
        assert app.mouse_captured is app.table
    app = NumbersApp()
    async with app.run_test(size=SIZE) as pilot:
        app.table.marks = {"5"}
        await drag(pilot, app.table, cell(2), cell(7), cell(3))
        assert app.marks == [2, 3, 5], "a mark that was there before stays"
        assert app.mouse_captured is None and app.opened == []
        await drag(pilot, app.table, cell(8), cell(9), cell(6))
        assert app.marks == [2, 3, 5, 6, 7, 8]


async def test_the_rows_follow_a_drag_beyond_the_edge_and_titles_are_left_out() -> None:
    app = NumbersApp()
    async with app.run_test(size=SIZE) as pilot:
        await drag(pilot, app.table, cell(7), cell(9), let_go=False)
        app.screen._forward_event(events.MouseMove(None, 3, 14, 0, 1, 1, False, False, False))
        await pilot.pause()
        assert app.table.cursor_key == "13" and app.table.scroll_offset.y == 3
        assert app.marks == [7, 8, 9, 11, 12, 13]


async def test_a_button_that_came_up_unseen_ends_the_drag() -> None:
    app = NumbersApp()
    async with app.run_test(size=SIZE) as pilot:
        await drag(pilot, app.table, cell(2), cell(4), let_go=False)
        await move(pilot, app.table, cell(8))
        assert app.marks == [2, 3, 4] and app.mouse_captured is None


async def test_rows_that_go_away_below_a_drag_end_it() -> None:
    app = NumbersApp()
    async with app.run_test(size=SIZE) as pilot:
        await drag(pilot, app.table, cell(2), cell(4), let_go=False)
        app.table.numbers = ["7", "8", "9"]
        app.table.rows_changed()
        await drag(pilot, app.table, cell(8), cell(1))
        assert app.marks == [2, 3, 4], "pressed where no row is"


async def test_the_wheel_scrolls_and_leaves_the_cursor_where_it_is() -> None:
    app = NumbersApp()
    async with app.run_test(size=SIZE) as pilot:
        await wheel(pilot, app.table, cell(5))
        await pilot.pause()
        below = app.table.scroll_offset.y
        assert below > 0 and app.table.cursor_key == "0"
        await wheel(pilot, app.table, cell(5), down=False)
        await pilot.pause()
        assert app.table.scroll_offset.y < below
