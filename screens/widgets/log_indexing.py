"""The index of one log: small growth on the spot, large files in a thread that ends in a message."""

from __future__ import annotations

from dataclasses import dataclass

from textual.message import Message
from textual.widget import Widget
from textual.worker import get_current_worker

from screens.log_index import LineIndex
from screens.widgets.log_searching import INLINE_BYTES


class LogIndexing:
    """Belongs to a widget, which gets `Indexed` when a thread has ended."""

    @dataclass
    class Indexed(Message):
        index: LineIndex

    def __init__(self, owner: Widget) -> None:
        self._owner = owner
        self._running: LineIndex | None = None

    @property
    def running(self) -> bool:
        return self._running is not None

    def go_on(self, index: LineIndex, size: int) -> bool:
        """Index what is not indexed yet; True where that is done at once."""
        if self._running is index:
            return False
        if size - index.scanned <= INLINE_BYTES:
            index.extend()
            return True
        self._running = index

        def work() -> None:
            worker = get_current_worker()
            index.extend(lambda: worker.is_cancelled)
            self._owner.post_message(self.Indexed(index))

        self._owner.run_worker(work, thread=True, exclusive=True, group=f"index {id(self)}")
        return False

    def came(self, event: Indexed, index: LineIndex) -> bool:
        """Takes a message; False for one of an index that is none any more."""
        if event.index is self._running:
            self._running = None
        return event.index is index
