"""A file of lines that grows while it is read."""

from __future__ import annotations

import os
from pathlib import Path

from engine.regular_file import open_regular

_CHUNK = 1 << 20
LONGEST_LINE = 32 * _CHUNK
"""Of a longer line only so much is kept, and what follows up to its end is passed over."""


class FollowedFile:
    """Whole lines appended to a file since the last look, in memory that no file can blow up.

    A line without its newline yet is left for the next look. A file that became shorter (replaced, or its cut last line
    removed) is read on from its new end of known lines; one that another file was put in the place of (a copy that is
    brought up to date now and then) from where the earlier one ended. A missing file has no lines.
    """

    def __init__(self, path: Path, longest: int = LONGEST_LINE) -> None:
        self.path = path
        self.longest = longest
        self.offset = 0
        self._descriptor: int | None = None
        self._passing_over = False
        """The rest of a line that was too long has not ended yet."""

    def new_lines(self, max_bytes: int = 16 * _CHUNK) -> list[bytes]:
        """At most about `max_bytes` of lines; call again while it returns some."""
        if self._descriptor is None:
            try:
                self._descriptor = open_regular(self.path)
            except OSError:
                return []
        size = os.fstat(self._descriptor).st_size
        if size <= self.offset and self._replaced():
            size = os.fstat(self._descriptor).st_size
        if size <= self.offset:
            self._passing_over &= size == self.offset
            self.offset = min(self.offset, size)
            return []
        if self._passing_over and not self._pass_over():
            return []
        data = os.pread(self._descriptor, min(max(0, size - self.offset), max_bytes), self.offset)
        end = data.rfind(b"\n") + 1
        while not end and len(data) == max_bytes and max_bytes < self.longest:  # one line longer than the bound
            max_bytes = min(max_bytes * 2, self.longest)
            data = os.pread(self._descriptor, max_bytes, self.offset)
            end = data.rfind(b"\n") + 1
        if not end and len(data) >= self.longest:
            self.offset += len(data)
            self._passing_over = True
            self._pass_over()
            return [data]
        self.offset += end
        return data[: end - 1].split(b"\n") if end else []

    def _pass_over(self) -> bool:
        """To the end of the line that was too long; whether that is there yet."""
        assert self._descriptor is not None
        while data := os.pread(self._descriptor, _CHUNK, self.offset):
            end = data.find(b"\n") + 1
            self.offset += end or len(data)
            if end:
                self._passing_over = False
                return True
        return False

    def _replaced(self) -> bool:
        """Whether another file has this one's name now, which is read on from then."""
        assert self._descriptor is not None
        try:
            known, found = os.fstat(self._descriptor), self.path.stat()
            if (found.st_ino, found.st_dev) == (known.st_ino, known.st_dev):
                return False
            fresh = open_regular(self.path)
        except (OSError, ValueError):
            return False
        os.close(self._descriptor)
        self._descriptor = fresh
        return True

    def close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
