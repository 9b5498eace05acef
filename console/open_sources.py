"""The runs that the console has open at the same time: each read by its own thread, all folded in turns."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from time import perf_counter

from engine.readers.replayed import Replay
from screens.app_protocols import KeptWithRun
from screens.source import SLICE_SEC, Clock, RunSource

MOST_OPEN = 32
"""Runs open at once; each costs a thread and the memory of its trials."""


class TooManyOpen(Exception):
    """All runs that may be open at once are, and are shown."""


class OpenSources:
    """Runs by their folder. All of it belongs to the UI thread but `on_events`, which the reading threads call.

    A run stays open while `keep_only` names it, or while it is `pinned`.
    """

    def __init__(self, clock: Clock, on_events: Callable[[], None], replay: Replay | None = None) -> None:
        self._clock = clock
        self._on_events = on_events
        self._replay = replay
        self._open: dict[Path, RunSource] = {}
        self._desks: dict[Path, KeptWithRun] = {}
        self._turn = 0
        self.pinned: RunSource | None = None

    # --- opening and closing ---

    def open(self, folder: Path) -> RunSource:
        """The run of this folder, read from now on if it wasn't before. Raises TooManyOpen."""
        key = _key(folder)
        source = self._open.get(key)
        if source is None:
            if len(self._open) >= MOST_OPEN:
                raise TooManyOpen(f"{len(self._open)} runs are open; leave a comparison before you open another one")
            source = self._open[key] = RunSource(folder, self._clock if self._replay is None else self._replay.now)
            if self._replay is not None:
                source.run = self._replay.of(source.run)
            source.on_events = self._on_events
            source.start()
        return source

    @property
    def all(self) -> list[RunSource]:
        """In the order in which they were opened."""
        return list(self._open.values())

    def keep_only(self, shown: Iterable[RunSource]) -> bool:
        """Close what nobody shows any more; whether there was something. Threads end by themselves: nobody waits for
        one that reads."""
        closed = False
        kept = {id(source) for source in shown}
        for key, source in list(self._open.items()):
            if id(source) not in kept and source is not self.pinned:
                self._forget(key)
                source.on_events = None
                threading.Thread(target=source.close, name=f"close {source.folder.name}", daemon=True).start()
                closed = True
        return closed

    def close(self) -> None:
        for key, source in list(self._open.items()):
            self._forget(key)
            source.close()

    def _forget(self, key: Path) -> None:
        del self._open[key]
        desk = self._desks.pop(key, None)
        if desk is not None:
            desk.close()

    # --- what is kept beside a run ---

    def desk(self, source: RunSource, make: Callable[[RunSource], KeptWithRun]) -> KeptWithRun:
        """The one desk of an open run, made when it is first asked for and closed with the run."""
        key = _key(source.folder)
        desk = self._desks.get(key)
        if desk is None:
            desk = self._desks[key] = make(source)
        return desk

    # --- folding ---

    @property
    def pending(self) -> bool:
        """Whether events have been read that are not yet folded."""
        return any(source.pending and not source.held for source in self._open.values())

    def pump(self, budget_sec: float = SLICE_SEC) -> dict[RunSource, set[str]]:
        """Fold what came, for at most about `budget_sec` over all runs; returns what changed in each.

        A key waits for one slice, however many runs are open: those that have something share it evenly, what one
        leaves is the next one's, and another one begins each time.
        """
        sources = list(self._open.values())
        self._turn += 1
        begin = self._turn % max(1, len(sources))
        sources = sources[begin:] + sources[:begin]
        until = perf_counter() + budget_sec
        busy = sum(1 for source in sources if source.pending and not source.held)
        changed: dict[RunSource, set[str]] = {}
        for source in sources:
            waiting = source.pending > 0 and not source.held
            if waiting and perf_counter() >= until:
                continue
            known = source.caught_up
            dirty = source.pump((until - perf_counter()) / max(1, busy))
            if source.caught_up and not known:
                gc.freeze()  # what a run adds up to stays: the collector needn't walk through it again and again
            busy -= waiting
            if dirty:
                changed[source] = dirty
        return changed


def _key(folder: Path) -> Path:
    """One folder, however it is written. Links are followed: two names of one run are one run."""
    try:
        return folder.resolve()
    except (OSError, RuntimeError):
        return folder.absolute()
