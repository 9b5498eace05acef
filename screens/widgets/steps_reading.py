"""A session read in a thread, one look at a time; each look ends in a message."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from textual.message import Message
from textual.widget import Widget
from textual.worker import get_current_worker

from engine.trajectories.follow import TrajectoryFollower
from engine.trajectories.steps import Trajectory


class StepsReading:
    """`view` gets the messages; it says with `came` that it has one, and asks again when it wants more."""

    @dataclass
    class Read(Message):
        """`trajectory` is None where nothing is new, or there is no session (yet)."""

        path: Path
        trajectory: Trajectory | None

    def __init__(self, view: Widget, path: Path) -> None:
        self._view = view
        self._follower = TrajectoryFollower(path)
        self._busy = False
        self.finished = False

    def open(self, path: Path) -> None:
        """Another file; what is being read of the one before is forgotten."""
        self._follower = TrajectoryFollower(path)
        self.finished = False

    def look(self, live: bool) -> None:
        if not self._busy and not self.finished:
            self._busy = True
            looking = partial(self._read, self._follower, live)
            self._view.run_worker(looking, thread=True, group="steps reading", exit_on_error=False)

    def came(self, event: Read, live: bool) -> bool:
        """Whether it is of the open file."""
        self._busy = False
        if event.path != self._follower.path:
            self.look(live)
            return False
        return True

    def _read(self, follower: TrajectoryFollower, live: bool) -> None:
        worker = get_current_worker()
        found = follower.poll()
        while follower.behind and not worker.is_cancelled:
            found = follower.poll() or found
        if not live and not worker.is_cancelled:
            found = follower.finish() or found
            follower.close()
            self.finished = follower is self._follower
        if not worker.is_cancelled:
            self._view.post_message(self.Read(follower.path, found))
