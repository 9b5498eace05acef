"""Lines that say which step runs and how long it took."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO


class Progress:
    """One line a step, on stderr: the step, then its seconds when it ends.

    On a terminal the seconds of a running step count up; elsewhere the line is simply completed, with no
    control codes, so that a log reads well.
    """

    def __init__(self, out: TextIO | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._out = out or sys.stderr
        self._clock = clock
        self._live = self._out.isatty()
        self._lock = threading.Lock()
        self._open = False

    def say(self, text: str = "") -> None:
        """Print a line of its own, also in the middle of a step."""
        with self._lock:
            if self._open:
                self._out.write("\n")
                self._open = False
            self._out.write(f"{text}\n")
            self._out.flush()

    @contextmanager
    def step(self, what: str) -> Iterator[None]:
        """Show `what` while the body runs; a body that raises ends the line with "failed"."""
        began = self._clock()
        self._write(f"  {what} … ")
        stop = threading.Event()
        ticker = threading.Thread(target=self._tick, args=(what, began, stop), daemon=True)
        if self._live:
            ticker.start()
        word = "failed after "
        try:
            yield
            word = ""
        finally:
            stop.set()
            if self._live:
                ticker.join()
            self._finish(what, f"{word}{self._clock() - began:.1f} s")

    def _write(self, text: str) -> None:
        with self._lock:
            self._out.write(text)
            self._out.flush()
            self._open = True

    def _tick(self, what: str, began: float, stop: threading.Event) -> None:
        while not stop.wait(1.0):
            with self._lock:
                if self._open:
                    self._out.write(f"\r  {what} … {self._clock() - began:.0f} s ")
                    self._out.flush()

    def _finish(self, what: str, end: str) -> None:
        with self._lock:
            if not self._open:
                self._out.write(f"  {what} … {end}\n")
            elif self._live:
                self._out.write(f"\r  {what} … {end}  \n")
            else:
                self._out.write(f"{end}\n")
            self._open = False
            self._out.flush()
