"""Arranging the rows of a large run between two keys, a slice at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from textual.screen import Screen

from screens.trial_rows import TrialRows

SLICE_SEC = 0.005
PAUSE_SEC = 0.004
"""Between two slices, in which keys are answered and lines painted."""
FIRST_SEC = 0.02
"""Before the first one: what the key itself shows is painted first."""


class Arranging:
    """`there` is called when new rows are there. Tell it with `go_on` after anything that may have left the rows
    behind."""

    def __init__(self, screen: Screen[Any], rows: TrialRows, there: Callable[[], None]) -> None:
        self._screen = screen
        self._rows = rows
        self._there = there
        self._waits = False

    def go_on(self, pause_sec: float = FIRST_SEC) -> None:
        if self._rows.behind and not self._waits:
            self._waits = True
            self._screen.set_timer(pause_sec, self._step)

    def _step(self) -> None:
        self._waits = False
        if self._rows.step(SLICE_SEC):
            self._there()
        self.go_on(PAUSE_SEC)
