"""What a person looks for in a log: a regular expression over lines as they read, without control sequences.

RE2 does the work where it can: it is ten times as fast as `re` on patterns without a fixed beginning, and its time is
always linear in the text. What it does not know (lookaround, back-references), or means otherwise, goes to another
that gives up in time.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Protocol

import numpy as np

from screens.bounded_pattern import BoundedPattern, Timed, TooSlow

try:
    import re2
except ImportError:  # a platform without a wheel: slower, with the same results
    re2 = None

CASE_MARK = r"\C"
"""Anywhere in a pattern: upper and lower case are not the same."""
INVERSE_MARK = "!"
"""In front of a filter: the lines that do not match."""

_CONTROL = re.compile(rb"\x1b\[[0-?]*[ -/]*[@-~]?|\x1b[PX\]^_][^\x07\x1b\n]*(?:\x07|\x1b\\)?|\x1b[ -/]*[0-~]?")
_SPECIAL = re.compile(r"[\\.^$*+?{}\[\]|()]")
_MANY, _NEAR = 64, 400
"""Matching lines in a row, and their distance in bytes, from which on many are looked for at a time."""
_ENDS = re.compile(r"\\[AZ]")
_NO_SPACE = bytes.maketrans(b"\x1c\x1d\x1e\x1f", bytes(4))
"""Spaces to `re` in text but not in bytes; a match must not depend on what else stands in the chunk."""
_CLASSES = re.compile(r"\\[wWdDsSbB]")
# Read by RE2 without a complaint, but not as `re` reads them.
_MEANT_OTHERWISE = re.compile(r"\{,|\[:\^?\w+:\]|\[\[|\\[pPQEzZA]|\(\?\(|\\[0-9]")


class BadPattern(ValueError):
    """The text is no regular expression; the message says why, for a person."""


class Matches(Protocol):
    """Says which lines match. `empty`: it says nothing about any."""

    text: str

    @property
    def empty(self) -> bool: ...

    @property
    def inverse(self) -> bool: ...

    def find_all(self, data: bytes) -> list[int]:
        """Where the lines of `data` that match begin, in order."""
        ...


class Pattern:
    """What a person typed. Upper and lower case are the same unless it holds `\\C`."""

    inverse = False

    def __init__(self, text: str) -> None:
        self.text = text
        source = text.replace(CASE_MARK, "")
        self.empty = not source
        self._folds = CASE_MARK not in text
        flags = re.MULTILINE | (re.IGNORECASE if self._folds else 0)
        try:
            self.in_text = BoundedPattern(source, flags)
            self._in_bytes = BoundedPattern(source.encode("utf-8", "surrogateescape"), flags)
        except (re.error, ValueError) as error:
            raise BadPattern(f"not a regular expression: {error}") from None
        self._ascii = source.isascii()
        self._classes = _CLASSES.search(source) is not None
        self._of_lines = _ENDS.search(source) is not None  # the ends of the text are those of a line
        self._quick = _quick(source, self._folds)
        plain = bool(source) and not _SPECIAL.search(source) and (self._ascii or not self._folds)
        self._plain = source.encode("utf-8", "surrogateescape") if plain and self._quick is None else b""
        if self._folds:
            self._plain = self._plain.lower()

    def find_all(self, data: bytes) -> list[int]:
        """Where the lines of `data` that match begin, matched as text without control sequences. Raises `TooSlow`."""
        read = as_read(data)
        if self._of_lines:
            lines, starts = read.decode("utf-8", "replace").split("\n"), line_starts(data).tolist()
            line_pattern = self.in_text.timed()
            return [at for at, line in zip(starts, lines, strict=False) if line_pattern.search(line)]
        if self._plain:
            found = _lines_with(read.lower() if self._folds else read, self._plain)
        elif self._quick is not None and (not self._classes or read.isascii()):
            found = _matching_lines(self._quick, read, b"\n", self._in_bytes.timed() if self._ascii else None)
        elif read.isascii() and self._ascii:
            found = _matching_lines(self._in_bytes.timed(), read, b"\n")
        else:
            text = read.translate(_NO_SPACE).decode("utf-8", "replace")
            return _same_lines(_matching_lines(self.in_text.timed(), text, "\n"), _text_starts(text), line_starts(data))
        return found if read is data or not found else _same_lines(found, line_starts(read), line_starts(data))


class Inverse:
    """The lines that do not match."""

    inverse = True

    def __init__(self, pattern: Pattern) -> None:
        self.pattern = pattern
        self.text = INVERSE_MARK + pattern.text
        self.empty = pattern.empty

    def find_all(self, data: bytes) -> list[int]:
        starts = line_starts(data)
        found: list[int] = np.setdiff1d(starts, self.pattern.find_all(data), assume_unique=True).tolist()
        return found


class Within:
    """The lines that match, of those that a filter lets through."""

    inverse = False

    def __init__(self, pattern: Matches, passed: Matches) -> None:
        self.pattern = pattern
        self.passed = passed
        self.text = pattern.text
        self.empty = pattern.empty

    def find_all(self, data: bytes) -> list[int]:
        found = self.pattern.find_all(data)
        if not found:
            return found
        passed = set(self.passed.find_all(data))
        return [at for at in found if at in passed]


def filter_pattern(text: str) -> Pattern | Inverse:
    """A filter as a person types it: a pattern, or `!` and the pattern of the lines to leave out. `\\!` is a `!`."""
    if text.startswith(INVERSE_MARK):
        return Inverse(Pattern(text[1:]))
    return Pattern(text)


def as_read(data: bytes) -> bytes:
    """The same lines without control sequences and with bytes that are no text spelt out; `data` itself where there
    are none of either."""
    if b"\x1b" in data:
        data = _CONTROL.sub(b"", data)
    if b"\r" in data:  # one byte is looked for at ten times the speed of two
        while b"\r\n" in data:
            data = data.replace(b"\r\n", b"\n")
    if b"\x0b" in data:  # a space to `re`, but not to RE2
        data = data.replace(b"\x0b", b" ")
    if data.endswith(b"\r"):
        data = data.rstrip(b"\r")
    if not data.isascii():
        try:
            data.decode("utf-8")
        except UnicodeDecodeError:
            data = data.decode("utf-8", "backslashreplace").encode("utf-8")
    return data


def line_starts(data: bytes) -> np.ndarray[Any, np.dtype[np.int64]]:
    newlines = np.flatnonzero(np.frombuffer(data, np.uint8) == 10)
    starts = np.concatenate((np.zeros(1, np.int64), newlines + 1))
    return starts if data and starts[-1] < len(data) else starts[:-1]


def _text_starts(text: str) -> np.ndarray[Any, np.dtype[np.int64]]:
    starts, position = [0], text.find("\n")
    while position >= 0:
        starts.append(position + 1)
        position = text.find("\n", position + 1)
    return np.array(starts, np.int64)


def _same_lines(
    found: Iterable[int], read: np.ndarray[Any, np.dtype[np.int64]], meant: np.ndarray[Any, np.dtype[np.int64]]
) -> list[int]:
    """From where lines begin in one text to where the same lines begin in another."""
    numbers = np.searchsorted(read, np.fromiter(found, np.int64))
    same: list[int] = meant[numbers[numbers < len(meant)]].tolist()
    return same


def _lines_with(data: bytes, plain: bytes) -> list[int]:
    found: list[int] = []
    position = data.find(plain)
    while position >= 0:
        found.append(data.rfind(b"\n", 0, position) + 1)
        line_end = data.find(b"\n", position)
        position = data.find(plain, line_end) if line_end >= 0 else -1
    return found


def _matching_lines(expression: Any, data: Any, newline: Any, dense: Any = None) -> list[int]:
    """`expression`, timed or of RE2, over bytes or text. `dense`, the same and timed, takes over where lines match one
    after the other: it finds many at a time."""
    found: list[int] = []
    position = 0
    while position <= len(data) and (match := expression.search(data, position)):
        start = data.rfind(newline, 0, match.start()) + 1
        if start == len(data):
            break  # an empty match behind the last newline: no line stands there
        end = data.find(newline, match.start())
        end = len(data) if end < 0 else end
        if match.end() <= end or expression.search(data, start, end):
            found.append(start)
        position = end + 1
        if dense is not None and len(found) == _MANY:
            if position < _MANY * _NEAR:
                try:
                    return found + _many_lines(dense, data, position)
                except TooSlow:
                    pass  # RE2 goes on: it always ends
            dense = None
    return found


def _many_lines(expression: Timed[bytes], data: bytes, position: int) -> list[int]:
    """The lines from `position`, where one begins, that match."""
    rest = data[position:]
    starts = line_starts(rest)
    spans = np.array([match.span() for match in expression.finditer(rest)], np.int64).reshape(-1, 2)
    if not len(spans):
        return []
    lines = np.searchsorted(starts, spans[:, 0], "right") - 1
    ends = np.append(starts[1:] - 1, len(rest))[lines]
    if (spans[:, 1] > ends).any() or spans[-1, 0] >= len(rest):  # some span lines, or stand behind the last one
        return [position + at for at in _matching_lines(expression, rest, b"\n")]
    same: list[int] = (starts[np.unique(lines)] + position).tolist()
    return same


def _quick(source: str, folds: bool) -> Any:
    """RE2's own pattern; None where it can't have the meaning that it has to `re`."""
    if re2 is None or not source or _MEANT_OTHERWISE.search(source):
        return None
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(f"(?{'i' if folds else ''}m){source}".encode(), options)
    except (re2.error, UnicodeEncodeError):
        return None
