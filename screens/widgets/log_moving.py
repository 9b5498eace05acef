"""Where one is in a log: opened, followed, scrolled, wrapped; what all that looks for something builds on."""

from __future__ import annotations

from typing import ClassVar, Protocol

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical

from screens.log_actions import LOG
from screens.log_file import Change
from screens.log_index import Bytes, LineIndex
from screens.log_text import Look
from screens.log_window import LogWindow
from screens.widgets.log_asking import SearchLine
from screens.widgets.log_indexing import LogIndexing
from screens.widgets.log_page import LogPage, LogScrollBar

LOOK_SEC = 0.25
"""How often a log that can be seen is looked at."""
SIDEWAYS = 8
_MOST_JUMPS = 100
"""So many places that were jumped away from are known."""


class Growing(Bytes, Protocol):
    """The bytes of something that grows: a file, or several as one."""

    @property
    def missing(self) -> str: ...

    @property
    def gone(self) -> bool: ...

    def look(self) -> Change: ...

    def close(self) -> None: ...


class LogMoving(Vertical):
    """`poll` looks at the file; a timer calls it while the log can be seen. Index and search of large files run in
    threads that end in a message.
    """

    PLACE = LOG
    BINDINGS: ClassVar[list[BindingType]] = [*LOG.bindings()]
    DEFAULT_CSS = """
    LogMoving { height: 1fr; }
    LogMoving > .log-lines {
        height: 1fr;
        scrollbar-background: $background;
        scrollbar-background-hover: $background;
        scrollbar-background-active: $background;
        scrollbar-color: $foreground 20%;
        scrollbar-color-hover: $foreground 35%;
        scrollbar-color-active: $accent;
    }
    """

    def __init__(self, file: Growing, *, follow: bool = False, id: str | None = None) -> None:
        super().__init__(id=id)
        self.following = follow
        self._page = LogPage()
        self._bar = LogScrollBar()
        self._file = file
        self._index = LineIndex(self._file)
        self._window = LogWindow(self._file, self._index)
        self._indexing = LogIndexing(self)
        self._left_at: int | None = None  # size of the file when following was let go
        self._target: int | None = None  # a line number to go to once it is known
        self._placed = False
        self._rests_at_end = False  # so that another size of the window leaves it there
        self._trail: list[int] = []  # where one was before each jump
        self.replaced = 0

    def compose(self) -> ComposeResult:
        with Horizontal(classes="log-lines"):
            yield self._page
            yield self._bar
        yield SearchLine()

    def on_mount(self) -> None:
        if not self.query(LogPage):  # taken away again before it was filled
            return
        self._page.set_window(self._window)
        self._window.set_wrap(bool(getattr(self.app, "wraps_logs", False)))
        self.set_interval(LOOK_SEC, self._tick)
        self.poll()

    def on_unmount(self) -> None:
        self.workers.cancel_node(self)
        self._file.close()

    # --- what others ask ---

    @property
    def size_bytes(self) -> int:
        return self._file.size

    @property
    def gone(self) -> bool:
        """The file was removed; what it held can still be read."""
        return self._file.gone

    @property
    def index(self) -> LineIndex:
        return self._index

    @property
    def log_window(self) -> LogWindow:
        return self._window

    @property
    def wrapping(self) -> bool:
        return self._window.wrap

    @property
    def look(self) -> Look:
        return self._window.look

    @property
    def here_number(self) -> int | None:
        """The number of the line at `here`, where it is known."""
        before = self._index.newlines_before(min(self.here, self._file.size))
        return None if before is None else before + 1

    @property
    def new_lines(self) -> int | None:
        """Lines that came since following was let go; None where they aren't counted yet."""
        if self._left_at is None:
            return 0
        before = self._index.newlines_before(min(self._left_at, self._file.size))
        if before is None or not self._index.complete:
            return None
        return self._index.newlines - before

    @property
    def here(self) -> int:
        """Where the marked line begins if it can be seen, else the first one shown."""
        self._page.fit_window()  # what can be seen now, not what could before the page got another size
        marked = self._page.marked
        if marked is not None and self._window.sees(marked):
            return marked
        rows = self._window.rows()
        return rows[0].line.start if rows else self._window.top

    # --- the file ---

    def _tick(self) -> None:
        if self.is_on_screen and self.screen.is_current:
            self.poll()

    def poll(self) -> None:
        """Look at the file and show what is new."""
        change = self._file.look()
        if change is Change.REPLACED:
            self._start_over()
        self._page.empty_text = self._file.missing if change is Change.MISSING else self.nothing_shown()
        if change in (Change.GREW, Change.REPLACED):
            self.grew()
        elif not self._index.complete:
            self._index_more()
        self.show_state()

    def grew(self) -> None:
        """Shows what is new, and goes on with counting and looking."""
        if self._page.is_attached and self._page.text_selection is not None:
            self._let_go()  # what is being selected stays where it is
        self._window.changed()
        self._rests_at_end = False
        if self.following or not self._placed:
            self._to_end()
            self._placed = True
        self._page.repaint()
        self.look_further()
        if not self._index.complete:
            self._index_more()

    def show_state(self) -> None:
        self._bar.show_window(self._window)

    def nothing_shown(self) -> str:
        """Why there is no line to be seen, if there is none."""
        return "" if self._file.size else "empty"

    def look_further(self) -> None:
        """The file grew: whatever looks through it goes on."""

    def left(self) -> None:
        """A person moves the view: nothing that was asked for before moves it again."""

    def _start_over(self) -> None:
        self.replaced += 1
        self._index = LineIndex(self._file)
        wrap, look = self._window.wrap, self._window.look
        self._window = LogWindow(self._file, self._index)
        self._window.set_wrap(wrap)
        self._window.set_look(look)
        self._page.set_window(self._window)
        self._left_at = None
        self._target = None
        self._placed = False
        self._trail.clear()

    def _to_end(self) -> None:
        self._page.fit_window()
        self._window.end()
        self._rests_at_end = True

    # --- the index ---

    def _index_more(self) -> None:
        if self._indexing.go_on(self._index, self._file.size):
            self._page.repaint()
            self._go_to_target()

    def on_log_indexing_indexed(self, event: LogIndexing.Indexed) -> None:
        event.stop()
        if self._indexing.came(event, self._index):
            self._settle()
            self._go_to_target()
            self.show_state()

    def _settle(self) -> None:
        """Lines whose ends were too far away to be seen are shown whole."""
        if self._rests_at_end:
            self._to_end()
        else:
            self._page.fit_window()
            self._window.settle()
        self._page.repaint()

    # --- following and moving ---

    def action_follow(self) -> None:
        self.set_following(not self.following)

    def set_following(self, following: bool) -> None:
        self.following = following
        self._left_at = None if following else self._file.size
        if following:
            self._to_end()
        self._moved()

    def action_wrap(self) -> None:
        self._page.left = 0
        self._page.fit_window()
        self._window.set_wrap(not self._window.wrap)
        if self._rests_at_end:
            self._to_end()
        self._moved()

    def action_look(self) -> None:
        """Colours, then plain text, then every byte as it is."""
        looks = list(Look)
        self._page.fit_window()
        self._window.set_look(looks[(looks.index(self.look) + 1) % len(looks)])
        self._moved()

    def action_numbers(self) -> None:
        self._page.numbers = not self._page.numbers
        self._moved()

    def action_scroll(self, rows: int) -> None:
        self._scroll(rows)

    def action_page(self, pages: int) -> None:
        self._scroll(pages * max(1, self._window.height - 1))

    def action_half(self, pages: int) -> None:
        self._scroll(pages * max(1, self._window.height // 2))

    def action_home(self) -> None:
        if self._window.top:
            self._jumps()
        self._leave()
        self._let_go()
        self._window.home()
        self._moved()

    def action_end(self) -> None:
        """Goes there and stays: what comes later does not move the view by itself."""
        self.left()
        if not self._window.at_end:
            self._jumps()
        if not self.following:
            self._left_at = self._file.size
        self._to_end()
        self._moved()

    def action_sideways(self, steps: int) -> None:
        if self._window.wrap:
            return
        self._page.left = max(0, self._page.left + steps * SIDEWAYS)
        self._page.repaint()

    def _jumps(self) -> None:
        """Somebody goes far away from here."""
        if self._placed:
            self._trail = [*self._trail[1 - _MOST_JUMPS :], self.here]

    def action_return(self) -> None:
        """To where one was before the last jump, then to where one was before that."""
        if not self._trail:
            self.notify("no jump to go back from", timeout=2, markup=False)
            return
        trail, at = self._trail[:-1], self._trail[-1]
        self.left()
        self._let_go()
        self._mark(min(at, max(0, self._file.size - 1)))
        self._trail = trail

    def go_to_line(self, number: int) -> None:
        """Show and mark a line by its number, from 1; at once, or when the index has got there."""
        self._let_go()
        self._target = number
        self._go_to_target()

    def _go_to_target(self) -> None:
        if self._target is None:
            return
        line = self._window.reader.numbered(self._target)
        if line is None:
            if self._index.complete and self._file.size:
                self._target = None
                self.action_end()
            return
        self._target = None
        self._mark(line.start)

    def _mark(self, offset: int) -> None:
        reader = self._window.reader
        if reader.gaps and (line := reader.line_of(offset)) is not None:
            offset = line.start  # a line that can be seen
        if not self._window.sees(offset):
            self._jumps()
        self._placed = True
        self._rests_at_end = False
        self._page.fit_window()
        self._page.marked = offset
        self._window.show(offset)
        self._moved()

    def _scroll(self, rows: int) -> None:
        if rows < 0:
            self._let_go()
        self._leave()
        self._window.scroll(rows)
        self._moved()

    def _leave(self) -> None:
        """A person moves the view away from where it rests."""
        self._rests_at_end = False
        self.left()
        self._page.fit_window()

    def _let_go(self) -> None:
        if self.following:
            self.following = False
            self._left_at = self._file.size

    def _moved(self) -> None:
        self._page.repaint()
        self.show_state()

    def on_log_page_pointed(self, event: LogPage.Pointed) -> None:
        event.stop()
        self._page.marked = event.start
        self._moved()

    def on_log_page_scrolled(self, event: LogPage.Scrolled) -> None:
        event.stop()
        self._scroll(event.rows)

    def on_log_scroll_bar_dragged(self, event: LogScrollBar.Dragged) -> None:
        event.stop()
        self._leave()
        self._let_go()
        self._window.go_to(int(event.fraction * self._file.size))
        self._moved()

    def on_log_scroll_bar_paged(self, event: LogScrollBar.Paged) -> None:
        event.stop()
        self.action_page(event.pages)

    def on_resize(self) -> None:
        self.call_after_refresh(self._resized)

    def _resized(self) -> None:
        if self._rests_at_end:
            self._to_end()
        self._moved()
