"""The end of an engine's process: waited for, and what it said last."""

from __future__ import annotations

import os
import subprocess
from contextlib import suppress
from pathlib import Path

from engine.text import clean_line

DEAD = 1
"""Exit code where an engine that was started here is gone and has not finished its run."""
END_SEC = 30.0
_LOG_TAIL = 8192


def wait_for_end(engine: subprocess.Popen[bytes] | None) -> None:
    """After its last event an engine still removes images; who then asks Docker or sweeps should find it done."""
    if engine is not None:
        with suppress(subprocess.TimeoutExpired):
            engine.wait(END_SEC)


def last_words(log: Path) -> str:
    """The last line of an engine's log as safe text; of a traceback that is the error itself."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - _LOG_TAIL))
            lines = file.read().decode("utf-8", "replace").splitlines()
    except OSError:
        return ""
    words = (line.strip(" |") for line in reversed(lines))  # a traceback of several errors is drawn with lines
    return clean_line(next((line for line in words if line.strip("+- ")), ""), 500)
