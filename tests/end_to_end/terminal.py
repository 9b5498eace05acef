"""A real terminal: tmux, driven with keys and read as a person reads it."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.end_to_end.deck import TRIALDECK

SEEN_SEC = 60.0
SEEN_BY_A_PERSON_SEC = 0.3
"""Nobody's next key comes sooner after what is seen; keys that do are what the tests of fast keys are for."""
PREFIX = "exit-code:"
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|.)")
NOT_OURS = frozenset({"TMUX", "NO_COLOR", "COLUMNS", "LINES"})
"""What the environment says of the terminal that the tests were started in."""
SHIFT, CTRL, DRAG = 4, 16, 32
"""What goes with a button of the mouse: a key, or that it moved while it was down."""


class Terminal:
    """One tmux session on a server of its own."""

    def __init__(self, name: str, written: Path) -> None:
        self.name = name
        self.written = written
        """Holds all that the program in it has written."""

    def tmux(self, *words: str) -> str:
        answer = subprocess.run(["tmux", "-L", self.name, *words], capture_output=True, text=True, check=False)
        return answer.stdout

    def press(self, *keys: str) -> None:
        self.tmux("send-keys", "-t", "deck", *keys)

    def type(self, text: str) -> None:
        self.tmux("send-keys", "-t", "deck", "-l", text)

    def mouse(self, column: int, row: int, with_: int = 0, *, up: bool = False) -> None:
        """The left button at a cell, both counted from 1, as terminals write it (SGR)."""
        self.type(f"\x1b[<{with_};{column};{row}{'m' if up else 'M'}")

    def click(self, column: int, row: int, with_: int = 0, times: int = 1) -> None:
        """All of it in one piece: a second click that comes late is no double click."""
        self.type(f"\x1b[<{with_};{column};{row}M\x1b[<{with_};{column};{row}m" * times)

    def back(self, *texts: str, gone: str = "") -> None:
        """Escape, then wait until all of `texts` are there and `gone` is not: a key that comes before the console has
        taken the Escape for itself is read as one with Alt. Nothing on the screen may look so before it."""
        before = self.screen()
        assert not all(text in before for text in texts) or (gone and gone in before), f"tells nothing:\n{before}"
        self.press("Escape")
        self.sees(*texts, gone=gone)
        time.sleep(SEEN_BY_A_PERSON_SEC)

    def screen(self) -> str:
        return self.tmux("capture-pane", "-p", "-t", "deck")

    def escapes(self) -> str:
        """The screen with its colours."""
        return self.tmux("capture-pane", "-p", "-e", "-t", "deck")

    def resize(self, columns: int, rows: int) -> None:
        self.tmux("resize-window", "-t", "deck", "-x", str(columns), "-y", str(rows))

    def alternate(self) -> bool:
        """Does a program hold the full screen?"""
        return self.tmux("display-message", "-p", "-t", "deck", "#{alternate_on}").strip() == "1"

    def sees(self, *texts: str, gone: str = "", seconds: float = SEEN_SEC) -> str:
        """Wait until all of `texts` are on the screen, and `gone` is not; returns it."""
        deadline = time.monotonic() + seconds
        while True:
            screen = self.screen()
            if all(text in screen for text in texts) and not (gone and gone in screen):
                return screen
            without = f" without {gone!r}" if gone else ""
            assert time.monotonic() < deadline, f"{texts} not on the screen{without} in {seconds:.0f} s:\n{screen}"
            time.sleep(0.05)

    def was_shown(self, text: str, seconds: float = SEEN_SEC) -> None:
        """Wait until `text` has been written, however short it stays: what is said in passing goes by itself."""
        deadline = time.monotonic() + seconds
        while text not in _ESCAPES.sub("", self.written.read_text(errors="replace")):
            assert time.monotonic() < deadline, f"{text!r} never shown in {seconds:.0f} s:\n{self.screen()}"
            time.sleep(0.05)

    def ends_with(self, code: int) -> None:
        """The command ended with this exit code, and the terminal is an ordinary one again."""
        self.sees(f"{PREFIX}{code}:")
        assert not self.alternate()


@contextmanager
def terminal(
    *arguments: str, cwd: Path, columns: int = 120, rows: int = 40, env: Sequence[str] = ()
) -> Iterator[Terminal]:
    """`trialdeck` with these arguments in a terminal of this size; `env` holds NAME=value."""
    name = f"trialdeck-test-{uuid.uuid4().hex[:8]}"
    found = Terminal(name, cwd / f"{name}.written")
    found.written.touch()
    command = shlex.join(["env", *env, TRIALDECK, *arguments])
    shell = f"{command}; echo '{PREFIX}'$?:; exec sh -c 'sleep 600'"
    size = ["-x", str(columns), "-y", str(rows)]
    settings = {name: value for name, value in os.environ.items() if name not in NOT_OURS}
    subprocess.run(
        ["tmux", "-L", found.name, "-f", "/dev/null", "new-session", "-d", "-s", "deck", *size, shell],
        cwd=cwd,
        env={**settings, "TERM": "xterm-256color", "LANG": "C.UTF-8"},
        check=True,
    )
    try:
        found.tmux("pipe-pane", "-O", "-t", "deck", f"exec cat >> {shlex.quote(str(found.written))}")
        yield found
    finally:
        found.tmux("kill-server")
