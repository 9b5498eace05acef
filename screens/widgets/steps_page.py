"""One step in full, to be scrolled."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual.binding import BindingType
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from screens.bounded_pattern import BoundedPattern
from screens.pieces import Pieces, fit, inks, strip
from screens.steps_actions import STEPS

MARGIN = 2


class StepsPage(ScrollView, can_focus=True):
    """`make` gives the lines of a width. Lines that match `pattern` are marked at the left."""

    PLACE = STEPS
    BINDINGS: ClassVar[list[BindingType]] = [*STEPS.bindings()]
    DEFAULT_CSS = """
    StepsPage {
        height: 1fr;
        background: $background;
        scrollbar-size-vertical: 1;
        overflow-x: hidden;
        scrollbar-background: $background;
        scrollbar-background-hover: $background;
        scrollbar-background-active: $background;
        scrollbar-color: $foreground 20%;
        scrollbar-color-hover: $foreground 35%;
        scrollbar-color-active: $accent;
    }
    """

    def __init__(self) -> None:
        super().__init__()
        self.make: Callable[[int], list[Pieces]] | None = None
        self.pattern: BoundedPattern[str] | None = None
        self._lines: list[Pieces] = []
        self._width = 0

    def show(self, make: Callable[[int], list[Pieces]] | None, *, top: bool) -> None:
        """`top`: it is another step, whose text begins at the top, or at its first line that matches."""
        self.make = make
        if not self.size.width or not self.display:
            self._width = 0  # made when there is room for it
            return
        top = top or not self._width
        self._width = self.size.width
        lines = make(max(1, self._room)) if make is not None else []
        if lines == self._lines and not top:
            return
        self._lines = lines
        self.virtual_size = Size(0, len(lines))
        if top:
            self.scroll_to(y=max(0, self._first_match() - 3), animate=False)
        self.refresh()

    @property
    def _room(self) -> int:
        return self.size.width - MARGIN - 1

    def _first_match(self) -> int:
        pattern = self.pattern
        if pattern is None:
            return 0
        return next((row for row, line in enumerate(self._lines) if pattern.search(_text(line))), 0)

    def page(self, pages: int) -> None:
        self.scroll_relative(y=pages * max(1, self.size.height - 1), animate=False)

    def render_line(self, y: int) -> Strip:
        row = self.scroll_offset.y + y
        line = self._lines[row] if row < len(self._lines) else []
        hit = self.pattern is not None and bool(line) and self.pattern.search(_text(line)) is not None
        pieces = fit([("▸ " if hit else "  ", "deck--accent"), *line], self.size.width)
        return strip(pieces, inks(self), self.rich_style)

    def on_resize(self) -> None:
        if self.size.width != self._width:
            self.show(self.make, top=not self._width)

    def on_show(self) -> None:
        self.on_resize()


def _text(line: Pieces) -> str:
    return "".join(text for text, _ in line)
