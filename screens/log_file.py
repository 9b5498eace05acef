"""The bytes of a log that may grow, shrink or be replaced while a person reads it.

Read with `pread` only. A live file is never mapped into memory: truncating a mapped file kills the process
that reads it.
"""

from __future__ import annotations

import os
from enum import StrEnum
from pathlib import Path

_MARK = 256
"""Bytes at the file's head, and before its known end, that tell a file that grew from one written anew."""


class Change(StrEnum):
    NONE = "none"
    GREW = "grew"
    REPLACED = "replaced"  # truncated, rotated or written anew: nothing known about it holds
    MISSING = "missing"


class GrowingFile:
    """`size` is the size at the last `look`; nothing beyond it is ever read: one look, one consistent file.

    A deleted file stays readable until another takes its name. Reads are safe from several threads, `look`
    belongs to one.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.size = 0
        self._descriptor: int | None = None
        self._head = b""
        self._tail = b""

    def look(self) -> Change:
        """What happened to the file since the last look."""
        try:
            named = self.path.stat()
        except OSError:
            return Change.NONE if self._descriptor is not None else Change.MISSING
        if self._descriptor is None:
            return self._open(Change.GREW)
        held = os.fstat(self._descriptor)
        if (held.st_dev, held.st_ino) != (named.st_dev, named.st_ino):
            return self._open(Change.REPLACED)
        if held.st_size < self.size or (held.st_size > self.size and not self._as_known()):
            return self._open(Change.REPLACED)
        if held.st_size == self.size:
            return Change.NONE
        self.size = held.st_size
        self._mark()
        return Change.GREW

    def read(self, offset: int, length: int) -> bytes:
        """May be shorter than asked for: at the end, or where the file was cut since the last look."""
        if self._descriptor is None or offset < 0:
            return b""
        length = min(length, self.size - offset)
        if length <= 0:
            return b""
        try:
            return os.pread(self._descriptor, length, offset)
        except OSError:
            return b""

    def close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _open(self, change: Change) -> Change:
        try:
            # O_NONBLOCK: a FIFO that a task left in the place of a log must not hang the reader
            descriptor = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        except OSError:
            return Change.MISSING
        self.close()
        self._descriptor = descriptor
        self.size = os.fstat(descriptor).st_size
        self._mark()
        return change

    def _mark(self) -> None:
        self._head = self.read(0, _MARK)
        self._tail = self.read(max(0, self.size - _MARK), _MARK)

    def _as_known(self) -> bool:
        return self.read(0, len(self._head)) == self._head and (
            self.read(self.size - len(self._tail), len(self._tail)) == self._tail
        )
