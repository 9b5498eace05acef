"""Only the lines of a file that a filter lets through, as far as the file has been looked through for them."""

from __future__ import annotations

from screens.log_index import Bytes, LineIndex
from screens.log_lines import Line, LineReader
from screens.log_search import Search


class FilteredReader(LineReader):
    """Every place leads to the next line that passes; numbers stay those of the file."""

    gaps = True

    def __init__(self, file: Bytes, index: LineIndex, passed: Search) -> None:
        super().__init__(file, index)
        self.passed = passed

    def line_at(self, start: int) -> Line | None:
        """The first line that passes and begins at `start` or behind it."""
        at = self.passed.at_or_after(start) if start >= 0 else None
        return None if at is None else super().line_at(at)

    def line_before(self, start: int) -> Line | None:
        """The last line that passes and begins before `start`."""
        at = self.passed.before(start)
        return None if at is None else super().line_at(at)

    def line_of(self, offset: int) -> Line | None:
        """The first line that passes from the line of `offset` on, or else the last of all."""
        line = super().line_of(offset)
        return line if line is not None else self.line_before(self.file.size)
