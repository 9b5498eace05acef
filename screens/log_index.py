"""Where the lines of a large file begin: one number a block of 64 KiB, 128 KB of memory for a gigabyte.

Built from the front, in steps, usually in a thread; asked while it is being built it answers for the part it
has seen.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable
from typing import Protocol

BLOCK = 1 << 16
_STEP = 16 * BLOCK


class Bytes(Protocol):
    """What an index and a reader need of a file."""

    @property
    def size(self) -> int: ...

    def read(self, offset: int, length: int) -> bytes: ...


class LineIndex:
    """Counts newlines. `scanned` is the part of the file that answers are known for."""

    def __init__(self, file: Bytes) -> None:
        self._file = file
        self._before = array("Q", [0])  # newlines before each block that was read whole, and before the next
        self._in_last = 0  # newlines in the block that is not whole yet
        self.scanned = 0

    @property
    def newlines(self) -> int:
        """Newlines in the scanned part."""
        return self._before[-1] + self._in_last

    @property
    def complete(self) -> bool:
        return self.scanned >= self._file.size

    @property
    def lines(self) -> int:
        """Lines in the scanned part; a last line without its newline counts."""
        if self.scanned == 0:
            return 0
        ends = self._file.read(self.scanned - 1, 1) == b"\n"
        return self.newlines + (0 if ends else 1)

    def extend(self, stop: Callable[[], bool] = lambda: False) -> bool:
        """Scans to the end of the file as known now; False when stopped before. One caller at a time."""
        while not self.complete:
            if stop():
                return False
            data = self._file.read(self.scanned, _STEP - self.scanned % BLOCK)
            if not data:
                return False  # cut since the last look; the next look says so
            self._count(data)
        return True

    def cut_back(self, offset: int) -> None:
        """What stands from `offset` on is another text now. Not while `extend` runs."""
        if offset < self.scanned:
            block = min(offset // BLOCK, len(self._before) - 1)
            self.scanned = block * BLOCK
            self._in_last = 0
            del self._before[block + 1 :]

    def _count(self, data: bytes) -> None:
        position = 0
        while position < len(data):
            room = BLOCK - self.scanned % BLOCK
            taken = min(room, len(data) - position)
            self._in_last += data.count(b"\n", position, position + taken)
            position += taken
            if taken == room:
                self._before.append(self._before[-1] + self._in_last)
                self._in_last = 0
            self.scanned += taken  # last: readers in other threads go by it

    def newlines_before(self, offset: int) -> int | None:
        """Newlines in the file before `offset`, which is the number (from 0) of the line it stands in."""
        if offset > self.scanned:
            return None
        block = offset // BLOCK
        start = block * BLOCK
        return self._before[block] + self._file.read(start, offset - start).count(b"\n")

    def start_of(self, line: int) -> int | None:
        """Offset at which a line (from 0) begins; None where it is not known or there is no such line."""
        if line <= 0:
            return 0 if line == 0 else None
        if line > self.newlines:
            return None
        block = bisect_left(self._before, line) - 1
        data = self._file.read(block * BLOCK, BLOCK)
        found = -1
        for _ in range(line - self._before[block]):
            found = data.find(b"\n", found + 1)
            if found < 0:
                return None
        start = block * BLOCK + found + 1
        return start if start < self._file.size else None

    def next_newline_block(self, offset: int) -> int | None:
        """From a block's edge: where the next block that holds a newline begins, or else the last edge known.
        None where the offset is no edge, or lies beyond what was scanned."""
        block, rest = divmod(offset, BLOCK)
        if rest or block >= len(self._before):
            return None
        after = bisect_left(self._before, self._before[block] + 1)
        return (min(after, len(self._before)) - 1) * BLOCK

    def last_newline_block(self, offset: int) -> int | None:
        """From a block's edge: where the last block before it that holds a newline ends; 0 without one.
        None where the offset is no edge, or lies beyond what was scanned."""
        block, rest = divmod(offset, BLOCK)
        if rest or block >= len(self._before):
            return None
        count = self._before[block]
        return bisect_left(self._before, count) * BLOCK if count else 0
