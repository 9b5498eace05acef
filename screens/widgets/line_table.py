"""A table painted line by line: a header that stays, a cursor that stays on its row's key, dirty rows only.

Textual's DataTable repaints every visible cell for one update and keeps its cursor on an index; this one doesn't.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

from rich.style import Style
from textual import events
from textual.binding import BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from screens.actions import Action, place
from screens.columns import GAP, Column, share
from screens.pieces import Pieces, fit, inks, joined, strip

TABLE = place(
    "table",
    "In a table",
    Action(name="move(-1)", keys=("up", "k"), label="up", help="Up one row", palette=False),
    Action(name="move(1)", keys=("down", "j"), label="down", help="Down one row", palette=False),
    Action(name="page(-1)", keys=("pageup", "ctrl+b"), label="page up", help="Up one page", palette=False),
    Action(name="page(1)", keys=("pagedown", "ctrl+f"), label="page down", help="Down one page", palette=False),
    Action(name="first", keys=("home",), label="first", help="To the first row", palette=False),
    Action(name="last", keys=("end",), label="last", help="To the last row", palette=False),
    Action(name="open", keys=("enter",), label="open", help="Open the row under the cursor", footer=0),
    mouse="a double click opens, a click on a title sorts where there is an order to choose",
)

MARGIN = 2
"""Cells at the left edge, where the cursor and a row's mark stand."""

MARK = "*"

_Line = tuple[Pieces, str]
"""What stands in a line, and the style that lies under the whole of it."""


