"""What screens need from the app around them, and what the app calls on screens."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Protocol, runtime_checkable


class RunControl(Protocol):
    """Commands to the engine of one run. `send` may take a while and may raise OSError: call it in a thread."""

    def send(self, command: Mapping[str, Any]) -> Mapping[str, Any]: ...


@runtime_checkable
class FollowsRun(Protocol):
    """A screen that shows a run. `dirty` are the trials that changed, "" stands for the run itself."""

    def run_changed(self, dirty: set[str]) -> None: ...

    def clock_ticked(self, now: datetime) -> None:
        """Once a second while the run lives."""
