"""Search in a large file: chunk by chunk, to run in a thread, be cancelled, and go on when the file grows.

A hit is a line. Offsets of the first `MAX_HITS` are kept, later ones only counted: memory stays bounded.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable

from screens.log_index import Bytes

MAX_HITS = 500_000
_CHUNK = 256 * 1024
"""Small: while the pattern runs over one chunk, no other thread of this process moves."""
_LONGEST = 4 * 1024 * 1024
"""A line longer than this is searched in pieces."""

_CONTROL = re.compile(rb"\x1b\[[0-?]*[ -/]*[@-~]?|\x1b[PX\]^_][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[ -/]*[0-~]?")
_SPECIAL = re.compile(r"[\\.^$*+?{}\[\]|()]")
CASE_MARK = r"\C"


class BadPattern(ValueError):
    """The text is no regular expression; the message says why, for a person."""


class Pattern:
    """What a person typed: a regular expression. Upper and lower case are the same unless it holds `\\C`."""

    def __init__(self, text: str) -> None:
        self.text = text
        source = text.replace(CASE_MARK, "")
        self.empty = not source
        self._folds = CASE_MARK not in text
        flags = re.MULTILINE | (re.IGNORECASE if self._folds else 0)
        try:
            self.in_text = re.compile(source, flags)
            self._in_bytes = re.compile(source.encode("utf-8", "surrogateescape"), flags)
        except (re.error, OverflowError, RecursionError) as error:
            raise BadPattern(f"not a regular expression: {error}") from None
        self._in_line = re.compile(source, re.IGNORECASE if self._folds else 0)
        self._ascii = source.isascii()
        plain = bool(source) and not _SPECIAL.search(source) and (self._ascii or not self._folds)
        self._plain = source.encode("utf-8", "surrogateescape") if plain else b""
        if self._folds:
            self._plain = self._plain.lower()

    def find_all(self, data: bytes) -> list[int]:
        """Where the lines of `data` that match begin, matched as text without control sequences."""
        if b"\x1b" in data or b"\r" in data:
            return self._in_decoded(data)
        if self._plain:
            return self._find_plain(data.lower() if self._folds else data)
        return self._in_ascii(data) if self._ascii and data.isascii() else self._in_decoded(data)

    def _find_plain(self, data: bytes) -> list[int]:
        found: list[int] = []
        position = data.find(self._plain)
        while position >= 0:
            found.append(data.rfind(b"\n", 0, position) + 1)
            line_end = data.find(b"\n", position)
            position = data.find(self._plain, line_end) if line_end >= 0 else -1
        return found

    def _in_ascii(self, data: bytes) -> list[int]:
        found: list[int] = []
        position = 0
        while position < len(data) and (match := self._in_bytes.search(data, position)):
            start = data.rfind(b"\n", 0, match.start()) + 1
            if start == len(data):
                break  # an empty match behind the last newline: no line stands there
            end = data.find(b"\n", match.start())
            end = len(data) if end < 0 else end
            if match.end() <= end or self._in_bytes.search(data, start, end):
                found.append(start)
            position = end + 1
        return found

    def _in_decoded(self, data: bytes) -> list[int]:
        found: list[int] = []
        start = 0
        for line in data.split(b"\n"):
            if start == len(data):
                break
            text = _CONTROL.sub(b"", line).rstrip(b"\r").decode("utf-8", "backslashreplace")
            if self._in_line.search(text):
                found.append(start)
            start += len(line) + 1
        return found


class Search:
    """One pattern over one file. `extend` does the work; the rest may be asked meanwhile from another thread."""

    def __init__(self, file: Bytes, pattern: Pattern) -> None:
        self.pattern = pattern
        self.count = 0
        self.searched = 0
        self._file = file
        self._hits = array("Q")
        self._line = 0  # where the line that the next piece goes on with begins
        self._line_hit = False

    @property
    def complete(self) -> bool:
        return self.searched >= self._file.size

    def extend(self, stop: Callable[[], bool] = lambda: False) -> bool:
        """Searches to the end of the file as known now; False when stopped before. One caller at a time."""
        if not self.complete and self.searched - self._line < _LONGEST:
            self._take_back()
        while not self.complete:
            if stop():
                return False
            data = self._whole_lines(self.searched)
            if not data:
                return False  # cut since the last look; the next look says so
            self._take(data)
        return True

    def _take_back(self) -> None:
        """The last line had no end yet: it is looked at again as a whole, and may not match any more."""
        self.searched = self._line
        if self._line_hit:
            self._line_hit = False
            self.count -= 1
            if self._hits and self._hits[-1] == self._line:
                self._hits.pop()

    def _take(self, data: bytes) -> None:
        begins = self.searched
        for hit in self.pattern.find_all(data):
            start = begins + hit if hit else self._line
            if start == self._line and self._line_hit:
                continue
            self.count += 1
            if len(self._hits) < MAX_HITS:
                self._hits.append(start)
            self._line, self._line_hit = start, True
        last = data.rfind(b"\n") + 1
        if last and begins + last != self._line:
            self._line, self._line_hit = begins + last, False
        self.searched = begins + len(data)

    def _whole_lines(self, position: int) -> bytes:
        length = _CHUNK
        while True:
            data = self._file.read(position, length)
            if len(data) < length:
                return data
            end = data.rfind(b"\n") + 1
            if end:
                return data[:end]
            if length >= _LONGEST:
                return data
            length *= 4

    def next_after(self, offset: int) -> int | None:
        """The first hit whose line begins after `offset`, or the first of all; None without hits."""
        if not self._hits:
            return None
        found = bisect_right(self._hits, offset)
        return self._hits[found if found < len(self._hits) else 0]

    def last_before(self, offset: int) -> int | None:
        """The last hit whose line begins before `offset`, or the last of all; None without hits."""
        if not self._hits:
            return None
        return self._hits[bisect_left(self._hits, offset) - 1]

    def rank(self, offset: int) -> int | None:
        """Which hit the line at `offset` is, from 1; None where it is none."""
        found = bisect_left(self._hits, offset)
        return found + 1 if found < len(self._hits) and self._hits[found] == offset else None
