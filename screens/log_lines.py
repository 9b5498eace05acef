"""Lines of a large file, forwards and backwards from any place, each with a bound on what is read for it."""

from __future__ import annotations

from typing import NamedTuple

from screens.log_index import BLOCK, Bytes, LineIndex

SHOWN_BYTES = 16 * 1024
"""Of one line no more than this is decoded and shown."""
SEARCHED_BYTES = 2 * 1024 * 1024
"""How far a line's other end is looked for where the index can't say yet; a page of such lines is read within a third
of a second."""

_FIRST = 4 * 1024


class Line(NamedTuple):
    """`start` to `end` without the newline; `after` is where the next line begins (at the last, the size).

    `whole` is false where an end of the line was too far away to be found before the index got there.
    """

    start: int
    end: int
    after: int
    whole: bool = True

    @property
    def length(self) -> int:
        return self.end - self.start


class LineReader:
    """Keeps nothing: every answer is read from the file as it was at its last look. `gaps`: it may leave lines out, so
    that numbers of neighbours say nothing about each other."""

    gaps = False

    def __init__(self, file: Bytes, index: LineIndex) -> None:
        self.file = file
        self.index = index

    def line_at(self, start: int) -> Line | None:
        """The line that begins at `start`; None at the end of the file."""
        if start >= self.file.size or start < 0:
            return None
        position, length, bound = start, _FIRST, start + SEARCHED_BYTES
        while data := self.file.read(position, length):
            found = data.find(b"\n")
            if found >= 0:
                return Line(start, position + found, position + found + 1)
            position += len(data)
            known = self.index.next_newline_block(position)
            if known is not None:
                position = known
            elif position >= bound:
                return Line(start, position, position, whole=False)
            length = BLOCK - position % BLOCK
        return Line(start, self.file.size, self.file.size)

    def line_before(self, start: int) -> Line | None:
        """The line that ends right before `start`; None at the file's beginning."""
        if start <= 0:
            return None
        after = min(start, self.file.size)
        ends = self.file.read(after - 1, 1) == b"\n"
        end = after - 1 if ends else after
        begin, whole = self._begin(end)
        return Line(begin, end, after, whole)

    def line_of(self, offset: int) -> Line | None:
        """The line that holds the byte at `offset` (its newline belongs to it)."""
        offset = min(offset, self.file.size - 1)
        if offset < 0:
            return None
        return self.line_at(self._begin(offset)[0])

    def numbered(self, number: int) -> Line | None:
        """A line by its number, from 1; None where the index does not know it (yet)."""
        start = self.index.start_of(number - 1)
        return None if start is None else self.line_at(start)

    def number(self, line: Line) -> int | None:
        """The line's number, from 1; None where the index does not know it (yet)."""
        before = self.index.newlines_before(line.start)
        return None if before is None else before + 1

    def shown_bytes(self, line: Line, *, raw: bool = False) -> tuple[bytes, int]:
        """What of a line is worth decoding, and how many of its bytes are left out.

        A line that carriage returns wrote over and over shows its end, as a terminal would have left it; any
        other line, and a raw one, shows its beginning.
        """
        if line.length <= SHOWN_BYTES:
            return self.file.read(line.start, line.length), 0
        tail = self.file.read(line.end - SHOWN_BYTES, SHOWN_BYTES)
        overwritten = -1 if raw else tail.rstrip(b"\r").find(b"\r")
        if overwritten >= 0:
            return tail[overwritten:], 0
        return self.file.read(line.start, SHOWN_BYTES), line.length - SHOWN_BYTES

    def _begin(self, end: int) -> tuple[int, bool]:
        """Where the line that holds or ends at `end` begins, and whether that was found."""
        position, length, bound = end, _FIRST, end - SEARCHED_BYTES
        while position > 0:
            length = min(length, position)
            found = self.file.read(position - length, length).rfind(b"\n")
            if found >= 0:
                return position - length + found + 1, True
            position -= length
            known = self.index.last_newline_block(position)
            if known is not None:
                position = known
            elif position <= bound:
                return position, False
            length = position % BLOCK or BLOCK
        return 0, True
