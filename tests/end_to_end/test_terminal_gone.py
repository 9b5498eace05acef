"""A console whose terminal goes away while it still has something to say ends by itself."""

from __future__ import annotations

import fcntl
import os
import pty
import signal
import struct
import subprocess
import termios
from pathlib import Path

import pytest

from tests.end_to_end.deck import TRIALDECK, until

DEMO = Path(__file__).parents[2] / "sample_runs" / "recorded" / "demo"
BOUND_SEC = 60.0
FULL = 4000
"""Bytes that wait where a pseudo-terminal takes no more."""


def size(descriptor: int, rows: int, columns: int) -> None:
    fcntl.ioctl(descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


def waiting_to_be_read(descriptor: int) -> int:
    """Bytes."""
    answer = fcntl.ioctl(descriptor, termios.FIONREAD, struct.pack("i", 0))
    return int(struct.unpack("i", answer)[0])


@pytest.mark.parametrize(
    ("command", "read"),
    [("watch", True), ("watch", False), ("triage", True)],
    ids=["all of it read", "much of it waiting", "triage"],
)
def test_no_console_is_left_behind_by_a_lost_connection(command: str, read: bool, tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    size(theirs, 50, 200)
    console = subprocess.Popen(
        [TRIALDECK, command, str(DEMO)],
        cwd=tmp_path,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm-256color"},
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
    )
    os.close(theirs)
    shown = b""
    while b"csv-report" not in shown and b"case" not in shown:
        shown += os.read(ours, 1 << 16)
    if not read:
        for number in range(100):  # more to say than a terminal that nobody reads takes
            os.write(ours, b"G" if number % 2 else b"g")
            size(ours, 50, 199 - number)
        until(lambda: waiting_to_be_read(ours) >= FULL, "output that waits for a reader")
    os.close(ours)
    try:
        assert console.wait(BOUND_SEC) == 128 + signal.SIGHUP
    finally:
        console.kill()
