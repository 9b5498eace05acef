"""Logs as a trial writes them, with what came on which stream noted beside them."""

from __future__ import annotations

from pathlib import Path

from engine.trial.log_file import LogFile

Written = tuple[str, bytes]
"""A stream and what came on it."""


def written(path: Path, *pieces: Written) -> Path:
    """Appended to the log, piece by piece."""
    with LogFile(path, path.parent) as log:
        for stream, data in pieces:
            log.write(stream, data)
    return path
