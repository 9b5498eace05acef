"""The bytes of a log that may grow, shrink or be replaced while a person reads it.

Read with `pread` only. A live file is never mapped into memory: truncating a mapped file kills the process
that reads it.
"""

from __future__ import annotations

import errno
import os
import stat
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

    A deleted file stays readable until another takes its name: it is `gone` meanwhile. A link that takes the name of a
    file is not followed. Reads are safe from several threads, `look` belongs to one.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.size = 0
        self.gone = False
        self.missing = ""  # why there is nothing to read, for a person
        self._follows = path.is_symlink()
        self._written = 0
        self._descriptor: int | None = None
        self._head = b""
        self._tail = b""

    def look(self) -> Change:
        """What happened to the file since the last look."""
        try:
            named = self.path.stat() if self._follows else self.path.lstat()
        except OSError as error:
            return self._absent(_said(error))
        if self._descriptor is None:
            return self._open(Change.GREW)
        self.gone = False
        held = os.fstat(self._descriptor)
        if (held.st_dev, held.st_ino) != (named.st_dev, named.st_ino):
            return self._open(Change.REPLACED)
        if held.st_size < self.size or (self._touched(held) and not self._as_known()):
            return self._open(Change.REPLACED)
        self._written = held.st_mtime_ns
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
        follow = 0 if self._follows else os.O_NOFOLLOW
        try:
            # O_NONBLOCK: a FIFO that a task left in the place of a log must not hang the reader
            descriptor = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | follow)
        except OSError as error:
            return self._absent(_said(error))
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            os.close(descriptor)
            return self._absent("not a file")
        self.close()
        self._descriptor = descriptor
        self.size, self._written = found.st_size, found.st_mtime_ns
        self.gone, self.missing = False, ""
        self._mark()
        return change

    def _absent(self, why: str) -> Change:
        self.missing = why
        self.gone = self._descriptor is not None
        return Change.NONE if self.gone else Change.MISSING

    def _touched(self, held: os.stat_result) -> bool:
        return held.st_size > self.size or held.st_mtime_ns != self._written

    def _mark(self) -> None:
        self._head = self.read(0, _MARK)
        self._tail = self.read(max(0, self.size - _MARK), _MARK)

    def _as_known(self) -> bool:
        return self.read(0, len(self._head)) == self._head and (
            self.read(self.size - len(self._tail), len(self._tail)) == self._tail
        )


def _said(error: OSError) -> str:
    if error.errno == errno.ENOENT:
        return "no such file yet"
    if error.errno == errno.ELOOP:
        return "a link, which is not followed"
    return f"can't be read: {error.strerror}"
