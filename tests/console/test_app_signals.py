"""The app on a real pseudo-terminal: every signal gives the terminal back, and an idle console is silent."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.screens import fake_run

START_SEC = 60.0
END_SEC = 60.0
SILENT_SEC = 4.5
_APP = """
import sys
from pathlib import Path
from console.app import TrialDeckApp
app = TrialDeckApp(Path(sys.argv[1]))
app.run()
sys.exit(app.return_code)
"""


class Terminal:
    """A process in a pseudo-terminal of 40 lines by 120."""

    def __init__(self, folder: Path) -> None:
        self.master, self.slave = pty.openpty()
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        self.before = termios.tcgetattr(self.slave)
        self.output = b""
        self.process = subprocess.Popen(
            [sys.executable, "-c", _APP, str(folder)],
            stdin=self.slave,
            stdout=self.slave,
            stderr=self.slave,
            env={**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor"},
            start_new_session=True,
        )

    def read(self, seconds: float) -> bytes:
        """What comes within the time, at most one piece."""
        if not select.select([self.master], [], [], seconds)[0]:
            return b""
        piece = os.read(self.master, 1 << 16)
        self.output += piece
        return piece

    def until(self, text: str) -> None:
        deadline = time.monotonic() + START_SEC
        while text.encode() not in self.output:
            assert time.monotonic() < deadline, self.output[-2000:]
            self.read(0.1)

    def until_silent(self, seconds: float) -> None:
        """Until nothing has come for so long: what was painted late, on a slow machine, is no sign of life."""
        deadline = time.monotonic() + START_SEC
        while self.read(seconds):
            assert time.monotonic() < deadline, "never silent"

    def until_gone(self) -> int:
        deadline = time.monotonic() + END_SEC
        while self.process.poll() is None:
            assert time.monotonic() < deadline, "still there"
            self.read(0.05)
        while self.read(0.1):
            pass
        return self.process.returncode

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.slave)


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    folder = fake_run.write(tmp_path / "run", fake_run.finish(fake_run.story()))
    terminal = Terminal(folder)
    terminal.until("kv-live-surgery")
    yield terminal
    terminal.close()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_a_signal_gives_the_terminal_back(terminal: Terminal, number: signal.Signals) -> None:
    terminal.process.send_signal(number)
    assert terminal.until_gone() == 128 + number
    end = terminal.output[-400:]
    assert b"\x1b[?1049l" in end, "the alternate screen is left"
    assert b"\x1b[?25h" in end, "the cursor is back"
    assert b"\x1b[?1003l" in end, "the mouse is let go"
    assert termios.tcgetattr(terminal.slave)[3] == terminal.before[3], "echo and line mode are back"


def test_q_leaves_with_no_trace(terminal: Terminal) -> None:
    os.write(terminal.master, b"q")
    assert terminal.until_gone() == 0
    assert b"\x1b[?1049l" in terminal.output[-400:]


def test_hangup_ends_it_although_nobody_reads_any_more(terminal: Terminal) -> None:
    os.close(terminal.master)
    terminal.process.send_signal(signal.SIGHUP)
    assert terminal.process.wait(END_SEC) == 128 + signal.SIGHUP


def test_an_idle_console_writes_nothing(terminal: Terminal) -> None:
    terminal.until_silent(SILENT_SEC)
    assert terminal.process.poll() is None
