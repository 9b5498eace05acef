"""A run folder as a screen sees it: a `RunState` that keeps up with the folder.

A thread reads and decodes; the UI thread folds what came, in slices that leave room for keys.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from engine import events as ev
from engine.layout import LogFile
from engine.readers.open_run import OpenedRun, open_run
from engine.readers.reader import Liveness, RunReader
from engine.state import RunState
from engine.text import clean_line

BUSY_SEC = 0.01
"""Pause between two looks while events come."""
IDLE_SEC = 0.1
"""Longest pause between two looks at a run that lives."""
OVER_SEC = 0.5
"""Pause between two looks at a run that is over: someone may resume it."""
COSTLY_SEC = 0.03
"""Longest pause that a costly look (a thousand sample files) is followed by, so that the screen gets its turn."""
LIVENESS_SEC = 1.0
"""How often the owner's process is looked for."""
MOST_PENDING = 20_000
"""Events read and not yet folded, above which the thread waits for the screen."""
SLICE_SEC = 0.008
"""How long one `pump` may fold. A key waits for at most one slice and one painting."""
_CHECK_EVERY = 32
_LONGEST_FAULT = 200
_TAIL = 1_000
"""A look that finds fewer events than this has reached the end of the file."""

_SAMPLES = (ev.ResourceSampled, ev.HostSampled)

Clock = Callable[[], datetime]


class RunSource:
    """Owns the reader of one run folder and the state that its events add up to.

    `start` begins to read; `pump` and everything else belong to the UI thread. `on_events`, called in the
    reading thread, says that something waits to be pumped; it is called again only after the next `pump`.
    """

    def __init__(self, folder: Path, clock: Clock = ev.now) -> None:
        self.folder = folder
        self.run: OpenedRun = open_run(folder)
        self.state = RunState()
        self.clock = clock
        self.liveness = Liveness.STARTING
        self.caught_up = False
        self.problem = ""
        self.held_at: datetime | None = None
        self.on_events: Callable[[], None] | None = None
        self._pending: deque[ev.AnyEvent] = deque()
        self._news = False
        self._gone = False
        self._reached_end = False
        self._called = False
        self._room = threading.Event()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._read, name=f"read {self.folder.name}", daemon=True)
            self._thread.start()

    def close(self) -> None:
        """Stops the thread and waits for it, at most a second."""
        self.on_events = None
        self._stop.set()
        self._room.set()
        if self._thread is not None:
            self._thread.join(1.0)

    @property
    def live(self) -> bool:
        return self.liveness is Liveness.LIVE

    @property
    def stale(self) -> bool:
        """Its engine is gone and hasn't finished it: what ran was cut off."""
        return self.liveness is Liveness.STALE

    @property
    def held(self) -> bool:
        """Whether what comes waits unseen; see `hold`."""
        return self.held_at is not None

    def hold(self) -> None:
        """The state stays as it is now, and so does `now`; what comes is read and waits."""
        if self.held_at is None:
            self.held_at = self.now()

    def go_on(self) -> None:
        """Take in what has come since `hold`."""
        self.held_at = None
        self._called = False
        self._news = True
        self._call()

    @property
    def waiting(self) -> int:
        """Changes that came since `hold`; samples, which come all the time, are none."""
        return sum(1 for event in self._pending.copy() if type(event) not in _SAMPLES) if self.held else 0

    @property
    def pending(self) -> int:
        """Events read and not yet folded."""
        return len(self._pending)

    def trial_folder(self, trial: str) -> Path:
        return self.run.trial_folder(trial)

    def logs(self, trial: str) -> list[LogFile]:
        return self.run.logs(trial)

    def now(self) -> datetime:
        """The moment that durations are counted to: the clock of a live run, else the last sign of life."""
        if self.held_at is not None:
            return self.held_at
        if self.live or self.state.last_event_at is None:
            return self.clock()
        return self.state.last_event_at

    def pump(self, budget_sec: float = SLICE_SEC) -> set[str]:
        """Fold what came, for at most about `budget_sec`; returns the trials that changed, "" for the run.

        Call again while `pending` is not 0.
        """
        self._called = False
        if self.held:
            return set()
        until = time.perf_counter() + budget_sec
        pending, apply = self._pending, self.state.apply
        folded = 0
        while pending:
            event = pending.popleft()
            apply(event)
            folded += 1
            if folded % _CHECK_EVERY == 0 and time.perf_counter() > until:
                break
        if len(pending) < MOST_PENDING:
            self._room.set()
        dirty = self.state.take_dirty()
        if self._news:
            self._news = False
            dirty.add("")
        if not self.caught_up and self._reached_end and not pending:
            self.caught_up = True
            dirty.add("")
        return dirty

    # --- the reading thread ---

    def _read(self) -> None:
        reader = self.run.reader()
        pause = BUSY_SEC
        look_at = 0.0
        try:
            while not self._stop.is_set():
                began = time.perf_counter()
                found = self._poll(reader)
                self._pending.extend(found)
                if len(found) < _TAIL and not self._reached_end:
                    self._reached_end = True
                    self._news = True
                if self._reached_end and time.monotonic() >= look_at:
                    look_at = time.monotonic() + LIVENESS_SEC
                    self._look(reader)
                if found or self._news:
                    self._call()
                if len(self._pending) >= MOST_PENDING:
                    self._room.clear()
                    self._room.wait(1.0)
                    continue
                longest = IDLE_SEC if self.liveness in (Liveness.LIVE, Liveness.STARTING) else OVER_SEC
                pause = BUSY_SEC if found else min(pause * 1.5, longest)
                pause = max(pause, min(COSTLY_SEC, 2 * (time.perf_counter() - began)))
                if self._stop.wait(pause):
                    break
        except Exception as fault:  # of ours: a thread that ends unseen would leave "reading" on the screen for ever
            what = clean_line(f"{type(fault).__name__}: {fault}", _LONGEST_FAULT)
            self._say(f"a fault in trialdeck ended the reading ({what}); what was read before is shown")
            self._reached_end = True
            self._call()
        finally:
            reader.close()

    def _poll(self, reader: RunReader) -> list[ev.AnyEvent]:
        """Nothing where the folder is gone: what was read of it stays, and is not taken back trial by trial."""
        try:
            gone = self._reached_end and not self.folder.exists()
            found = [] if gone else reader.poll()
        except OSError as error:
            self._say(f"can't read the run: {error.strerror or error}")
            return []
        self._say("the run folder is gone" if self._gone else "")
        return found

    def _look(self, reader: RunReader) -> None:
        try:
            self._gone = not self.folder.exists()
            liveness = reader.liveness()
        except OSError:
            return
        if liveness is not self.liveness:
            self.liveness = liveness
            self._news = True

    def _say(self, problem: str) -> None:
        if problem != self.problem:
            self.problem = problem
            self._news = True

    def _call(self) -> None:
        call = self.on_events
        if call is not None and not self._called:
            self._called = True
            call()
