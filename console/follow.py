"""Showing a run that goes on: in the console, as plain lines, or as JSON lines."""

from __future__ import annotations

import os
import subprocess
import sys
from enum import StrEnum
from pathlib import Path

from console.engine_end import wait_for_end
from engine.runs.control import NotReachable, send_command


class Shown(StrEnum):
    CONSOLE = "console"
    PLAIN = "plain"
    JSON = "json"


def choose_output(*, plain: bool, as_json: bool) -> Shown:
    """The console where there is a terminal that can show it, else plain lines."""
    if as_json:
        return Shown.JSON
    if in_browser() and not plain:
        return Shown.CONSOLE
    terminal = sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM", "") not in ("", "dumb")
    return Shown.CONSOLE if terminal and not plain else Shown.PLAIN


def in_browser() -> bool:
    """Whether what the console paints goes to a browser (`trialdeck serve`): there is no terminal then."""
    return bool(os.environ.get("TEXTUAL_DRIVER"))


def follow(
    folder: Path,
    output: Shown,
    *,
    engine: subprocess.Popen[bytes] | None,
    read_only: bool = False,
    replay_speed: float | None = None,
) -> int:
    """Show the run until it ends (or the person leaves); returns the exit code. `engine` is set where this process
    started it: only then does Ctrl-C cancel the run."""
    if output is Shown.CONSOLE:
        from console.open_app import show_run

        return show_run(folder, engine=engine, read_only=read_only, replay_speed=replay_speed)
    from console.plain_output import follow_plain

    def interrupt(times: int) -> None:
        if engine is not None:
            try:
                send_command(folder, {"command": "cancel", "force": times > 1})
            except NotReachable:
                engine.terminate()

    code = follow_plain(folder, as_json=output is Shown.JSON, engine=engine, on_interrupt=interrupt)
    wait_for_end(engine)
    return code
