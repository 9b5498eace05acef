"""Tells a run that what it had left up went: its engine, where one runs, else its events."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from engine.events import EnvironmentGone
from engine.readers.run_folder import TRIALDECK
from engine.runs.control import NotReachable, send_command
from engine.runs.event_log import LogTaken, append_afterwards


def tell_gone(folder: Path, run: str, gone: Sequence[EnvironmentGone]) -> str:
    """Why it could not be told, "" when it is. In a folder that is gone, or of another run, nobody is to be told."""
    try:
        if not TRIALDECK.is_run(folder) or TRIALDECK.identity(folder) != run:
            return ""
        try:
            append_afterwards(folder, gone)
        except LogTaken:
            for event in gone:
                what = {"trial": event.trial, "container": event.container, "reason": event.reason}
                send_command(folder, {"command": "gone", **what})
    except (NotReachable, OSError, ValueError) as error:
        return str(error)
    return ""
