"""What the formats that are written line by line have in common."""

from __future__ import annotations

from typing import Protocol

from engine.trajectories.draft import Session
from engine.trajectories.untyped import Record


class LineFold(Protocol):
    """Adds the records of a file up to a session; call `take` for each, in order."""

    session: Session

    def take(self, line: int, record: Record) -> None: ...
