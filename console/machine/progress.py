"""Lines that say which step runs and how long it took."""

from __future__ import annotations

import os
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
            self._write(f"\n{text}\n" if self._open else f"{text}\n")
            self._open = False

    @contextmanager
    def step(self, what: str) -> Iterator[None]:
        """Show `what` while the body runs; how it ended completes the line."""
        began = self._clock()
        with self._lock:
            self._write(self._fitting(f"  {what} … "))
            self._open = True
        stop = threading.Event()
        ticker = threading.Thread(target=self._tick, args=(what, began, stop), daemon=True)
        if self._live:
            ticker.start()
        word = ""
        try:
            yield
        except BaseException as ended:
            word = "interrupted after " if isinstance(ended, KeyboardInterrupt) else "failed after "
            raise
        finally:
            stop.set()
            if self._live:
                ticker.join()
            self._finish(what, f"{word}{self._clock() - began:.1f} s")

    def _tick(self, what: str, began: float, stop: threading.Event) -> None:
        while not stop.wait(1.0):
            with self._lock:
                if self._open:
                    self._write("\r" + self._fitting(f"  {what} … ", f"{self._clock() - began:.0f} s "))

    def _finish(self, what: str, end: str) -> None:
        with self._lock:
            if not self._open:
                self._write(f"  {what} … {end}\n")
            elif self._live:
                self._write(f"\r  {what} … {end}\n")
            else:
                self._write(f"{end}\n")
            self._open = False

    def _fitting(self, start: str, end: str = "") -> str:
        """A line of a terminal that isn't final may not wrap: it couldn't be written over."""
        if not self._live:
            return start + end
        try:
            columns = os.get_terminal_size(self._out.fileno()).columns
        except OSError:
            columns = 80
        room = max(columns - 1 - len(end), 1)
        return (start if len(start) <= room else start[: room - 2] + "… ") + end

    def _write(self, text: str) -> None:
        self._out.write(text)
        self._out.flush()
