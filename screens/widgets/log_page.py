"""The lines of a log on the screen: painted by Textual's line API from a window over the file."""

from __future__ import annotations

import re
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.message import Message
from textual.scrollbar import ScrollBar, ScrollDown, ScrollTo, ScrollUp
from textual.strip import Strip
from textual.widget import Widget

from screens.log_actions import LOG
from screens.log_window import LogWindow, Row

_WHEEL_ROWS = 3
_LEAST_GUTTER = 4


class LogPage(Widget, can_focus=True):
    """Knows a window and how to paint it; who owns the file tells it when to paint again."""

    PLACE = LOG
    COMPONENT_CLASSES: ClassVar[set[str]] = {"log-page--number", "log-page--marked"}
    DEFAULT_CSS = """
    LogPage {
        height: 1fr;
        width: 1fr;
        & > .log-page--number { color: $foreground 38%; }
        & > .log-page--marked { background: $accent 22%; text-style: bold; }
        &:ansi > .log-page--number { color: ansi_default; text-style: dim; }
        &:ansi > .log-page--marked { background: ansi_default; text-style: bold underline; }
    }
    """

    class Scrolled(Message):
        """A person moved the view; `rows` is how far, negative upwards."""

        def __init__(self, rows: int) -> None:
            super().__init__()
            self.rows = rows

    def __init__(self) -> None:
        super().__init__()
        self.log_window: LogWindow | None = None
        self.left = 0
        self.pattern: re.Pattern[str] | None = None
        self.marked: int | None = None
        self.numbers = True
        self.empty_text = ""
        self._painted: list[tuple[Row, int | None]] | None = None

    def set_window(self, window: LogWindow | None) -> None:
        self.log_window = window
        self.left = 0
        self.marked = None
        self.repaint()

    def repaint(self) -> None:
        self._painted = None
        self.refresh()

    def on_resize(self) -> None:
        self.repaint()

    @property
    def numbers_width(self) -> int:
        if not self.numbers or self.log_window is None:
            return 0
        return max(_LEAST_GUTTER, len(str(self.log_window.reader.index.lines))) + 2

    def fit_window(self) -> None:
        """Gives the window the size there is for text."""
        if self.log_window is not None and self.size.width:
            self.log_window.resize(self.size.width - self.numbers_width, self.size.height)

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
        if gutter:
            shown = "" if number is None else str(number)
            segments.append(Segment(f"{shown:>{gutter - 2}}  ", self._style("number")))
        marked = row.line.start == self.marked
        if marked:
            base = self._style("marked")
        line = self._text(row, width - gutter, base)
        return Strip([*segments, *line]).adjust_cell_length(width, base)

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
                for at, row in enumerate(self.log_window.rows()):
                    if at == 0:
                        number = self.log_window.reader.number(row.line)
                    elif row.part == 0 and number is not None:
                        number += 1
                    self._painted.append((row, number if row.part == 0 else None))
        return self._painted

    def _text(self, row: Row, width: int, base: Style) -> Strip:
        window = self.log_window
        assert window is not None
        text, start, left = row.text, row.at, 0 if window.wrap else self.left
        if text.isascii():
            text, start, left = text[left : left + width], start + left, 0
        spans = self._hits(window.text(row.line), start, start + len(text)) if self.pattern else []
        if not spans:
            strip = Strip([Segment(text, base)])
        else:
            hit = base + Style(reverse=True)
            segments, position = [], 0
            for begin, end in spans:
                segments += [Segment(text[position:begin], base), Segment(text[begin:end], hit)]
                position = end
            strip = Strip([*segments, Segment(text[position:], base)])
        return strip.crop(left, left + width)

    def _hits(self, text: str, start: int, end: int) -> list[tuple[int, int]]:
        assert self.pattern is not None
        spans = []
        for match in self.pattern.finditer(text):
            if match.start() >= end:
                break
            if match.end() > start and match.end() > match.start():
                spans.append((max(match.start(), start) - start, min(match.end(), end) - start))
        return spans

    # --- moving by mouse ---

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        self.post_message(self.Scrolled(_WHEEL_ROWS))

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        self.post_message(self.Scrolled(-_WHEEL_ROWS))

    def on_click(self, event: events.Click) -> None:
        rows = self._rows()
        if 0 <= event.y < len(rows):
            self.marked = rows[event.y][0].line.start
            self.repaint()


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
