"""What a list of runs says about one run."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from engine.readers.reader import Liveness

Stamp = tuple[int, ...]
"""Says whether anything that a summary is made of may have changed."""


@dataclass(frozen=True)
class ArmSummary:
    name: str
    passed: int
    finished: int
    assigned: int


@dataclass(frozen=True)
class RunSummary:
    """`seconds`: how long it took, or has taken to its last sign of life. `issues` None: they are not counted yet, this
    is a first glance. `stamp` () : never to be kept."""

    folder: Path
    kind: str
    name: str
    task_set: str
    arms: tuple[ArmSummary, ...]
    liveness: Liveness
    done: int
    planned: int
    issues: int | None
    started_at: datetime | None
    last_event_at: datetime | None
    seconds: float | None
    exit_code: int | None
    stamp: Stamp

    @property
    def key(self) -> str:
        """Unique among all runs of a list: two folders may bear one name."""
        return str(self.folder)
