"""The screen of a recorded terminal: what was written to it, carried out by pyte, made harmless first.

Nothing of a recording reaches the terminal that it is shown on: only characters in cells, and their colours.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Any

import pyte
from rich.cells import cell_len, set_cell_size
from rich.color import ColorParseError
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip
from wcwidth import wcwidth

from engine.text import clean_line

MOST_COLUMNS = 300
MOST_ROWS = 100
_LONGEST_SEQUENCE = 4_096
"""An escape sequence that is still not over after this many characters is none."""
_MOST_COMBINING = 8
_MOST_SAVED_CURSORS = 32
_ALTERNATE = frozenset({47, 1047, 1049})

# What pyte would print or stumble over: strings for the terminal (OSC, DCS, APC, PM, SOS), private forms.
_DROPPED = re.compile(
    r"(?:\x1b[PX\]^_]|[\x90\x98\x9d\x9e\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)"
    r"|(?:\x1b\[|\x9b)[<=>][0-?]*[ -/]*[@-~]"
    r"|(?:\x1b\[|\x9b)[0-?]*[ -/]+[@-~]"
    r"|(?:\x1b\[|\x9b)\?[0-9;]*[^0-9;hlJK]"
    r"|\x1b#[0-79]"
    r"|\x07"
)
_UNFINISHED = re.compile(
    r"(?:(?:\x1b[PX\]^_]|[\x90\x98\x9d\x9e\x9f])[^\x07\x1b\x9c]*\x1b?|(?:\x1b\[|\x9b)[0-?]*[ -/]*|\x1b[ -/]*)\Z"
)
_SUBPARAMETERS = re.compile(r"((?:\x1b\[|\x9b)[0-9;]*)(?::[0-9:;]*)m")
_COLOURS = {"brown": "yellow", "brightbrown": "bright_yellow", "bfightmagenta": "bright_magenta"}


@dataclass(frozen=True)
class Snapshot:
    """Everything that a screen needs to be as it was."""

    columns: int
    rows: int
    cells: dict[int, dict[int, Any]]
    cursor: tuple[int, int, Any, bool]
    mode: frozenset[int]
    margins: Any
    carried: str
    behind: dict[int, dict[int, Any]] | None


class _Screen(pyte.Screen):
    """pyte's, with an alternate screen, and with bounds on what grows."""

    behind: dict[int, dict[int, Any]] | None = None

    def draw(self, data: str) -> None:
        super().draw(data if data.isascii() else _drawable(data))

    def save_cursor(self) -> None:
        super().save_cursor()
        del self.savepoints[:-_MOST_SAVED_CURSORS]

    def resize(self, lines: int | None = None, columns: int | None = None) -> None:
        lines = min(lines or self.lines, MOST_ROWS)
        if self.cursor.y < lines < self.lines:  # what goes is the empty part below; pyte takes rows from the top
            for row in [row for row in self.buffer if row >= lines]:
                del self.buffer[row]
            self.lines = lines
            self.dirty.update(range(lines))
            self.set_margins()
        super().resize(lines, min(columns or self.columns, MOST_COLUMNS))
        self.cursor.x = min(self.cursor.x, self.columns - 1)
        self.cursor.y = min(self.cursor.y, self.lines - 1)

    def set_mode(self, *modes: int, **given: Any) -> None:
        if given.get("private") and not _ALTERNATE.isdisjoint(modes) and self.behind is None:
            self.save_cursor()
            self.behind = copied(self.buffer)
            self.erase_in_display(2)
        super().set_mode(*modes, **given)

    def reset_mode(self, *modes: int, **given: Any) -> None:
        if given.get("private") and not _ALTERNATE.isdisjoint(modes) and self.behind is not None:
            self.put(self.behind)
            self.behind = None
            self.restore_cursor()
        super().reset_mode(*modes, **given)

    def put(self, cells: dict[int, dict[int, Any]]) -> None:
        self.buffer.clear()
        for y, row in cells.items():
            if y < self.lines:
                self.buffer[y].update({x: cell for x, cell in row.items() if x < self.columns})
        self.dirty.update(range(self.lines))


