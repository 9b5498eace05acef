"""A table whose rows can be marked, by mouse too: with ctrl one, with shift all up to it, and by dragging over them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from textual import events
from textual.message import Message

from screens.widgets.line_table import LineTable


class MarkingTable(LineTable):
    """Subclasses keep the marks: `marked` and `set_marks`. `last_marked` is the row that was marked last."""

    @dataclass
    class MarksChanged(Message):
        """By mouse."""

        table: MarkingTable

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.last_marked: str | None = None
        self._pressed: str | None = None  # the row on which the button went down
        self._dragged_to: int | None = None
        self._swept: set[str] = set()  # what this drag has marked, and takes back where it goes back

    @property
    def allow_select(self) -> bool:
        return False  # a drag marks rows

    # --- what a subclass says ---

    def set_marks(self, keys: Iterable[str], on: bool) -> None:
        raise NotImplementedError

    def is_marked(self, key: str) -> bool:
        return self.marked(key)

    def flip_mark(self, key: str) -> None:
        self.set_marks([key], not self.is_marked(key))

    def can_be_marked(self, key: str) -> bool:
        return True

    # --- mouse ---

    def on_click(self, event: events.Click) -> None:
        if self._dragged_to is not None:  # the end of a drag is no click
            self._dragged_to = None
            event.prevent_default()
            return
        row = self.row_at(event)
        if row is None or not (event.ctrl or event.shift):
            return
        event.prevent_default()  # it opens nothing
        start = self.find(self.last_marked) if self.last_marked is not None else None
        first = self.cursor_row if start is None else start
        self.move_to(row)
        if event.shift:
            self.set_marks(self._between(first, row), True)
        else:
            self.flip_mark(self.keys[row])
        self._told_marks(row)

    def on_mouse_down(self, event: events.MouseDown) -> None:
        row = self.row_at(event)
        self._pressed = self.keys[row] if row is not None else None
        self._dragged_to = None

    def on_mouse_move(self, event: events.MouseMove) -> None:
        start = self.find(self._pressed) if self._pressed is not None else None
        if start is None or event.button != 1:
            self._let_go()  # the row has gone, or the button came up where nobody saw it
            return
        below = int(event.y) - self.gutter.top - self.HEAD  # beyond the edge, too: the rows follow
        row = max(0, min(self.scroll_offset.y + below, len(self.keys) - 1))
        if row == (start if self._dragged_to is None else self._dragged_to):
            return
        if self._dragged_to is None:
            self._swept = set()
            self.capture_mouse()
        self._dragged_to = row
        wanted = self._between(start, row)
        taken_back = self._swept.difference(wanted)
        new = [key for key in wanted if not self.is_marked(key)]
        self._swept = (self._swept - taken_back).union(new)
        self.set_marks(taken_back, False)
        self.set_marks(new, True)
        self.move_to(row)
        self._told_marks(row)

    def on_mouse_up(self) -> None:
        self._let_go()

    def _let_go(self) -> None:
        self._pressed = None
        if self.app.mouse_captured is self:
            self.release_mouse()

    def _between(self, first: int, last: int) -> Sequence[str]:
        low, high = sorted((first, last))
        return [key for key in self.keys[low : high + 1] if self.can_be_marked(key)]

    def _told_marks(self, row: int) -> None:
        self.last_marked = self.keys[row]
        self.repaint(self.visible_keys())
        self.post_message(self.MarksChanged(self))
