"""Several logs read as one, line by line in the order of their times: bytes as of a file, made up as they are read.

Kept is an index of 24 bytes a line: when, whose and where, and at which offset of the whole. Lines stay in the order of
their own file: one without a time, or with an earlier one, stays behind its predecessor.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from screens.log_file import Change, GrowingFile
from screens.log_index import BLOCK, LineIndex
from screens.log_lines import LineReader
from screens.log_times import LogTimes

MOST_LINES = 4_000_000
"""Of all logs together, 96 MB; of what is longer the beginnings are left out."""
_HEAD = 240
_CHUNK = 1 << 20
_OFFSET_BITS = 48
_LONGEST = 4 * 1024 * 1024
"""Bytes of one line that are part of the whole."""

Index = np.ndarray[Any, np.dtype[Any]]
_LINE = np.dtype([("at", "<f8"), ("where", "<u8"), ("start", "<u8")])
"""`where`: whose line it is, and its offset there; `start`: where it begins in the whole."""


@dataclass
class _Part:
    """One of the logs. `read` is where its first line that is not in the whole begins."""

    file: GrowingFile
    times: LogTimes
    index: LineIndex  # as it was when the log was begun with
    read: int = 0
    at: float = float("-inf")  # of the last line that is


@dataclass
class Merged:
    """What a thread has made: the new order, and from which offset on it is another than before."""

    lines: Index
    size: int
    changed_from: int


class MergedFile:
    """`gather` does the work, in a thread; `take` puts its result in place, in the UI thread. Between the two nothing
    that is read changes."""

    def __init__(self, files: Sequence[GrowingFile], most_lines: int = MOST_LINES) -> None:
        self.size = 0
        self.files = list(files)
        self.most_lines = most_lines
        self.untimed: list[int] = []
        self.skipped: dict[int, int] = {}
        self._parts: list[_Part | None] = [None] * len(self.files)
        self._lines: Index = np.empty(0, _LINE)
        self._begun = False

    # --- as a file ---

    missing = ""
    gone = False

    def look(self) -> Change:
        """Nothing changes by itself: see `take`."""
        return Change.NONE

    def close(self) -> None:
        for file in self.files:
            file.close()

    def read(self, offset: int, length: int) -> bytes:
        lines, size = self._lines, self.size
        length = min(length, size - offset)
        if offset < 0 or length <= 0:
            return b""
        first = int(np.searchsorted(lines["start"], offset, "right")) - 1
        last = int(np.searchsorted(lines["start"], offset + length, "left"))
        found = lines[first:last]
        begin = int(found["start"][0])
        ends = np.append(found["start"][1:], lines["start"][last] if last < len(lines) else size)
        lengths = ends - found["start"]
        whose, places = found["where"] >> _OFFSET_BITS, found["where"] & ((1 << _OFFSET_BITS) - 1)
        pieces: list[bytes] = [b""] * len(found)
        for number in np.unique(whose).tolist():
            own = np.flatnonzero(whose == number)
            lowest = int(places[own[0]])
            span = int(places[own[-1]] + lengths[own[-1]]) - lowest
            data = self.files[number].read(lowest, span)
            for line in own.tolist():
                place, size_of = int(places[line]) - lowest, int(lengths[line])
                piece = data[place : place + size_of - 1]
                pieces[line] = piece.ljust(size_of - 1, b" ") + b"\n"
        return b"".join(pieces)[offset - begin : offset - begin + length]

    # --- whose and when ---

    @property
    def lines(self) -> int:
        return len(self._lines)

    def whose(self, offset: int) -> int:
        """Which log the line that begins at `offset` is from."""
        place = int(np.searchsorted(self._lines["start"], offset, "right")) - 1
        return int(self._lines["where"][place] >> _OFFSET_BITS) if place >= 0 else 0

    def at(self, offset: int) -> float | None:
        place = int(np.searchsorted(self._lines["start"], offset, "right")) - 1
        return float(self._lines["at"][place]) if place >= 0 else None

    # --- in a thread ---

    def gather(self, stop: Callable[[], bool] = lambda: False) -> Merged | None:
        """The order with all that came since the last time; None where nothing did, or it was stopped."""
        again = not self._begun
        for file in self.files:
            again = file.look() is Change.REPLACED or again
        if again or len(self._lines) > self.most_lines * 5 // 4:
            self._begin(stop)
        old = np.empty(0, _LINE) if again or not self._begun else self._lines
        self._begun = True
        new: list[Index] = []
        for number, part in enumerate(self._parts):
            if part is None and number in self.untimed:
                part = self._part(number, stop)
            if part is None or part.read >= part.file.size:
                continue
            if old.size and part.read < part.file.size:
                # its last line may have had no end yet
                mine = np.flatnonzero(old["where"] == (number << _OFFSET_BITS) + part.read)
                old = np.delete(old, mine)
            found = self._scan(number, part, stop)
            if stop():
                return None
            if found is not None:
                new.append(found)
        if not new and len(old) == len(self._lines):
            return None
        return self._ordered(old, new)

    def take(self, merged: Merged) -> None:
        self._lines, self.size = merged.lines, merged.size

    def _begin(self, stop: Callable[[], bool]) -> None:
        self.untimed, self.skipped = [], {}
        for number in range(len(self.files)):
            self._parts[number] = self._part(number, stop)
        self._skip()

    def _skip(self) -> None:
        """Of what is too much in all, the beginnings of the longest are left out."""
        known = [(part.index.lines, number, part) for number, part in enumerate(self._parts) if part is not None]
        room = self.most_lines
        for place, (lines, number, part) in enumerate(sorted(known, key=lambda each: each[:2])):
            share = room // (len(known) - place)
            if lines > share:
                self.skipped[number] = lines - share
                part.read = part.index.start_of(lines - share) or 0
            room -= min(lines, share)

    def _part(self, number: int, stop: Callable[[], bool]) -> _Part | None:
        file = self.files[number]
        reader = LineReader(file, LineIndex(file))
        times = LogTimes.of(file.path, reader)
        if times.first(reader) is None and times.last(reader) is None:
            if number not in self.untimed:
                self.untimed.append(number)
            return None
        if number in self.untimed:
            self.untimed.remove(number)
        reader.index.extend(stop)
        return _Part(file, times, reader.index)

    def _scan(self, number: int, part: _Part, stop: Callable[[], bool]) -> Index | None:
        """Its lines from `read` on. The last one is read again the next time if it has no end yet."""
        ats, places, lengths = array("d"), array("Q"), array("Q")  # lists would take four times the memory
        position, at = part.read, part.at
        seconds = part.times.seconds
        while position < part.file.size and not stop():
            data = part.file.read(position, _CHUNK)
            if not data:
                break
            end = data.rfind(b"\n") + 1
            if not end and position + len(data) < part.file.size:
                length = self._far_end(part.file, position + len(data)) - position
                told = seconds(data[:_HEAD])
                at = at if told is None else max(at, told)
                ats.append(at)
                places.append(position)
                lengths.append(min(length, _LONGEST))
                position += length
                continue
            last = position + len(data) >= part.file.size
            for line in (data if last else data[:end]).split(b"\n")[: None if last else -1]:
                if position >= part.file.size:
                    break
                told = seconds(line[:_HEAD])
                if told is not None and told > at:
                    at = told
                ats.append(at)
                places.append(position)
                lengths.append(len(line) + 1)
                position += len(line) + 1
        if not ats:
            return None
        open_end = position > part.file.size
        part.read = places[-1] if open_end else position
        part.at = (ats[-2] if len(ats) > 1 else part.at) if open_end else ats[-1]
        found = np.empty(len(ats), _LINE)
        found["at"], found["start"] = ats, lengths  # lengths until the order is known
        found["where"] = np.frombuffer(places, np.uint64) | np.uint64(number << _OFFSET_BITS)
        if found["at"][0] == float("-inf"):  # before the first time of its log: with it
            known = found["at"][found["at"] > float("-inf")]
            found["at"][found["at"] == float("-inf")] = known[0] if len(known) else 0.0
        return found

    @staticmethod
    def _far_end(file: GrowingFile, position: int) -> int:
        while data := file.read(position, BLOCK):
            found = data.find(b"\n")
            if found >= 0:
                return position + found + 1
            position += len(data)
        return file.size

    def _ordered(self, old: Index, new: list[Index]) -> Merged:
        lengths = np.diff(np.append(self._lines["start"], np.uint64(self.size))).astype(np.uint64)
        if len(old) != len(self._lines):
            lengths = lengths[np.isin(self._lines["where"], old["where"])] if len(old) else lengths[:0]
        first = min((float(found["at"][0]) for found in new), default=float("inf"))
        kept = int(np.searchsorted(old["at"], first, "right"))
        if len(old) < len(self._lines) and len(old):
            same = min(len(old), len(self._lines))
            differ = np.flatnonzero(old["where"][:same] != self._lines["where"][:same])
            kept = min(kept, int(differ[0]) if len(differ) else same)
        tail = old[kept:].copy()
        tail["start"] = lengths[kept:]
        late = np.concatenate([tail, *new])
        late = late[np.argsort(late["at"], kind="stable")]
        merged = np.concatenate([old[:kept], late])
        begin = int(old["start"][kept - 1] + lengths[kept - 1]) if kept else 0
        ends = np.cumsum(late["start"], dtype=np.uint64) + np.uint64(begin)
        size = int(ends[-1]) if len(ends) else begin
        merged["start"][kept:] = np.concatenate([[np.uint64(begin)], ends[:-1]]) if len(ends) else []
        return Merged(merged, size, begin)
