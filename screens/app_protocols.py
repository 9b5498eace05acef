"""What screens need from the app around them, and what the app calls on screens."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from screens.source import RunSource


class RunControl(Protocol):
    """Commands to the engine of one run. `send` may take a while and may raise OSError: call it in a thread."""

    def send(self, command: Mapping[str, Any]) -> Mapping[str, Any]: ...


@runtime_checkable
class FollowsRun(Protocol):
    """A screen that shows one run. `dirty` are the trials that changed, "" stands for the run itself."""

    source: RunSource

    def run_changed(self, dirty: set[str]) -> None: ...

    def clock_ticked(self, now: datetime) -> None:
        """Once a second while the run lives."""


@runtime_checkable
class FollowsRuns(Protocol):
    """A screen that shows several runs, such as a comparison. A run stays open while it is among `sources`."""

    @property
    def sources(self) -> Sequence[RunSource]: ...

    def source_changed(self, source: RunSource, dirty: set[str]) -> None: ...

    def clock_ticked(self, now: datetime) -> None:
        """Once a second while one of the runs lives."""


class KeptWithRun(Protocol):
    """What the app keeps beside an open run, such as its triage desk. `close` is called when the run is closed, in the
    UI thread: it may not wait."""

    def close(self) -> None: ...


@runtime_checkable
class KeepsRunsOpen(Protocol):
    """The app, to a screen that needs more than the run it was given."""

    @property
    def open_runs(self) -> Sequence[RunSource]: ...

    def open_source(self, folder: Path) -> RunSource:
        """The run of a folder, opened if it wasn't. It is closed when no screen shows it. Raises OSError or ValueError
        with words for a person."""

    def desk_of(self, source: RunSource, make: Callable[[RunSource], KeptWithRun]) -> KeptWithRun:
        """The one desk of an open run; `make` makes it the first time."""
