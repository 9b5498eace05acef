"""A process whose terminal is gone ends, also where something outlives the app."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

BOUND_SEC = 60.0
OUTLIVED = """
import os, signal, sys, threading, time
from console.terminal_gone import ends_with_its_terminal
signal.signal(signal.SIGHUP, signal.SIG_IGN)
with ends_with_its_terminal():
    os.write(1, b"shown\\n")
    while sys.stdin.isatty():
        time.sleep(0.01)
threading.Thread(target=threading.Event().wait).start()
"""


def test_a_thread_that_outlives_the_app_keeps_no_process_whose_terminal_is_gone() -> None:
    """As one of Textual's does where the app had just taken the terminal back from a pager."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", OUTLIVED],
        cwd=Path(__file__).parents[2],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    try:
        shown = b""
        while b"\n" not in shown:  # all that it writes
            shown += os.read(ours, 100)
        os.close(ours)
        assert process.wait(BOUND_SEC) == 128 + signal.SIGHUP
    finally:
        process.kill()