class Terminal:
    """Feed it what was written; `dirty` are the rows that changed since it was emptied last."""

    def __init__(self, columns: int, rows: int) -> None:
        self._screen = _Screen(max(1, min(columns, MOST_COLUMNS)), max(1, min(rows, MOST_ROWS)))
        self._stream = pyte.Stream(self._screen)
        self._carried = ""
        self._styles: dict[Any, Style] = {}

    @property
    def columns(self) -> int:
        return self._screen.columns

    @property
    def rows(self) -> int:
        return self._screen.lines

    @property
    def cursor_row(self) -> int:
        return self._screen.cursor.y

    @property
    def dirty(self) -> set[int]:
        return self._screen.dirty

    def feed(self, written: str) -> None:
        """Never raises; what no terminal knows is left out."""
        written = self._carried + written
        self._carried = ""
        if "\x1b" in written or not written.isascii():
            unfinished = _UNFINISHED.search(written)
            if unfinished and len(unfinished[0]) <= _LONGEST_SEQUENCE:
                self._carried = unfinished[0]
                written = written[: unfinished.start()]
            written = _SUBPARAMETERS.sub(r"\1m", _DROPPED.sub("", written))
        else:
            written = written.replace("\x07", "")
        try:
            self._stream.feed(written)
        except Exception:  # whatever a recording makes pyte raise ends one piece of it, not the console
            self._stream = pyte.Stream(self._screen)

    def resize(self, columns: int, rows: int) -> None:
        self._screen.resize(max(1, rows), max(1, columns))

    def snapshot(self) -> Snapshot:
        screen = self._screen
        return Snapshot(
            screen.columns,
            screen.lines,
            copied(screen.buffer),
            (screen.cursor.x, screen.cursor.y, screen.cursor.attrs, screen.cursor.hidden),
            frozenset(screen.mode),
            screen.margins,
            self._carried,
            screen.behind,
        )

    def restore(self, snapshot: Snapshot) -> None:
        screen = self._screen = _Screen(snapshot.columns, snapshot.rows)
        self._stream = pyte.Stream(screen)
        screen.put(snapshot.cells)
        screen.cursor.x, screen.cursor.y, screen.cursor.attrs, screen.cursor.hidden = snapshot.cursor
        screen.mode = set(snapshot.mode)
        screen.margins = snapshot.margins
        screen.behind = snapshot.behind
        self._carried = snapshot.carried

    def text(self, row: int) -> str:
        """A row without colours and without blanks at its end."""
        return self.strip(row, Style()).text.rstrip()

    def strip(self, row: int, base: Style) -> Strip:
        """A row, exactly as wide as the screen, the cursor in reverse."""
        screen = self._screen
        cells: Any = screen.buffer.get(row, {})
        cursor = screen.cursor.x if row == screen.cursor.y and not screen.cursor.hidden else -1
        segments: list[Segment] = []
        held, style, x = "", base, 0
        while x < screen.columns:
            cell = cells.get(x)
            said = cell.data if cell is not None else " "
            width = 2 if x + 1 < screen.columns and (after := cells.get(x + 1)) is not None and after.data == "" else 1
            ink = base + self._style(cell) if cell is not None else base
            if cursor == x:
                ink += Style(reverse=True)
            if not said.isascii() or not said.isprintable():
                said = clean_line(said)
                if cell_len(said) != width:
                    said = set_cell_size(said, width)
            elif not said:
                said = " "
            if ink != style and held:
                segments.append(Segment(held, style))
                held = ""
            style = ink
            held += said
            x += width
        segments.append(Segment(held, style))
        return Strip(segments, screen.columns)

    def _style(self, cell: Any) -> Style:
        look = cell[1:]
        found = self._styles.get(look)
        if found is None:
            if len(self._styles) > 4_096:
                self._styles.clear()
            found = self._styles[look] = _style_of(cell)
        return found


def copied(buffer: Any) -> dict[int, dict[int, Any]]:
    return {y: dict(row) for y, row in buffer.items()}


def _style_of(cell: Any) -> Style:
    """Nothing blinks."""
    return Style(
        color=_colour(cell.fg),
        bgcolor=_colour(cell.bg),
        bold=cell.bold or None,
        italic=cell.italics or None,
        underline=cell.underscore or None,
        strike=cell.strikethrough or None,
        reverse=cell.reverse or None,
    )


def _colour(name: str) -> str | None:
    if name == "default":
        return None
    if name in _COLOURS:
        return _COLOURS[name]
    if name.startswith("bright"):
        return f"bright_{name.removeprefix('bright')}"
    found = f"#{name}" if re.fullmatch(r"[0-9a-f]{6}", name) else name
    try:
        Style(color=found)
    except ColorParseError:
        return None
    return found


def _drawable(data: str) -> str:
    """Without what has no cell: pyte would drop all that follows it. Few combining characters on one cell."""
    kept = []
    combining = 0
    for char in data:
        if wcwidth(char) > 0:
            combining = 0
        elif unicodedata.combining(char):
            combining += 1
            if combining > _MOST_COMBINING:
                continue
        else:
            continue
        kept.append(char)
    return "".join(kept)
