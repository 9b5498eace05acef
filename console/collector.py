"""When Python's garbage collector walks through everything: never while a key may wait for it.

A whole collection of a console that shows 100,000 trials takes a fifth of a second, and the interpreter starts one
whenever enough was allocated: while rows are sorted, say. So small collections go on as ever, and whole ones wait
until nobody has pressed a key for a while. What a run adds up to is frozen: the collector need not walk through it.
When a run is closed, all is thawed again, so that what it left is found.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

THRESHOLDS = (1_000, 4, 1_000_000)
"""Of the collector's generations: small collections often, so that each is short; whole ones not by themselves."""
IDLE_SEC = 3.0
"""Without a key for so long, a person reads."""
ENOUGH = 100
"""Collections of the middle generation (4,000 objects each that stayed) after which a whole one is worth its time."""
TOO_MANY = 20_000
"""After so many it is due, whether keys are pressed or not."""


class Collector:
    """`key` with every key and click, `tick` once a second."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._key_at = clock()
        self._thaw = False

    def begin(self) -> None:
        """What was imported so far stays."""
        gc.freeze()
        gc.set_threshold(*THRESHOLDS)

    def key(self) -> None:
        self._key_at = self._clock()

    def run_closed(self) -> None:
        """What is left of it may be among what was frozen."""
        self._thaw = True

    def tick(self) -> bool:
        """Whether it collected."""
        waiting = gc.get_count()[2]
        idle = self._clock() - self._key_at >= IDLE_SEC
        if waiting < TOO_MANY and not (idle and (self._thaw or waiting >= ENOUGH)):
            return False
        if self._thaw:
            gc.unfreeze()
            self._thaw = False
        gc.collect()
        gc.freeze()
        return True
