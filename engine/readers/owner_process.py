"""Signs that somebody still works on a folder of another system, which writes down no owner."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Hashable, Iterable, Iterator
from pathlib import Path

import psutil

SILENT_SEC = 300.0
"""A folder whose content has not moved for so long, with no process seen at it, is left alone by its owner: between
two lines of these systems' logs minutes may pass."""

_MOST_LOOKED_AT = 200
_REREAD_SEC = 1.0


def worked_on_here(folder: Path, words: Iterable[str], ignored: Iterable[str] = ()) -> bool:
    """Whether a process of this host has a file below `folder` open, or, where its files can't be asked for, names the
    folder in its command. Only processes are looked at whose program, script or module is called one of `words` and
    that have none of `ignored` as an argument of its own. Costs a look at each process; never raises."""
    wanted, unwanted = frozenset(words), frozenset(ignored)
    top = os.path.realpath(folder)
    looked_at = 0
    for pid, command, called in _commands():
        if pid == os.getpid() or wanted.isdisjoint(called) or unwanted & set(command[:4]):
            continue
        looked_at += 1
        if looked_at > _MOST_LOOKED_AT:
            return False
        if _works_on(pid, command, top):
            return True
    return False


_Commands = dict[int, tuple[float, list[str], frozenset[str]]]
_known: _Commands = {}
"""By process: when its command was read, the command, what it calls. For a list of jobs it is asked for many times."""


def _commands() -> Iterator[tuple[int, list[str], frozenset[str]]]:
    """Of all processes there are now. A process that became another program shows that within `_REREAD_SEC`."""
    global _known
    before, now = _known, time.monotonic()
    found: _Commands = {}
    for pid in psutil.pids():
        known = before.get(pid)
        if known is None or now - known[0] > _REREAD_SEC:
            try:
                command = psutil.Process(pid).cmdline()
            except (psutil.Error, OSError):
                command = []
            known = now, command, frozenset(_called(command))
        found[pid] = known
    _known = found
    for pid, (_, command, called) in found.items():
        yield pid, command, called


def _called(command: list[str]) -> set[str]:
    """What a command runs: the program, and where that is a Python, its script or the parts of its module's name."""
    if not command:
        return set()
    program = Path(command[0]).name.lower()
    names = {program}
    if program.startswith("python"):
        for number, word in enumerate(command[1:], 1):
            if word == "-m":
                return names | set("".join(command[number + 1 : number + 2]).lower().split("."))
            if not word.startswith("-"):
                return names | {Path(word).stem.lower()}
    return names


def _works_on(pid: int, command: list[str], top: str) -> bool:
    try:
        return any(file.path.startswith(top + os.sep) for file in psutil.Process(pid).open_files())
    except psutil.NoSuchProcess:
        return False
    except (psutil.Error, OSError):
        pass
    return any(part.rstrip(os.sep).endswith(top) for part in command)


class Pulse:
    """Whether what a folder says moves on, from the first look on. Files' dates play no part."""

    def __init__(self, silent_sec: float = SILENT_SEC, clock: Callable[[], float] = time.monotonic) -> None:
        self.silent_sec = silent_sec
        self._clock = clock
        self._mark: Hashable = None
        self._looked = False
        self._moved_at: float | None = None

    def look(self, mark: Hashable) -> None:
        """`mark` stands for all that the folder says now: sizes of logs, times of records."""
        if self._looked and mark != self._mark:
            self._moved_at = self._clock()
        self._mark = mark
        self._looked = True

    @property
    def beats(self) -> bool:
        return self._moved_at is not None and self._clock() - self._moved_at < self.silent_sec

    def stop(self) -> None:
        """Its owner was seen to end: what moved before means nothing any more."""
        self._moved_at = None


class OwnerWatch:
    """Whether somebody still works on a folder: a process that is seen at it, else content that moves.

    `seen`: a process was there at the last look. Looks at most once in `look_sec`.
    """

    def __init__(
        self,
        folder: Path,
        words: Iterable[str],
        ignored: Iterable[str] = (),
        *,
        pulse: Pulse | None = None,
        look_sec: float = 0.0,
    ) -> None:
        self.seen = False
        self._folder = folder
        self._words, self._ignored = tuple(words), tuple(ignored)
        self._pulse = pulse or Pulse()
        self._look_sec = look_sec
        self._looked_at: float | None = None

    @property
    def alive(self) -> bool:
        """As of the last look."""
        return self.seen or self._pulse.beats

    def look(self, mark: Callable[[], Hashable]) -> bool:
        """Whether it is alive now; `mark` stands for all that the folder says now."""
        now = time.monotonic()
        if self._looked_at is not None and now - self._looked_at < self._look_sec:
            return self.alive
        self._looked_at = now
        before, self.seen = self.seen, worked_on_here(self._folder, self._words, self._ignored)
        self._pulse.look(mark())
        if before and not self.seen:
            self._pulse.stop()  # what it wrote last is no sign of life
        return self.alive
