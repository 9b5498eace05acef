"""What takes a while and is asked for often: done at once where that rested, else a moment later, once for all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Any

from textual.screen import Screen

PAUSES = 8
"""Times as long as it took does it rest."""


class Soon:
    """`do` says itself, with `timed`, what of it takes the time."""

    def __init__(self, screen: Screen[Any], do: Callable[[], None], least_sec: float) -> None:
        self.due = False
        self._screen = screen
        self._do = do
        self._least_sec = least_sec
        self._at = 0.0
        self._took = 0.0

    def ask(self) -> None:
        wait = max(self._least_sec, PAUSES * self._took) - (perf_counter() - self._at)
        if wait <= 0:
            self._do()
        elif not self.due:
            self.due = True
            self._screen.set_timer(wait, self._late)

    def _late(self) -> None:
        self.due = False
        self._do()

    @contextmanager
    def timed(self) -> Iterator[None]:
        began = perf_counter()
        yield
        self._at = perf_counter()
        self._took = self._at - began