class LineTable(ScrollView, can_focus=True):
    """Subclasses hold the rows: `keys`, `cell`, and call `rows_changed` or `repaint`."""

    PLACE = TABLE
    BINDINGS: ClassVar[list[BindingType]] = [*TABLE.bindings()]
    COLUMNS: Sequence[Column] = ()
    HEAD: ClassVar[int] = 1
    """Lines of the header: 1, or 0 for none."""

    IDLE_CURSOR: ClassVar[bool] = True
    """Whether the cursor is seen where something else has the focus."""

    @dataclass
    class Opened(Message):
        """Enter, or a double click, on a row."""

        table: LineTable
        key: str

    @dataclass
    class HeaderClicked(Message):
        table: LineTable
        column: str

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.cursor: str | None = None
        self._at = 0
        self._shares_now: tuple[int, list[tuple[Column, int]]] | None = None
        self._arranged_once = False
        self._painted: dict[int, _Line] = {}
        self._made: dict[int, tuple[int, int, _Line]] = {}
        self._styles: dict[str, Style] = {}

    # --- what a subclass says ---

    @property
    def keys(self) -> Sequence[str]:
        raise NotImplementedError

    def find(self, key: str) -> int | None:
        """The row of a key; None where it isn't shown."""
        raise NotImplementedError

    def cell(self, key: str, column: str) -> Pieces:
        raise NotImplementedError

    def marked(self, key: str) -> bool:
        return False

    def whole_row(self, key: str) -> Pieces | None:
        """A row that isn't made of columns, such as a group's header."""
        return None

    def sorted_by(self) -> tuple[str, bool]:
        """The column and whether it goes downwards."""
        return "", False

    def columns(self) -> Sequence[Column]:
        return self.COLUMNS

    def wanted_widths(self) -> dict[str, int]:
        return {}

    def empty_text(self) -> str:
        return ""

    # --- rows ---

    def rows_changed(self) -> None:
        """After rows appeared, went or moved: the cursor stays on its key, else on its place."""
        self._shares_now = None
        seen = self._visible(self._at)
        found = self.find(self.cursor) if self.cursor is not None else None
        if found is not None:
            self._at = found
        elif self.keys:
            self._at = min(self._at, len(self.keys) - 1)
            if self.cursor is None:
                self.cursor = self.keys[self._at]
        else:
            self._at = 0
        self._grow_to(Size(0, len(self.keys) + self.HEAD))
        if seen or not self._arranged_once:
            self._reveal()
        self._arranged_once = True
        self._repaint_changed(range(self.size.height))

    def _grow_to(self, size: Size) -> None:
        """Without a new layout of the whole screen where all that changes is how far there is to scroll."""
        if size == self.virtual_size:
            return
        if (size.height > self.size.height) is self.show_vertical_scrollbar:
            self.set_reactive(LineTable.virtual_size, size)
            self.vertical_scrollbar.window_virtual_size = size.height
        else:
            self.virtual_size = size
        if self.scroll_offset.y > self.max_scroll_y:
            self._scroll_top_to(self.max_scroll_y)  # no empty lines below rows that were filtered away

    @property
    def cursor_key(self) -> str | None:
        """The key of the row under the cursor."""
        return self.keys[self._at] if 0 <= self._at < len(self.keys) else None

    @property
    def cursor_row(self) -> int:
        return self._at

    def repaint(self, keys: Iterable[str]) -> None:
        """Paint these rows again, those of them that can be seen and look different now."""
        rows = (self.find(key) for key in keys)
        self._repaint_rows({row for row in rows if row is not None})

    def visible_keys(self) -> Sequence[str]:
        top = self.scroll_offset.y
        return self.keys[top : top + self._page()]

    def move_to(self, row: int) -> None:
        """Put the cursor on a row; it becomes the row that the cursor stays on."""
        if not self.keys:
            return
        before = self._at
        self._at = max(0, min(row, len(self.keys) - 1))
        self.cursor = self.keys[self._at]
        self._repaint_rows({before, self._at})
        self._reveal()

    def move_to_key(self, key: str) -> bool:
        row = self.find(key)
        if row is None:
            return False
        self.move_to(row)
        return True

    @property
    def room(self) -> int:
        """Cells in a line, the scrollbar left out."""
        return self.scrollable_content_region.width

    def to_top(self) -> None:
        """The cursor goes to the row that is first at the next change of the rows."""
        self.cursor, self._at = None, 0

    def to_first_page(self) -> None:
        """Show the first page; a cursor that stood on a later one goes to the first row, for it is where one looks."""
        row = self._at
        self.move_to(0)
        if row < self._page():
            self.move_to(row)

    def _page(self) -> int:
        return max(1, self.size.height - self.HEAD)

    def _visible(self, row: int) -> bool:
        return self.scroll_offset.y <= row < self.scroll_offset.y + self._page()

    def _reveal(self) -> None:
        top = self.scroll_offset.y
        if self._at < top:
            self._scroll_top_to(self._at)
        elif self._at >= top + self._page():
            self._scroll_top_to(self._at - self._page() + 1)

    def _scroll_top_to(self, row: int) -> None:
        """`force`: rows that came just now may lie below where the scrollbar is not there yet."""
        self.scroll_to(y=row, animate=False, force=True)

    def _repaint_rows(self, rows: Iterable[int]) -> None:
        top = self.scroll_offset.y
        bottom = top + self._page()
        self._repaint_changed(row - top + self.HEAD for row in rows if top <= row < bottom)

    def _repaint_changed(self, lines: Iterable[int]) -> None:
        """Making a line costs much less than painting it: what already stands there is left alone."""
        width, top, room = self.size.width, self.scroll_offset.y, self.room
        regions = []
        for y in lines:
            line = self._line(y, top, room)
            if self._painted.get(y) != line:
                self._made[y] = (top, room, line)
                regions.append(Region(0, y, width, 1))
            else:
                self._made.pop(y, None)  # it changed and changed back before it was painted
        if regions:
            self.refresh(*regions)

    # --- painting ---

    def refresh(self, *regions: Region, repaint: bool = True, layout: bool = False, recompose: bool = False) -> Self:
        if not regions:  # something else than the rows may have changed
            self._made.clear()
        return super().refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)

    def shares(self, room: int | None = None) -> list[tuple[Column, int]]:
        """The columns that are shown, with their widths."""
        width = self.room if room is None else room
        if self._shares_now is None or self._shares_now[0] != width:
            self._shares_now = (width, share(self.columns(), max(1, width - MARGIN), self.wanted_widths()))
        return self._shares_now[1]

    def style_of(self, name: str) -> Style:
        style = self._styles.get(name)
        if style is None:
            style = self._styles[name] = inks(self)(name) if name else self.rich_style
        return style

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._styles.clear()

    def render_line(self, y: int) -> Strip:
        top, room = self.scroll_offset.y, self.room
        made = self._made.pop(y, None)
        line = made[2] if made is not None and made[:2] == (top, room) else self._line(y, top, room)
        self._painted[y] = line
        pieces, ground = line
        base = self.style_of("")
        return strip(joined(pieces), self.style_of, base + self.style_of(ground) if ground else base)

    def _line(self, y: int, top: int, width: int) -> _Line:
        if y < self.HEAD:
            return fit(self._header(), width), "deck--head"
        row = top + y - self.HEAD
        if row >= len(self.keys):
            text = self.empty_text() if not self.keys and y == self.HEAD else ""
            return fit([(f"  {text}", "deck--dim")], width), ""
        key = self.keys[row]
        here = row == self._at and (self.has_focus or self.IDLE_CURSOR)
        ground = ("deck--cursor" if self.has_focus else "deck--cursor-idle") if here else ""
        mark = "›" if here else " "
        whole = self.whole_row(key)
        if whole is not None:
            return fit([(f"{mark} ", ""), *whole], width), ground
        if self.marked(key):
            mark = f"{mark.strip()}{MARK}"
        pieces: Pieces = [(mark.ljust(MARGIN), "deck--accent")]
        left = width - MARGIN + GAP
        for number, (column, cells) in enumerate(self.shares(width)):
            if number:
                pieces.append((" " * GAP, ""))
            pieces += fit(self.cell(key, column.name), cells, column.right)
            left -= cells + GAP
        return (fit(pieces, width) if left < 0 else [*pieces, (" " * left, "")]), ground

    def _header(self) -> Pieces:
        name, down = self.sorted_by()
        pieces: Pieces = [(" " * MARGIN, "")]
        for number, (column, cells) in enumerate(self.shares()):
            if number:
                pieces.append((" " * GAP, ""))
            title = column.title
            if column.name == name:
                arrow = "↓" if down else "↑"
                gap = " " if len(title) + 2 <= cells else ""
                title = f"{title[: cells - 1]}{gap}{arrow}"
            pieces += fit([(title, "deck--strong" if column.name == name else "")], cells, column.right)
        return pieces

    # --- keys and mouse ---

    def action_move(self, rows: int) -> None:
        self.move_to(self._at + rows)

    def action_page(self, pages: int) -> None:
        self.move_to(self._at + pages * max(1, self._page() - 1))

    def action_first(self) -> None:
        self.move_to(0)

    def action_last(self) -> None:
        self.move_to(len(self.keys) - 1)

    def action_open(self) -> None:
        if (key := self.cursor_key) is not None:
            self.post_message(self.Opened(self, key))

    def on_click(self, event: events.Click) -> None:
        at = event.get_content_offset(self)
        if at is None or event.button not in (0, 1):
            return
        if at.y < self.HEAD:
            left = MARGIN
            for column, cells in self.shares():
                if at.x < left + cells + GAP:
                    self.post_message(self.HeaderClicked(self, column.name))
                    return
                left += cells + GAP
            return
        if (row := self.row_at(event)) is not None:
            self.move_to(row)
            if event.chain == 2:
                self.action_open()

    def row_at(self, event: events.MouseEvent) -> int | None:
        """The row under the left button; None on the header, the scrollbar, and where no row is."""
        at = event.get_content_offset(self)
        if at is None or at.y < self.HEAD or event.button not in (0, 1):
            return None
        row = self.scroll_offset.y + at.y - self.HEAD
        return row if row < len(self.keys) else None

    def on_focus(self) -> None:
        self._repaint_rows({self._at})

    def on_blur(self) -> None:
        self._repaint_rows({self._at})

    def on_resize(self) -> None:
        self._shares_now = None
        self._reveal()
