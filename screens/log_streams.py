"""Which lines of a log came on stderr, and the lines of one stream alone: a line is of the stream that began it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from engine.log_streams import MOST_BYTES, Stream, StreamRanges, streams_path
from engine.regular_file import regular_file
from screens.log_index import Bytes, LineIndex
from screens.log_lines import Line, LineReader

Keeps = Callable[[list[int]], list[int]]
"""Of places where lines begin, in order, those that are to be seen."""


class LogStreams:
    """What is known of one log. `read_on` belongs to one thread at a time; all else may be asked from another.

    `seen` is the part of the log that answers are known for: a change is noted before the bytes that it speaks of, so
    it is all of the log that was there when the notes were read.
    """

    def __init__(self, log: Path) -> None:
        self.seen = 0
        self._path = streams_path(log)
        self._ranges = StreamRanges()
        self._file: tuple[int, int] | None = None
        self._read = 0

    @property
    def told(self) -> bool:
        return self._ranges.told

    @property
    def unknown_from(self) -> int | None:
        return self._ranges.unknown_from

    def read_on(self, size: int) -> int | None:
        """Takes in what was noted since the last time; `size` is that of the log, looked at before. Returns from where
        on something is known to be another than before; None where nothing is. Never raises."""
        changed = None
        try:
            with regular_file(self._path) as file:
                status = os.fstat(file.fileno())
                this = (status.st_dev, status.st_ino)
                if this != self._file or status.st_size < self._read:
                    changed = 0 if self._file is not None else None
                    self._ranges, self._file, self._read = StreamRanges(), this, 0
                if self._read <= MOST_BYTES:
                    file.seek(self._read)
                    data = file.read(MOST_BYTES + 1 - self._read)
                    self._read += len(data)
                    found = self._ranges.feed(data)
                    changed = found if changed is None else changed
        except OSError:
            pass  # most logs have none
        self.seen = max(self.seen, size)
        return changed

    def at(self, start: int) -> Stream | None:
        """The stream of the line that begins there; None where that is not read yet."""
        return self._ranges.at(start) if start < self.seen else None

    def only(self, stream: Stream) -> OneStream:
        return OneStream(self, stream)

    def next_of(self, stream: Stream, offset: int) -> int | None:
        found = self._ranges.next_of(stream, offset)
        return found if found is not None and found < self.seen else None

    def last_of(self, stream: Stream, offset: int) -> int | None:
        return self._ranges.last_of(stream, min(offset, self.seen))

    def kept(self, stream: Stream, starts: list[int]) -> list[int]:
        return self._ranges.kept(stream, starts)


class OneStream:
    """One stream of a log. What nobody knows the stream of belongs to each: nothing that could be meant is hidden."""

    def __init__(self, streams: LogStreams, stream: Stream) -> None:
        self.stream = stream
        self._streams = streams

    def kept(self, starts: list[int]) -> list[int]:
        return self._streams.kept(self.stream, starts)

    def next(self, offset: int) -> int | None:
        """The first of its places at `offset` or behind it."""
        return self._streams.next_of(self.stream, offset)

    def last(self, offset: int) -> int | None:
        """The last of its places before `offset`."""
        return self._streams.last_of(self.stream, offset)

    def seen_of(self, file: Bytes) -> Bytes:
        """As much of the log as is known to be of one stream or the other."""
        return _Seen(file, self._streams)


class _Seen:
    def __init__(self, file: Bytes, streams: LogStreams) -> None:
        self._file = file
        self._streams = streams

    @property
    def size(self) -> int:
        return min(self._file.size, self._streams.seen)

    def read(self, offset: int, length: int) -> bytes:
        return self._file.read(offset, max(0, min(length, self.size - offset)))


_FAR = 64
"""Ranges in which no line begins, from which on their place is kept."""
_MOST_GAPS = 8


class StreamReader(LineReader):
    """Every place leads to the next line of the stream; numbers stay those of the file. What lies between two of its
    ranges is not read, however long it is. Where many of its ranges begin no line, that is found out once: a gap, from
    and to the beginnings of lines."""

    gaps = True

    def __init__(self, file: Bytes, index: LineIndex, one: OneStream) -> None:
        super().__init__(file, index)
        self.one = one
        self._all = LineReader(file, index)
        self._gaps: tuple[tuple[int, int], ...] = ()  # taken anew as a whole: a thread that saves lines may read them

    def line_at(self, start: int) -> Line | None:
        """The first line of the stream that begins at `start`, where a line begins, or behind it."""
        at = start = max(0, start)
        found, steps = None, 0
        while (place := self.one.next(at := self._behind_gap(at))) is not None:
            if place == at:
                found = self._all.line_at(at)
                break
            other = self._all.line_at(place - 1)  # as far as its end: a line may begin behind that
            if other is None or (other.whole and other.end == other.after):
                break  # the last line
            at, steps = other.after, steps + 1
        if steps > _FAR:
            self._found_gap(start, at)
        return found

    def line_before(self, start: int) -> Line | None:
        """The last line of the stream that begins before `start`."""
        at = first = start
        found, steps = None, 0
        while (place := self.one.last(at := self._before_gap(at))) is not None:
            line = self._all.line_of(place)
            if line is None or self.one.kept([line.start]):
                found = line
                break
            at, steps = line.start, steps + 1
            first = at if steps == 1 else first
        if steps > _FAR:
            self._found_gap(found.after if found is not None else 0, first)
        return found

    def _found_gap(self, begin: int, end: int) -> None:
        self._gaps = (*self._gaps[1 - _MOST_GAPS :], (begin, end))

    def _behind_gap(self, at: int) -> int:
        return next((end for begin, end in self._gaps if begin <= at < end), at)

    def _before_gap(self, at: int) -> int:
        return next((begin for begin, end in self._gaps if begin < at <= end), at)

    def line_of(self, offset: int) -> Line | None:
        """The first line of the stream from the line of `offset` on, or else the last of all."""
        line = self._all.line_of(offset)
        found = self.line_at(line.start) if line is not None else None
        return found if found is not None else self.line_before(self.file.size)
