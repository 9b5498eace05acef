"""The run's events on disk, and what they add up to, kept in step.

A line is there whole or not at all. When the disk is full nothing is lost: a reserve is given up for what comes, and
once that is used events wait in memory, in order, and are written when there is room again; `failed` says so meanwhile.
"""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
from collections import deque
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from engine.events import Event, HostSampled, ResourceSampled, TrialFinished, TrialInterrupted, decode_lines, encode
from engine.layout import EVENTS, HOST_SAMPLES, RESERVE, SAMPLES
from engine.readers.followed_file import FollowedFile
from engine.state import RunState


class LogTaken(Exception):
    """Another process writes this run's events; the message says so."""


RESERVE_BYTES = 1 << 20
RESERVE_OF_FREE = 64
"""The reserve is no larger part of the free space than one in so many."""


class EventLog:
    """Appends events of one run. One writer a run, which holds a lock on the file: the engine's process."""

    def __init__(self, folder: Path) -> None:
        """Raises LogTaken and OSError."""
        self.folder = folder
        self.state = RunState()
        self.failed: OSError | None = None
        self._events = _open(folder / EVENTS)
        _lock(self._events, folder)
        self.cut_bytes = _cut_partial_line(folder / EVENTS)
        reader = FollowedFile(folder / EVENTS)
        while lines := reader.new_lines():
            self.state.apply_all(decode_lines(lines))
        reader.close()
        self._host = _open(folder / HOST_SAMPLES)
        self._samples: dict[str, int] = {}
        self._waiting: deque[bytes] = deque()
        self._reserved = False
        self.reserve()

    def append(self, event: Event) -> None:
        """Never raises, never blocks for long. Samples go to their own files, and are dropped when the disk is full."""
        self.state.apply(event)
        line = encode(event)
        if isinstance(event, ResourceSampled):
            self._sample(event, line)
        elif isinstance(event, HostSampled):
            _write(self._host, line)
        else:
            self._waiting.append(line)
            self.flush()
        if isinstance(event, TrialFinished | TrialInterrupted):
            samples = self._samples.pop(event.trial, None)
            if samples is not None:
                os.close(samples)

    def flush(self) -> bool:
        """Write what waits; False where that failed again."""
        while self._waiting:
            self.failed = _write(self._events, self._waiting[0])
            if (
                self.failed is not None
                and self.failed.errno in (errno.ENOSPC, errno.EDQUOT)
                and self._give_up_reserve()
            ):
                continue
            if self.failed is not None:
                return False
            self._waiting.popleft()
        return True

    @property
    def in_place(self) -> bool:
        """False once somebody removed or moved the run folder: what is written then is in no file that has its name."""
        try:
            there = (self.folder / EVENTS).stat()
        except (FileNotFoundError, NotADirectoryError):
            return False
        except OSError:
            return True
        return os.path.samestat(there, os.fstat(self._events))

    def reserve(self) -> None:
        """Set room aside for the last events, where there is plenty."""
        path = self.folder / RESERVE
        if self._reserved:
            return
        try:
            if shutil.disk_usage(self.folder).free < RESERVE_OF_FREE * RESERVE_BYTES:
                return
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                os.posix_fallocate(descriptor, 0, RESERVE_BYTES)
            finally:
                os.close(descriptor)
            self._reserved = True
        except OSError:
            path.unlink(missing_ok=True)

    def _give_up_reserve(self) -> bool:
        given = self._reserved
        self._reserved = False
        (self.folder / RESERVE).unlink(missing_ok=True)
        return given

    def sync(self) -> None:
        """To the disk itself, so that a verdict survives the host's end."""
        try:
            os.fsync(self._events)
        except OSError as error:
            self.failed = error

    def close(self) -> None:
        self.flush()
        self._give_up_reserve()
        for descriptor in (self._events, self._host, *self._samples.values()):
            os.close(descriptor)

    def _sample(self, event: ResourceSampled, line: bytes) -> None:
        descriptor = self._samples.get(event.trial)
        if descriptor is None:
            trial = self.state.trials.get(event.trial)
            if trial is None or trial.done:
                return
            try:
                descriptor = self._samples[event.trial] = _open(self.folder / event.trial / SAMPLES)
            except OSError:
                return
        _write(descriptor, line)


def append_afterwards(folder: Path, events: Iterable[Event]) -> None:
    """What is told of a run by somebody who is not its engine, where no engine runs it now. It stays as old as it was:
    "last" is the run that something happened in. Raises LogTaken and OSError."""
    descriptor = _open(folder / EVENTS)
    _lock(descriptor, folder)  # closes it where that is taken
    try:
        before = os.fstat(descriptor)
        _cut_partial_line(folder / EVENTS)
        for event in events:
            failed = _write(descriptor, encode(event))
            if failed is not None:
                raise failed
        os.utime(descriptor, ns=(before.st_atime_ns, before.st_mtime_ns))
    finally:
        os.close(descriptor)


def _open(path: Path) -> int:
    return os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)


def _lock(descriptor: int, folder: Path) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise LogTaken(f"{folder}: another process already runs this") from None
    except OSError as error:
        if error.errno not in (errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL):  # a disk without locks
            os.close(descriptor)
            raise


def _write(descriptor: int, line: bytes) -> OSError | None:
    """A whole line, or none of it."""
    written = 0
    try:
        size = os.fstat(descriptor).st_size
        while written < len(line):
            written += os.write(descriptor, line[written:])
    except OSError as error:
        if written:
            with suppress(OSError):
                os.ftruncate(descriptor, size)
        return error
    return None


def _cut_partial_line(path: Path) -> int:
    """Cut off a last line that a crash left without its end; returns how many bytes that were."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return 0
    try:
        size = os.fstat(descriptor).st_size
        end, keep = size, 0
        while end > 0:
            start = max(0, end - 65536)
            found = os.pread(descriptor, end - start, start).rfind(b"\n")
            if found >= 0:
                keep = start + found + 1
                break
            end = start
        if keep < size:
            os.ftruncate(descriptor, keep)
        return size - keep
    finally:
        os.close(descriptor)
