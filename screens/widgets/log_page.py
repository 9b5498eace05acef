"""The lines of a log on the screen: painted by Textual's line API from a window over the file."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Offset
from textual.message import Message
from textual.scrollbar import ScrollBar, ScrollDown, ScrollTo, ScrollUp
from textual.selection import Selection
from textual.strip import Strip
from textual.widget import Widget

from screens.bounded_pattern import BoundedPattern
from screens.cell_span import cell_span, character_at
from screens.log_actions import LOG
from screens.log_ink import Ink
from screens.log_window import LogWindow, Row
from screens.pieces import Piece, inks
from screens.widgets.log_colours import style_of_ink

_WHEEL_ROWS = 3
_LEAST_GUTTER = 4
_STREAM_CELLS = 2
"""Between a line's number and its text: the mark of its stream, and a blank."""
_WORD = re.compile(r"[\w./:@~+-]+")


class LogPage(Widget, can_focus=True):
    """Knows a window and how to paint it; who owns the file tells it when to paint again."""

    PLACE = LOG
    COMPONENT_CLASSES: ClassVar[set[str]] = {"log-page--number", "log-page--stream", "log-page--marked"}
    DEFAULT_CSS = """
    LogPage {
        height: 1fr;
        width: 1fr;
        & > .log-page--number { color: $deck-faint; }
        & > .log-page--stream { color: $warning; }
        & > .log-page--marked { background: $accent 22%; text-style: bold; }
        &:ansi > .log-page--number { color: ansi_default; text-style: dim; }
        &:ansi > .log-page--stream { color: ansi_default; }
        &:ansi > .log-page--marked { background: ansi_default; text-style: bold underline; }
    }
    """

    class Scrolled(Message):
        """A person moved the view; `rows` is how far, negative upwards."""

        def __init__(self, rows: int) -> None:
            super().__init__()
            self.rows = rows

    @dataclass
    class Pointed(Message):
        """A click on the line that begins at `start`; `extend`: with shift or ctrl."""

        start: int
        extend: bool

    def __init__(self) -> None:
        super().__init__()
        self.log_window: LogWindow | None = None
        self.left = 0
        self.pattern: BoundedPattern[str] | None = None
        self.marked: int | None = None
        self.range: tuple[int, int] | None = None  # where the first and the last line of a marked range begin
        self.tags: Callable[[int], Piece] | None = None  # whose line it is that begins at an offset
        self.tags_width = 0
        self.streams: Callable[[int], str] | None = None  # the mark of the stream that began the line at an offset
        self.numbers = True
        self.empty_text = ""
        self._painted: list[tuple[Row, int | None]] | None = None
        self._seen: list[Row] = []  # what was painted last
        self._pressed = Offset(0, 0)
        self._pressed_at = 0

    def set_window(self, window: LogWindow | None) -> None:
        self.log_window = window
        self.left = 0
        self.marked = self.range = None
        self.repaint()

    def repaint(self) -> None:
        self._painted = None
        if self.is_attached and self.text_selection is not None and not self._stands_as_it_stood():
            self.screen.clear_selection()  # other rows stand where it was
        self.refresh()

    def on_resize(self) -> None:
        self.repaint()

    @property
    def numbers_width(self) -> int:
        """Cells before the text: the numbers, and behind them the marks of streams, which also stand alone."""
        if not self.numbers or self.log_window is None:
            return _STREAM_CELLS if self.streams is not None else 0
        return max(_LEAST_GUTTER, len(str(self.log_window.reader.index.lines))) + 2

    def fit_window(self) -> None:
        """Gives the window the size there is for text."""
        if self.log_window is not None and self.size.width:
            self.log_window.resize(self.size.width - self.numbers_width - self.tags_width, self.size.height)

    # --- painting ---

    def render_line(self, y: int) -> Strip:
        width, base = self.size.width, self.rich_style
        rows = self._rows()
        if y >= len(rows):
            text = f" {self.empty_text}" if y == 0 and not rows else ""
            return Strip([Segment(text, self._style("number"))]).adjust_cell_length(width, base)
        row, number = rows[y]
        gutter = self.numbers_width
        segments: list[Segment] = []
        start = row.line.start
        if gutter:
            shown = "" if number is None or not self.numbers else str(number)
            segments.append(Segment(f"{shown:>{gutter - _STREAM_CELLS}}", self._style("number")))
            stream = self.streams(start) if self.streams is not None else ""
            segments.append(Segment(f"{stream:<{_STREAM_CELLS}}", self._style("stream")))
        if start == self.marked or (self.range is not None and self.range[0] <= start <= self.range[1]):
            base = self._style("marked")
        if self.tags is not None and self.tags_width:
            text, style = self.tags(start) if row.part == 0 else ("", "")
            ink = inks(self)(style) if style else Style()
            segments.append(Segment(f"{text:<{self.tags_width}}", base + Style(color=ink.color, bold=ink.bold)))
            gutter += self.tags_width
        line, hidden = self._text(row, y, width - gutter, base)
        whole = Strip([*segments, *line]).adjust_cell_length(width, base)
        # Where a selection begins and ends is told in rows of the window and characters of their text.
        return whole.apply_offsets(hidden - sum(len(segment.text) for segment in segments), y)

    def _style(self, name: str) -> Style:
        """Blended with what lies below: a partial style would lose its transparency."""
        return self.get_component_rich_style(f"log-page--{name}")

    def _rows(self) -> list[tuple[Row, int | None]]:
        """The visible rows, each first row of a line with its number where that is known."""
        if self._painted is None:
            self._painted = []
            if self.log_window is not None:
                self.fit_window()
                number: int | None = None
                gaps = self.log_window.reader.gaps
                for at, row in enumerate(self.log_window.rows()):
                    if at == 0 or (row.part == 0 and gaps):
                        number = self.log_window.reader.number(row.line)
                    elif row.part == 0 and number is not None:
                        number += 1
                    self._painted.append((row, number if row.part == 0 else None))
            self._seen = [row for row, _ in self._painted]
        return self._painted

    def _text(self, row: Row, y: int, width: int, base: Style) -> tuple[Strip, int]:
        """The visible part of a row, and how many of its characters are hidden at the left."""
        window = self.log_window
        assert window is not None
        hidden, until, lead = cell_span(row.text, 0 if window.wrap else self.left, width)
        text, start = row.text[hidden:until], row.at + hidden
        end = start + len(text)
        layers: list[tuple[int, int, Style]] = []
        whole = window.inked(row.line)
        layers += [
            (max(begin, start) - start, min(close, end) - start, self._ink(ink))
            for begin, close, ink in whole.spans
            if begin < end and close > start
        ]
        if self.pattern is not None:
            layers += [(*span, Style(reverse=True)) for span in self._hits(whole.text, start, end)]
        selection = self.text_selection
        if selection is not None and (span := selection.get_span(y)) is not None:
            begin, close = (max(0, at - hidden) if at >= 0 else at for at in span)
            chosen = self.screen.get_component_rich_style("screen--selection")
            layers.append((max(0, begin), len(text) if close < 0 else close, chosen or Style(reverse=True)))
        return Strip(_layered(text, base, layers)).crop(lead, lead + width), hidden

    def _ink(self, ink: Ink) -> Style:
        return style_of_ink(
            ink, self.background_colors[1], self.styles.color, self.app.ansi_theme, bool(self.app.ansi_color)
        )

    def _hits(self, text: str, start: int, end: int) -> list[tuple[int, int]]:
        assert self.pattern is not None
        spans = []
        for match in self.pattern.finditer(text):
            if match.start() >= end:
                break
            if match.end() > start and match.end() > match.start():
                spans.append((max(match.start(), start) - start, min(match.end(), end) - start))
        return spans

    # --- moving and selecting by mouse ---

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        self.post_message(self.Scrolled(_WHEEL_ROWS))

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        self.post_message(self.Scrolled(-_WHEEL_ROWS))

    def on_mouse_down(self, event: events.MouseDown) -> None:
        offset = event.style.meta.get("offset") if event.style else None
        self._pressed = Offset(event.x, event.y)
        self._pressed_at = max(0, self._character(event.x, event.y)) if offset is not None else 0

    def on_click(self, event: events.Click) -> None:
        rows = self._rows()
        if event.button > 1 or self.text_selection is not None or not 0 <= event.y < len(rows):
            return
        extend = event.shift or event.ctrl
        if event.chain == 1 or extend:
            self.post_message(self.Pointed(rows[event.y][0].line.start, extend))

    def _character(self, x: int, y: int) -> int:
        """The character of a row's text under a cell."""
        rows = self._rows()
        if not 0 <= y < len(rows):
            return 0
        row = rows[y][0]
        cell = x - self.numbers_width - self.tags_width + (0 if self.log_window and self.log_window.wrap else self.left)
        return character_at(row.text, cell)

    def text_select_all(self) -> None:
        """What a double click selects: a word."""
        rows, y = self._rows(), self._pressed.y
        if not 0 <= y < len(rows):
            return
        for word in _WORD.finditer(rows[y][0].text):
            if word.start() <= self._pressed_at < word.end():
                self.screen.selections = {self: Selection(Offset(word.start(), y), Offset(word.end(), y))}
                return

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """The text under a selection; the rows of a wrapped line are one line again."""
        found = ""
        for y, (row, _) in enumerate(self._rows()):
            span = selection.get_span(y)
            if span is None:
                continue
            if found and row.part == 0:
                found += "\n"
            found += row.text[max(0, span[0]) : None if span[1] < 0 else span[1]]
        return found, "\n"

    def selection_updated(self, selection: Selection | None) -> None:
        self.refresh()

    def _stands_as_it_stood(self) -> bool:
        """The rows seen last are where they were; below them, and at the end of the last one, more may have come."""
        seen, rows = self._seen, [row for row, _ in self._rows()]
        *whole, last = [(row.line.start, row.at, row.text) for row in seen] or [(0, 0, "")]
        now = [(row.line.start, row.at, row.text) for row in rows[: len(seen)]]
        return now[:-1] == whole and now[-1:] != [] and now[-1][:2] == last[:2] and now[-1][2].startswith(last[2])


