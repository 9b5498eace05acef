"""A log with its search line and its status line: followed until a person scrolls, searched in a thread."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical

from screens.log_actions import LOG
from screens.log_file import Change, GrowingFile
from screens.log_index import LineIndex
from screens.log_pattern import BadPattern, Pattern
from screens.log_search import Search
from screens.log_window import LogWindow
from screens.widgets.log_indexing import LogIndexing
from screens.widgets.log_page import LogPage, LogScrollBar
from screens.widgets.log_searching import LogSearching
from screens.widgets.log_status import LogStatus, SearchLine

LOOK_SEC = 0.25
"""How often a log that can be seen is looked at."""
SIDEWAYS = 8
_MOST_COPIED = 16 * 1024


class LogView(Vertical):
    """Opens `path` when mounted; a file that isn't there yet is waited for.

    `poll` looks at the file; a timer calls it while the log can be seen. Index and search of large files run
    in threads that end in a message.
    """

    PLACE = LOG
    BINDINGS: ClassVar[list[BindingType]] = [*LOG.bindings()]
    DEFAULT_CSS = """
    LogView { height: 1fr; }
    LogView > .log-lines {
        height: 1fr;
        scrollbar-background: $background;
        scrollbar-background-hover: $background;
        scrollbar-background-active: $background;
        scrollbar-color: $foreground 20%;
        scrollbar-color-hover: $foreground 35%;
        scrollbar-color-active: $accent;
    }
    """

    def __init__(self, path: Path, label: str, *, follow: bool = False, id: str | None = None) -> None:
        super().__init__(id=id)
        self.label = label
        self.following = follow
        self._file = GrowingFile(path)
        self._index = LineIndex(self._file)
        self._window = LogWindow(self._file, self._index)
        self._indexing = LogIndexing(self)
        self._searching = LogSearching(self)
        self._left_at: int | None = None  # size of the file when following was let go
        self._target: int | None = None  # a line number to go to once it is known
        self._placed = False
        self._rests_at_end = False  # so that another size of the window leaves it there
        self.replaced = 0

    def compose(self) -> ComposeResult:
        with Horizontal(classes="log-lines"):
            yield LogPage()
            yield LogScrollBar()
        yield SearchLine()
        yield LogStatus(self)

    def on_mount(self) -> None:
        self._page.set_window(self._window)
        self.set_interval(LOOK_SEC, self._tick)
        self.poll()

    def on_unmount(self) -> None:
        self.workers.cancel_node(self)
        self._file.close()

    # --- what others ask ---

    @property
    def path(self) -> Path:
        return self._file.path

    @property
    def size_bytes(self) -> int:
        return self._file.size

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
        marked = self._page.marked
        return marked if marked is not None and self._window.sees(marked) else self._window.top

    # --- the file ---

    def _tick(self) -> None:
        if self.is_on_screen and self.screen.is_current:
            self.poll()

    def poll(self) -> None:
        """Look at the file and show what is new."""
        change = self._file.look()
        if change is Change.REPLACED:
            self._start_over()
        self._page.empty_text = (
            "no such file yet" if change is Change.MISSING else "empty" if not self._file.size else ""
        )
        if change in (Change.GREW, Change.REPLACED):
            self._window.changed()
            self._rests_at_end = False
            if self.following or not self._placed:
                self._to_end()
                self._placed = True
            self._page.repaint()
            self._search_more()
        if not self._index.complete:
            self._index_more()
        self.show_state()

    def show_state(self) -> None:
        self._bar.show_window(self._window)
        self.query_one(LogStatus).show()

    def _start_over(self) -> None:
        self.replaced += 1
        self._index = LineIndex(self._file)
        wrap = self._window.wrap
        self._window = LogWindow(self._file, self._index)
        self._window.set_wrap(wrap)
        self._page.set_window(self._window)
        self._left_at = None
        self._target = None
        self._placed = False
        if self.search is not None:
            self._begin_search(self.search.pattern, jump=False)

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
            self._page.repaint()
            self._go_to_target()
            self.show_state()

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

    def action_numbers(self) -> None:
        self._page.numbers = not self._page.numbers
        self._moved()

    def action_scroll(self, rows: int) -> None:
        self._scroll(rows)

    def action_page(self, pages: int) -> None:
        self._scroll(pages * max(1, self._window.height - 1))

    def action_home(self) -> None:
        self._leave()
        self._let_go()
        self._window.home()
        self._moved()

    def action_end(self) -> None:
        """Goes there and stays: what comes later does not move the view by itself."""
        self._searching.stay()
        if not self.following:
            self._left_at = self._file.size
        self._to_end()
        self._moved()

    def action_sideways(self, steps: int) -> None:
        if self._window.wrap:
            return
        self._page.left = max(0, self._page.left + steps * SIDEWAYS)
        self._page.repaint()

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
        self._searching.stay()
        self._page.fit_window()

    def _let_go(self) -> None:
        if self.following:
            self.following = False
            self._left_at = self._file.size

    def _moved(self) -> None:
        self._page.repaint()
        self.show_state()

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

    # --- searching ---

    @property
    def search(self) -> Search | None:
        return self._searching.search

    @property
    def searching(self) -> bool:
        return self._searching.running

    @property
    def search_stopped(self) -> bool:
        return self._searching.stopped

    def action_search(self) -> None:
        """Asks for a pattern; the last one can be edited."""
        self.query_one(SearchLine).open(self.search.pattern.text if self.search else "")

    def action_hit(self, step: int) -> None:
        """The next hit, or the previous one, round the file's end."""
        if self.search is None:
            self.action_search()
            return
        self._searching.stay()
        at = self.search.next_after(self.here) if step > 0 else self.search.last_before(self.here)
        if at is not None:
            self._let_go()
            self._mark(at)

    def stop_search(self) -> bool:
        """Cancels a search that runs, or else forgets the hits. False where there was neither."""
        if self.searching:
            self._searching.cancel()
        elif self.search is not None:
            self._searching.forget()
            self._page.pattern = None
            self._page.marked = None
        else:
            return False
        self._moved()
        return True

    def search_for(self, text: str) -> str:
        """Begins a search; returns what is wrong with the pattern, if anything."""
        try:
            pattern = Pattern(text)
        except BadPattern as error:
            return str(error)
        if pattern.empty:
            self._searching.forget()
            self._page.pattern = None
        else:
            self._begin_search(pattern, jump=True)
        self._moved()
        return ""

    def _begin_search(self, pattern: Pattern, *, jump: bool) -> None:
        self._page.pattern = pattern.in_text
        self._searching.begin(self._file, pattern, self.here - 1, jump=jump)
        self._search_more()

    def _search_more(self) -> None:
        self._searching.go_on(self._file)
        at = self._searching.take_jump()
        if at is not None:
            self._let_go()
            self._mark(at)

    def on_log_searching_searched(self, event: LogSearching.Searched) -> None:
        event.stop()
        if self._searching.came(event):
            self._search_more()
            self._moved()

    def on_search_line_asked(self, event: SearchLine.Asked) -> None:
        event.stop()
        self.search_for(event.text)
        self._page.focus()

    def on_search_line_left(self, event: SearchLine.Left) -> None:
        event.stop()
        self._page.focus()

    # --- the rest ---

    def action_copy_line(self) -> None:
        line = self._window.reader.line_at(self.here)
        if line is not None:
            self.app.copy_to_clipboard(self._window.text(line)[:_MOST_COPIED])
            self.notify("line copied", timeout=2)

    @property
    def _page(self) -> LogPage:
        return self.query_one(LogPage)

    @property
    def _bar(self) -> LogScrollBar:
        return self.query_one(LogScrollBar)
