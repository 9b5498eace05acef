"""Copying inside tmux, which by default takes no clipboard sequence from a program: it is handed the text itself, and
passes it on to the terminal around it."""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
from collections.abc import Mapping

from textual.app import App

ANSWER_SEC = 5.0
_COMMANDS = (("load-buffer", "-w", "-"), ("load-buffer", "-"))
"""Older ones than 3.2 know no `-w`: there the text is in tmux alone."""


class TmuxClipboard(App[None]):
    """The sequence is written as well: tmux may let it through, and the terminal need not be tmux's."""

    def copy_to_clipboard(self, text: str) -> None:
        super().copy_to_clipboard(text)
        if text and not self.is_web and not self.is_headless and inside_tmux():
            threading.Thread(target=hand_to_tmux, args=(text,), name="copy in tmux", daemon=True).start()


def inside_tmux(env: Mapping[str, str] = os.environ) -> bool:
    return bool(env.get("TMUX")) and shutil.which("tmux") is not None


def hand_to_tmux(text: str) -> bool:
    """Whether tmux has it now. Takes its time where the server is busy."""
    for words in _COMMANDS:
        try:
            done = subprocess.run(
                ["tmux", *words],
                input=text.encode("utf-8", "replace"),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=ANSWER_SEC,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            return False
        if done.returncode == 0:
            return True
    return False
