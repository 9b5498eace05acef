"""The search in one log: begun, gone on with as the file grows, cancelled; large files in a thread."""

from __future__ import annotations

from dataclasses import dataclass
from time import monotonic

from textual.message import Message
from textual.widget import Widget
from textual.worker import get_current_worker

from screens.log_index import Bytes
from screens.log_pattern import Matches
from screens.log_search import Search
from screens.log_streams import Keeps

INLINE_BYTES = 1 << 20
"""Growth up to this is searched on the spot; more goes to a thread."""
AHEAD_BYTES = 32 * 1024 * 1024
"""So far ahead of where one is the first hit is looked for before hits are counted from the file's beginning."""
PROGRESS_SEC = 0.25
"""How often a search that goes on is told of."""


class LogSearching:
    """Belongs to a widget, which gets `Searched` when a thread has found a first hit ahead, has come further, or has
    ended."""

    @dataclass
    class Searched(Message):
        search: Search
        over: bool
        ahead: int | None = None

    def __init__(self, owner: Widget) -> None:
        self._owner = owner
        self._from = -1
        self._jump = False
        self._ahead: int | None = None  # the first hit behind the start, where it was found before hits were counted
        self.search: Search | None = None
        self.running = False
        self.stopped = False  # by a person: it does not go on by itself

    @property
    def _group(self) -> str:
        return f"search {id(self)}"

    def begin(self, file: Bytes, pattern: Matches, start: int, *, jump: bool, keeps: Keeps | None = None) -> None:
        """`start`: the first hit behind it is where the view will go, if it is to go anywhere. `keeps`: which of the
        lines that match are hits."""
        self.cancel()
        self.search = Search(file, pattern, keeps)
        self._from, self._jump, self._ahead = start, jump, None
        self.stopped = False

    def cancel(self) -> None:
        """A search that runs ends at its next chunk; what it found stays."""
        if self.running:
            self._owner.workers.cancel_group(self._owner, self._group)
            self.running = False
            self.stopped = True

    def stay(self) -> None:
        """A person has moved the view meanwhile: a hit found later does not move it again."""
        self._jump = False

    def forget(self) -> None:
        self.cancel()
        self.search = None

    def go_on(self, file: Bytes) -> None:
        """Search what has not been searched: to the end of the file as it is known now."""
        search = self.search
        if search is None or self.running or self.stopped or search.too_slow or search.complete:
            return
        if file.size - search.searched <= INLINE_BYTES:
            search.extend()
            return
        self.running = True
        start, jump = self._from, self._jump

        def work() -> None:
            worker = get_current_worker()
            told = not jump
            said_at = monotonic()
            if jump and start >= search.searched:
                found = search.look_ahead(start + 1, AHEAD_BYTES, lambda: worker.is_cancelled)
                if found is not None:
                    told = True
                    self._owner.post_message(self.Searched(search, over=False, ahead=found))

            def stop() -> bool:
                nonlocal told, said_at
                if monotonic() - said_at > PROGRESS_SEC:
                    said_at = monotonic()
                    self._owner.post_message(self.Searched(search, over=False))
                if not told and search.at_or_after(start + 1) is not None:
                    told = True
                    self._owner.post_message(self.Searched(search, over=False))
                return worker.is_cancelled

            search.extend(stop)
            self._owner.post_message(self.Searched(search, over=True))

        self._owner.run_worker(work, thread=True, exclusive=True, group=self._group)

    def came(self, event: Searched) -> bool:
        """Takes a message; False for one of a search that is none any more."""
        if event.search is not self.search:
            return False
        if event.over:
            self.running = False
        if event.ahead is not None:
            self._ahead = event.ahead
        return True

    def take_jump(self) -> int | None:
        """Where the view is to go after a new search, once that hit is known; only once. Round the end of the file only
        where all of it was searched."""
        search = self.search
        if not self._jump or search is None:
            return None
        at = self._ahead
        if at is None:
            at = search.next_after(self._from) if search.complete else search.at_or_after(self._from + 1)
        if at is not None:
            self._jump = False
        return at
