"""The label file of a run, kept by a thread of its own: it writes what a person decides and reads what others do.

Nothing that was decided is lost unsaid: what can't be written stays in memory and is tried again; what is still
unwritten when the console closes is saved elsewhere, and said once the terminal is given back.
"""

from __future__ import annotations

import atexit
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from engine.readers.open_run import OpenedRun
from engine.triage.label_store import LabelStore, open_labels
from engine.triage.labels import Label
from screens.triage_rescue import rescue

LOOK_SEC = 1.5
"""How often others' labels are looked for."""
AGAIN_SEC = 4.0
"""Pause before what could not be written is tried again."""


@dataclass(frozen=True)
class LabelNews:
    """`read`: labels that came into the file, in its order, our own included. `problem` says why `unwritten` decisions
    are not in the file, or why it can't be read; "" where all is well. `damaged` are lines that are no labels. `anew`:
    somebody changed what stood in the file, and `read` is all that stands there now."""

    identity: str
    path: Path
    read: Sequence[Label]
    unwritten: int
    problem: str
    damaged: Sequence[str] = field(default=())
    anew: bool = False


class LabelKeeping:
    """`tell` is called in the thread. `write` and `write_again` may be called from any thread and don't wait."""

    def __init__(self, run: OpenedRun, tell: Callable[[LabelNews], None]) -> None:
        self._run = run
        self._tell = tell
        self._waiting: deque[list[Label]] = deque()
        self._wake = threading.Event()
        self._stop = False
        self._not_before = 0.0
        self._said: tuple[int, str, int] | None = None
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """The thread is no daemon: the console ends when the last label is on the disk, or said to be nowhere."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._keep, name=f"labels of {self._run.folder.name}")
            self._thread.start()

    def close(self) -> None:
        """Doesn't wait: the thread writes what is left and ends."""
        self._stop = True
        self._wake.set()

    def join(self, seconds: float) -> None:
        if self._thread is not None:
            self._thread.join(seconds)

    def write(self, labels: list[Label]) -> None:
        """All of them, or none yet."""
        self._waiting.append(labels)
        self._wake.set()

    def write_again(self) -> None:
        self._not_before = 0.0
        self._wake.set()

    # --- the thread ---

    def _keep(self) -> None:
        store = open_labels(self._run)
        while True:
            self._wake.clear()
            stopping = self._stop or not threading.main_thread().is_alive()
            problem = self._write(store, last=stopping)
            read, unreadable = _read(store)
            self._say(store, read, problem or unreadable)
            if stopping:
                break
            self._wake.wait(LOOK_SEC)
        if self._waiting:
            left = [label for labels in self._waiting for label in labels]
            said = rescue(left, store.path, problem)
            atexit.register(print, said, file=sys.stderr)

    def _write(self, store: LabelStore, *, last: bool) -> str:
        if not last and time.monotonic() < self._not_before:
            return self._said[1] if self._said is not None else ""
        while self._waiting:
            try:
                store.append_all(self._waiting[0])
            except OSError as error:
                self._not_before = time.monotonic() + AGAIN_SEC
                return f"{error.strerror or error}: {store.path}"
            except ValueError:
                self._waiting[0] = [msgspec.structs.replace(label, evidence=()) for label in self._waiting[0]]
                try:
                    store.append_all(self._waiting[0])
                except (OSError, ValueError) as error:
                    return f"{error}: {store.path}"
            self._waiting.popleft()
        return ""

    def _say(self, store: LabelStore, read: Sequence[Label], problem: str) -> None:
        unwritten = sum(len(labels) for labels in self._waiting)
        now = (unwritten, problem, len(store.problems))
        if read or store.anew or now != self._said:
            self._said = now
            damaged = tuple(store.problems[:20])
            self._tell(LabelNews(store.run_identity, store.path, read, unwritten, problem, damaged, store.anew))


def _read(store: LabelStore) -> tuple[Sequence[Label], str]:
    try:
        return store.new_labels(), ""
    except OSError as error:
        return (), f"labels can't be read: {error.strerror or error}: {store.path}"
