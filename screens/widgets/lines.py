"""A widget of a few lines, each a left and a right part; painted again only when its text changes."""

from __future__ import annotations

from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

from screens.pieces import Pieces, inks, spread, strip, width_of

Line = tuple[Pieces, Pieces]


class Lines(Widget):
    """Subclasses make the lines for a width; `show` compares them with what stands there."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._lines: list[Line] = []

    def make(self, width: int) -> list[Line]:
        raise NotImplementedError

    def show(self) -> None:
        """Make the lines anew and paint those that changed; nothing of a widget that is on its way out."""
        if not self.is_attached:
            return
        lines = self.make(max(1, self.size.width))
        if lines == self._lines:
            return
        taller = len(lines) != len(self._lines)
        changed = [y for y, line in enumerate(lines) if not taller and line != self._lines[y]]
        self._lines = lines
        if taller:
            self.refresh(layout=self.styles.auto_dimensions)  # else the screen has room for as many as ever
        else:
            self.refresh(*(Region(0, y, self.size.width, 1) for y in changed))

    def get_content_height(self, container: object, viewport: object, width: int) -> int:
        return len(self._lines)

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        left, right = self._lines[y] if y < len(self._lines) else ([], [])
        return strip(spread(left, right, width), inks(self), self.rich_style)

    def on_resize(self) -> None:
        self.show()

    def piece_at(self, x: int, y: int) -> int | None:
        """The number of the left piece under a cell of the widget."""
        if y >= len(self._lines):
            return None
        left = 0
        for number, piece in enumerate(self._lines[y][0]):
            left += width_of([piece])
            if x < left:
                return number
        return None
