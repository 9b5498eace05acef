"""Commands to the engine of a run folder, over its socket."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from screens.app_protocols import RunControl

ControlFor = Callable[[Path], RunControl]


class EngineControl:
    """Of one run; the socket is opened for each command."""

    def __init__(self, run_folder: Path) -> None:
        self.run_folder = run_folder

    def send(self, command: Mapping[str, Any]) -> Mapping[str, Any]:
        from engine.runs.control import send_command

        return send_command(self.run_folder, dict(command))
