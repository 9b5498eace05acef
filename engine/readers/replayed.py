"""A run played again from its beginning, at its own pace or faster: a reader around the run's own reader.

What was planned is there at once; each other event comes when the clock of the replay has reached it. That clock is the
clock of everything that shows the run. Logs are as they are now: they are files, not events.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

from engine.events import AnyEvent, RunPlanned, TrialPlanned
from engine.layout import LogFile
from engine.readers.open_run import OpenedRun
from engine.readers.reader import Liveness, RunFormat, RunReader

SLOWEST, FASTEST = 0.01, 100_000.0
STEP = 2.0
"""How much faster or slower one step makes it."""
_LONG_AGO = datetime.fromisoformat("1970-01-01T00:00:00+00:00")


class Replay:
    """The clock of a replay, and its controls. Begins when the first event is known; may be asked from any thread."""

    def __init__(self, speed: float = 1.0, ticks: Callable[[], float] = time.monotonic) -> None:
        self.speed = min(FASTEST, max(SLOWEST, speed))
        self.paused = False
        self.at_end = False
        self._ticks = ticks
        self._since: float | None = None
        self._from = _LONG_AGO
        self._last: datetime | None = None

    def now(self) -> datetime:
        since, start, last = self._since, self._from, self._last
        if since is None or self.paused:
            return start
        at = start + timedelta(seconds=(self._ticks() - since) * self.speed)
        return at if last is None else min(at, last)

    def begin(self, first: datetime) -> None:
        if self._since is None:
            self._from, self._since = first, self._ticks()

    def ends_with(self, last: datetime) -> None:
        """No event comes after that one."""
        self._last = last

    def pause_or_go_on(self) -> None:
        self._set(self.now())
        self.paused = not self.paused

    def faster(self, steps: int) -> None:
        """Twice as fast for each step, half as fast for each step back."""
        self._set(self.now())
        self.speed = min(FASTEST, max(SLOWEST, self.speed * STEP**steps))

    def to_end(self) -> None:
        self.at_end = True

    def _set(self, at: datetime) -> None:
        self._from = at
        if self._since is not None:
            self._since = self._ticks()

    def of(self, run: OpenedRun) -> OpenedRun:
        """The same run, played."""
        return OpenedRun(run.folder, ReplayedFormat(run.format, self))


class ReplayedReader:
    """Events of `reader` as the replay's clock reaches them. It never runs ahead of that reader's order."""

    def __init__(self, reader: RunReader, replay: Replay) -> None:
        self.folder = reader.folder
        self._reader = reader
        self._replay = replay
        self._ahead: deque[AnyEvent] = deque()
        self._reached = _LONG_AGO
        self._read_all = False

    def poll(self) -> list[AnyEvent]:
        replay = self._replay
        found: list[AnyEvent] = []
        while True:
            if not self._ahead and not self._fill():
                break
            event = self._ahead[0]
            if not isinstance(event, RunPlanned | TrialPlanned):
                replay.begin(event.at)
                self._reached = max(self._reached, event.at)
                if not replay.at_end and self._reached > replay.now():
                    break
            found.append(self._ahead.popleft())
            if len(found) >= 5_000 and not replay.at_end:
                break
        return found

    def _fill(self) -> bool:
        if self._read_all:
            return False
        self._ahead.extend(self._reader.poll())
        self._read_all = not self._ahead
        if self._read_all and self._reached is not _LONG_AGO:
            self._replay.ends_with(self._reached)
        return not self._read_all

    def liveness(self) -> Liveness:
        """Live until all has been played; then what the run itself is, and what is over stays over."""
        if not self._read_all or self._ahead:
            return Liveness.LIVE
        found = self._reader.liveness()
        return Liveness.STALE if found in (Liveness.LIVE, Liveness.STARTING) else found

    def close(self) -> None:
        self._reader.close()


class ReplayedFormat:
    """As the format of the run, but for its reader."""

    def __init__(self, format: RunFormat, replay: Replay) -> None:
        self._format = format
        self._replay = replay
        self.kind = format.kind
        self.ours = False  # whatever it is, a replay changes nothing in it

    def is_run(self, folder: Path) -> bool:
        return self._format.is_run(folder)

    def identity(self, folder: Path) -> str:
        return self._format.identity(folder)

    def reader(self, folder: Path) -> ReplayedReader:
        return ReplayedReader(self._format.reader(folder), self._replay)

    def trial_folder(self, folder: Path, trial: str) -> Path:
        return self._format.trial_folder(folder, trial)

    def logs(self, folder: Path, trial: str) -> list[LogFile]:
        return self._format.logs(folder, trial)
