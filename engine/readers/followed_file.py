"""A file of lines that grows while it is read."""

from __future__ import annotations

import os
from pathlib import Path

from engine.regular_file import open_regular

_CHUNK = 1 << 20


class FollowedFile:
    """Whole lines appended to a file since the last look.

    A line without its newline yet is left for the next look. A file that became shorter (replaced, or its cut last line
    removed) is read on from its new end of known lines. A missing file has no lines.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.offset = 0
        self._descriptor: int | None = None

    def new_lines(self, max_bytes: int = 16 * _CHUNK) -> list[bytes]:
        """At most about `max_bytes` of lines; call again while it returns some."""
        if self._descriptor is None:
            try:
                self._descriptor = open_regular(self.path)
            except OSError:
                return []
        size = os.fstat(self._descriptor).st_size
        if size <= self.offset:
            self.offset = min(self.offset, size)
            return []
        data = os.pread(self._descriptor, min(size - self.offset, max_bytes), self.offset)
        end = data.rfind(b"\n") + 1
        while not end and len(data) == max_bytes:  # one line longer than the bound
            max_bytes *= 2
            data = os.pread(self._descriptor, max_bytes, self.offset)
            end = data.rfind(b"\n") + 1
        self.offset += end
        return data[: end - 1].split(b"\n") if end else []

    def close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
