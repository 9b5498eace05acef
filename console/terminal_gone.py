"""A console whose terminal is gone ends, whatever its event loop waits for.

A closed terminal sends SIGHUP, and the app leaves in order. Where output was still waiting to be written, Textual's
writing thread dies of it, and everything that writes after it, the way out included, waits for ever. Where the app had
just taken the terminal back from a pager or a shell, a thread of Textual's may outlive it and read from what is gone.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

LOOK_SEC = 2.0
LEAVE_SEC = 5.0
"""How long leaving in order may take once the terminal is gone."""


@contextmanager
def ends_with_its_terminal(descriptor: int = 1) -> Iterator[None]:
    """While the block runs, a process whose terminal goes away is gone a few seconds later, with exit code 129; where
    it is gone when the block ends, after that too."""
    over = threading.Event()

    def watch() -> None:
        while not over.wait(LOOK_SEC):
            if not os.isatty(descriptor) and not over.wait(LEAVE_SEC):
                os._exit(128 + signal.SIGHUP)

    if not os.isatty(descriptor):
        yield
        return
    threading.Thread(target=watch, name="terminal", daemon=True).start()
    try:
        yield
    finally:
        if os.isatty(descriptor):
            over.set()
