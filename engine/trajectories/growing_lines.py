"""The lines of a file that may be large and may still grow, in bounded bites."""

from __future__ import annotations

import os
from pathlib import Path

from engine.trajectories.held_line import HeldLine

_CHUNK = 1 << 20


class GrowingLines:
    """Whole lines since the last look, with their numbers from 1. A missing file has none.

    `replaced` says that the file was cut or swapped: its lines begin again from 1.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.too_long = 0
        self.replaced = False
        self.behind = False
        self._descriptor: int | None = None
        self._offset = 0
        self._number = 0
        self._line = HeldLine()

    def take(self, most: int = 8 << 20) -> list[tuple[int, bytes]]:
        """At most about `most` bytes of lines; `behind` says that there is more. Raises nothing."""
        self.replaced = self.behind = False
        try:
            if not self._open():
                return []
            return self._read(most)
        except OSError:
            self.close()
            return []

    def rest(self) -> tuple[int, bytes]:
        """The last line, which has no newline yet; empty where there is none."""
        return self._number + 1, self._line.so_far

    def close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _open(self) -> bool:
        try:
            now = self.path.stat()
        except OSError:
            now = None
        if self._descriptor is not None and now is not None:
            known = os.fstat(self._descriptor)
            if (known.st_dev, known.st_ino) != (now.st_dev, now.st_ino) or now.st_size < self._offset:
                self.close()
                self._offset = self._number = self.too_long = 0
                self._line.begin_anew()
                self.replaced = True
        if self._descriptor is None and now is not None:
            self._descriptor = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        return self._descriptor is not None

    def _read(self, most: int) -> list[tuple[int, bytes]]:
        assert self._descriptor is not None
        found: list[tuple[int, bytes]] = []
        taken = 0
        while taken < most:
            data = os.pread(self._descriptor, _CHUNK, self._offset)
            if not data:
                return found
            self._offset += len(data)
            taken += len(data)
            head, *lines = data.split(b"\n")
            self._line.add(head)
            for line in lines:
                self._number += 1
                if self._line.too_long:
                    self.too_long += 1
                elif whole := self._line.so_far:
                    found.append((self._number, whole))
                self._line.begin_anew()
                self._line.add(line)
        self.behind = True
        return found
