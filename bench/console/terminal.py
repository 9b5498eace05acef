"""A program on a real pseudo-terminal, seen from the other side: what it writes, when, and where its cursor row is."""

from __future__ import annotations

import fcntl
import os
import re
import select
import signal
import struct
import subprocess
import termios
import time

from bench.with_parent import end_with_parent

SIZE = (160, 45)
CHUNK = 1 << 16
END_SEC = 10.0

_CONTROL = re.compile(
    r"\x1b(?:\[[0-9:;<=>?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[P^_][^\x1b]*\x1b\\|[ -/]*[0-~])"
)
_MOVE = re.compile(r"\x1b\[[0-9;]*[Hf]")
_CURSOR_ROW = re.compile(r"›\s+(?P<row>task-\d+\s+[A-Z]\s+\d+)")


class CursorRow:
    """Which trial the console's cursor is on, read off the bytes it paints."""

    def __init__(self) -> None:
        self.row = ""
        self._rest = ""

    def feed(self, data: str) -> bool:
        """True if the cursor went to another trial. A row is only looked at once its trial is there in full."""
        spans = _MOVE.split(self._rest + data)
        self._rest = spans[-1][-4096:]  # it may go on with the next bytes
        moved = False
        for span in spans:
            match = _CURSOR_ROW.search(_CONTROL.sub("", span))
            if match is not None:
                row = " ".join(match["row"].split())
                moved |= row != self.row
                self.row = row
        return moved


class Terminal:
    """`bytes_read` counts all that came, `last` holds the end of it. Reading never blocks longer than asked."""

    def __init__(self, argv: list[str], environment: dict[str, str]) -> None:
        self.bytes_read = 0
        self.last = b""
        self._master, slave = os.openpty()
        columns, rows = SIZE
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.process = subprocess.Popen(
            argv,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env=environment | {"TERM": "xterm-256color", "COLORTERM": "truecolor"},
            start_new_session=True,
            preexec_fn=end_with_parent,
        )
        os.close(slave)

    def read(self, wait_sec: float) -> bytes:
        """What is there now or comes within `wait_sec`; empty if nothing does, or the program has closed its side."""
        ready, _, _ = select.select([self._master], [], [], max(0.0, wait_sec))
        if not ready:
            return b""
        try:
            data = os.read(self._master, CHUNK)
        except OSError:  # EIO: the other side is gone
            return b""
        self.bytes_read += len(data)
        self.last = (self.last + data)[-CHUNK:]
        return data

    def press(self, key: bytes) -> None:
        os.write(self._master, key)

    def close(self) -> None:
        """End the program as a terminal's user would see it end; read on meanwhile, so that it never blocks."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        until = time.monotonic() + END_SEC
        while self.process.poll() is None and time.monotonic() < until:
            self.read(0.05)
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self._master)
