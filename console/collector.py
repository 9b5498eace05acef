"""When Python's garbage collector walks through everything: never while a key may wait for it.

A whole collection of a console that shows 100,000 trials takes a fifth of a second, and the interpreter starts one
whenever enough was allocated: while rows are sorted, say. So small collections go on as ever, and what outlived them is
frozen between two keys, which costs nothing: the collector need not walk through it any more. Only where something was
left behind, a run or a screen, all is thawed and looked through, once nobody has pressed a key for a good while.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

THRESHOLDS = (1_000, 4, 1_000_000)
"""Of the collector's generations: small collections often, so that each is short; whole ones not by themselves."""
SETTLE_SEC = 3.0
"""Without a key for so long, what is there is frozen."""
IDLE_SEC = 10.0
"""Without a key for so long, a person reads: a whole collection may take its time."""
ENOUGH = 100
"""Collections of the middle generation (4,000 objects each that stayed) after which freezing is worth it."""
TOO_MANY = 20_000
"""After so many a whole one is due, whether keys are pressed or not."""


class Collector:
    """`key` with every key and click, `tick` once a second."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._key_at = clock()
        self._left = False

    def begin(self) -> None:
        """What was imported so far stays."""
        gc.freeze()
        gc.set_threshold(*THRESHOLDS)

    def key(self) -> None:
        self._key_at = self._clock()

    def left(self) -> None:
        """A run or a screen was left: what was frozen with it may be garbage now."""
        self._left = True

    def tick(self) -> str:
        """What it did: `all` was looked through, `settled`, or nothing."""
        waiting, idle = gc.get_count()[2], self._clock() - self._key_at
        if waiting >= TOO_MANY or (self._left and idle >= IDLE_SEC):
            self._left = False
            gc.unfreeze()
            gc.collect()
            gc.freeze()
            return "all"
        if waiting >= ENOUGH and idle >= SETTLE_SEC:
            gc.collect(1)
            gc.freeze()
            gc.collect()  # of what is not frozen: next to nothing; it begins to count anew
            return "settled"
        return ""
