"""What of a log stands in a window: rows, scrolling and wrapping, anchored at a byte and not at a line number.

So both ends of a file of any size are there at once, long before anyone has counted its lines.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import NamedTuple

from rich.cells import cell_len, chop_cells

from screens.log_index import Bytes, LineIndex
from screens.log_ink import PLAIN, Ink, left_by
from screens.log_lines import Line, LineReader
from screens.log_text import Inked, Look, inked

_KEPT_TEXTS = 512
_INK_BYTES = 4 * 1024
"""How far before a line is looked for colours that are still switched on."""


class Row(NamedTuple):
    """One row of the window: the line it shows, which part of the line (from 0; wrapped lines have several), and
    where in the line's text that part begins."""

    line: Line
    part: int
    text: str
    at: int = 0


class LogWindow:
    """`top` is where the first visible line begins, `part` how many of its rows are scrolled away."""

    def __init__(self, file: Bytes, index: LineIndex) -> None:
        self.reader = LineReader(file, index)
        self.look = Look.COLOURS
        self.width = 80
        self.height = 24
        self.wrap = False
        self.top = 0
        self.part = 0
        self._texts: OrderedDict[tuple[int, int, Look], Inked] = OrderedDict()
        self._rows: list[Row] | None = None

    def resize(self, width: int, height: int) -> None:
        width, height = max(1, width), max(1, height)
        if (width, height) != (self.width, self.height):
            self.width, self.height = width, height
            self.changed()

    def set_wrap(self, wrap: bool) -> None:
        self.wrap = wrap
        self.part = 0
        self.changed()

    def set_reader(self, reader: LineReader) -> None:
        """Shows what this reader finds: all lines of the file, or some."""
        self.reader = reader
        self.part = 0
        self.changed()

    def set_look(self, look: Look) -> None:
        self.look = look
        self.part = 0
        self.changed()

    def forget_texts(self) -> None:
        """What stands at an offset is another text now."""
        self._texts.clear()
        self.changed()

    def changed(self) -> None:
        """The file grew, or the window is another: rows are laid out again when they are next asked for."""
        self._rows = None

    def settle(self) -> None:
        """It is known now where all lines begin and end: what was shown in pieces is shown whole."""
        line = self.reader.line_of(self.top)
        if line is not None and line.start < self.top:
            self.top, self.part = line.start, 0
        self.changed()

    # --- what is seen ---

    def rows(self) -> list[Row]:
        """At most `height` rows; fewer only where the file is shorter than the window."""
        if self._rows is None:
            self._rows = self._lay_out()
            if len(self._rows) < self.height and (self.top or self.part):
                self.end()
                self._rows = self._lay_out()
        return self._rows

    @property
    def at_end(self) -> bool:
        """The last row of the file is in the window."""
        rows = self.rows()
        if not rows:
            return True
        last = rows[-1]
        return last.part == len(self._parts(last.line)) - 1 and self.reader.line_at(last.line.after) is None

    def sees(self, offset: int) -> bool:
        """The line that begins at `offset` is in the window, from its first row on."""
        return any(row.line.start == offset and row.part == 0 for row in self.rows())

    @property
    def bottom(self) -> int:
        """Where the last visible line ends."""
        rows = self.rows()
        return rows[-1].line.after if rows else 0

    def text(self, line: Line) -> str:
        """A line's safe text. Of a cut line it says how much is left out."""
        return self.inked(line).text

    def inked(self, line: Line) -> Inked:
        """The same with its colours."""
        key = (line.start, line.end, self.look)
        found = self._texts.get(key)
        if found is None:
            raw, left_out = self.reader.shown_bytes(line, raw=self.look is Look.RAW)
            ended = not left_out and line.end < line.after
            ink = self._ink_before(line) if self.look is Look.COLOURS else PLAIN
            found = inked(raw, ended=ended, look=self.look, ink=ink)
            if left_out or not line.whole:
                note = f" … cut, {_bytes(line.length)}{'' if line.whole else ' or more'}"
                found = Inked(found.text + note, found.spans)
            self._texts[key] = found
            if len(self._texts) > _KEPT_TEXTS:
                self._texts.popitem(last=False)
        return found

    def _ink_before(self, line: Line) -> Ink:
        """What lines above have left switched on, as a terminal would have it."""
        start = max(0, line.start - _INK_BYTES)
        data = self.reader.file.read(start, line.start - start)
        return left_by(data.decode("utf-8", "replace")) if b"\x1b[" in data else PLAIN

    # --- moving ---

    def scroll(self, rows: int) -> None:
        """Down by so many rows, up by negative ones; stops at the file's ends."""
        if rows < 0:
            self._up(-rows)
        else:
            self._down(rows)
        self.changed()

    def home(self) -> None:
        self.top = self.part = 0
        self.changed()

    def end(self) -> None:
        """The last row of the file stands in the window's last row."""
        self.top, self.part = self.reader.file.size, 0
        self._up(self.height)
        self.changed()

    def go_to(self, offset: int) -> None:
        """The line that holds the byte at `offset` stands in the first row, or as near as the file's end lets it."""
        line = self.reader.line_of(offset)
        self.top, self.part = (line.start if line else 0), 0
        self.changed()

    def show(self, offset: int) -> None:
        """Moves only if the line at `offset` is not seen; then it stands a third down."""
        if self.sees(offset):
            return
        self.go_to(offset)
        self._up(self.height // 3)
        self.changed()

    # --- inside ---

    def _lay_out(self) -> list[Row]:
        rows: list[Row] = []
        position, skip = self.top, self.part
        while len(rows) < self.height and (line := self.reader.line_at(position)) is not None:
            parts = self._parts(line)
            if skip >= len(parts):
                skip = self.part = len(parts) - 1
            at = sum(len(text) for text in parts[:skip])
            for part in range(skip, min(len(parts), skip + self.height - len(rows))):
                rows.append(Row(line, part, parts[part], at))
                at += len(parts[part])
            position, skip = line.after, 0
        return rows

    def _parts(self, line: Line) -> list[str]:
        text = self.text(line)
        if not self.wrap:
            return [text]
        if text.isascii():
            if len(text) <= self.width:
                return [text]
            return [text[at : at + self.width] for at in range(0, len(text), self.width)]
        if cell_len(text) <= self.width:
            return [text]
        return chop_cells(text, self.width) if self.width > 1 else list(text)

    def _up(self, rows: int) -> None:
        while rows > 0:
            if self.part:
                taken = min(self.part, rows)
                self.part -= taken
                rows -= taken
                continue
            line = self.reader.line_before(self.top)
            if line is None:
                return
            self.top, self.part = line.start, len(self._parts(line)) if self.wrap else 1

    def _down(self, rows: int) -> None:
        while rows > 0:
            line = self.reader.line_at(self.top)
            if line is None:
                return
            parts = len(self._parts(line)) if self.wrap else 1
            if self.part + rows < parts:
                self.part += rows
                return
            if self.reader.line_at(line.after) is None:
                self.part = parts - 1
                return
            rows -= parts - self.part
            self.top, self.part = line.after, 0


def _bytes(count: int) -> str:
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("KB", 1e3)):
        if count >= factor:
            return f"{count / factor:.1f} {unit}"
    return f"{count} bytes"