def _layered(text: str, base: Style, layers: list[tuple[int, int, Style]]) -> list[Segment]:
    """The text in pieces, each in the base style and all that lie over it, later ones on top."""
    if not layers:
        return [Segment(text, base)]
    edges = sorted({0, len(text), *(edge for begin, end, _ in layers for edge in (begin, end) if 0 < edge < len(text))})
    segments = []
    for begin, end in pairwise(edges):
        style = base
        for first, last, layer in layers:
            if first <= begin < last:
                style += layer
        segments.append(Segment(text[begin:end], style))
    return segments


class LogScrollBar(ScrollBar):
    """A scroll bar over bytes or lines of a file, whichever is known."""

    DEFAULT_CSS = """
    LogScrollBar { width: 1; height: 1fr; }
    """

    class Dragged(Message):
        """To a place in the file, as a fraction of it."""

        def __init__(self, fraction: float) -> None:
            super().__init__()
            self.fraction = fraction

    class Paged(Message):
        def __init__(self, pages: int) -> None:
            super().__init__()
            self.pages = pages

    def show_window(self, window: LogWindow) -> None:
        rows, file = window.rows(), window.reader.file
        seen = max(1, window.bottom - window.top)
        total = max(len(rows), round(len(rows) * file.size / seen)) if rows else 1
        self.window_virtual_size = max(1, total)
        self.window_size = window.height
        self.position = total - window.height if window.at_end else total * window.top / max(1, file.size)

    def on_scroll_to(self, event: ScrollTo) -> None:
        event.stop()
        if event.y is not None:
            self.post_message(self.Dragged(max(0.0, min(1.0, event.y / self.window_virtual_size))))

    def on_scroll_up(self, event: ScrollUp) -> None:
        event.stop()
        self.post_message(self.Paged(-1))

    def on_scroll_down(self, event: ScrollDown) -> None:
        event.stop()
        self.post_message(self.Paged(1))
