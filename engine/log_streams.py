"""Which bytes of a log came from stderr: a small file beside the log, which holds both streams as they came.

`<log>.streams` has a line for each change of stream, `<offset> <stream>`, appended before the bytes that it speaks of.
What stands before its first line came from stdout; of a log without such a file nothing is known (nothing came on
stderr, or nobody kept it). A line that goes back to an earlier offset takes the place of all that stood from there on:
so a later writer says where it begins, whatever an earlier one left. The stream's name ends a line, so that one which
was cut off reads as none.
"""

from __future__ import annotations

import os
import re
import threading
from array import array
from bisect import bisect_right
from enum import StrEnum
from pathlib import Path

from engine.regular_file import regular_file

SUFFIX = ".streams"
MOST_BYTES = 1 << 20
"""Of the file beside a log: some 60,000 changes. What comes behind them is of `unknown` streams."""
_ROOM = 64
"""Of these bytes, for the word that no more is kept."""
_RECORD = re.compile(rb"^([0-9]{1,15}) (stdout|stderr|unknown)$", re.MULTILINE)


class Stream(StrEnum):
    STDOUT = "stdout"
    STDERR = "stderr"
    UNKNOWN = "unknown"


_STREAMS = tuple(Stream)


def streams_path(log: Path) -> Path:
    """The file that tells the streams of a log apart; most logs have none."""
    return log.with_name(log.name + SUFFIX)


def is_beside(path: Path) -> bool:
    """Tells the streams of a log apart that stands beside it."""
    return path.name.endswith(SUFFIX) and path.with_suffix("").is_file()


class StreamsFile:
    """Appends to it. Nothing is written before the first byte of stderr. A failed write is remembered in `failed`:
    from there on nothing is noted, and the log goes on."""

    def __init__(self, log: Path) -> None:
        self.failed: OSError | None = None
        self._path = streams_path(log)
        self._descriptor: int | None = None
        try:
            self._size = self._path.lstat().st_size
        except OSError:
            self._size = 0
        # of what an earlier writer left only this is sure: that what comes next has to be said
        self._now: Stream | None = None if self._size else Stream.STDOUT
        self._full = False

    def note(self, stream: str, offset: int) -> None:
        """The bytes from `offset` of the log on come from this stream. Call it before they are written."""
        now = Stream.STDERR if stream == Stream.STDERR else Stream.STDOUT
        if now is self._now or self._full or self.failed is not None:
            return
        record = b"%d %s\n" % (offset, now.encode())
        if self._now is None:
            record = b"\n" + record  # behind a line that was cut off, perhaps
        if self._size + len(record) > MOST_BYTES - _ROOM:
            self._full = True
            record = b"\n%d %s\n" % (offset, Stream.UNKNOWN.encode())
            if self._size + len(record) > MOST_BYTES:
                return
        try:
            self._append(record)
        except OSError as error:
            self.failed = error
        self._now = now

    def close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _append(self, record: bytes) -> None:
        if self._descriptor is None:
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
            self._descriptor = os.open(self._path, flags, 0o666)
        rest = record
        while rest:
            written = os.write(self._descriptor, rest)
            self._size += written
            rest = rest[written:]


class StreamRanges:
    """What such a file says, as far as it was read: `feed` it from its beginning. It may say anything, as anybody may
    have written it. One thread feeds, others may ask meanwhile."""

    def __init__(self) -> None:
        self._starts = array("Q", [0])
        self._kinds = bytearray([_STREAMS.index(Stream.STDOUT)])
        self._rest = b""
        self._taken = 0
        self._told = False
        self._lock = threading.Lock()

    @property
    def told(self) -> bool:
        """Something is known."""
        return self._told

    @property
    def full(self) -> bool:
        """Nothing further is taken in."""
        return self._taken >= MOST_BYTES

    @property
    def unknown_from(self) -> int | None:
        """From where on to the end nothing is known any more."""
        with self._lock:
            last_unknown = _STREAMS[self._kinds[-1]] is Stream.UNKNOWN
            return self._starts[-1] if last_unknown else None

    def feed(self, data: bytes) -> int | None:
        """Takes in what was appended. Returns the least offset from which on something is known to be another than
        before, None where nothing is."""
        over = self._taken + len(data) > MOST_BYTES
        data = data[: MOST_BYTES - self._taken]
        self._taken += len(data)
        text = self._rest + data
        end = text.rfind(b"\n") + 1
        self._rest = text[end:][-_ROOM:]
        changed: int | None = None
        with self._lock:
            for record in _RECORD.finditer(text, 0, end):
                offset = int(record[1])
                self._told = True
                if self._change(offset, Stream(record[2].decode())):
                    changed = offset if changed is None else min(changed, offset)
            if over and self._change(self._starts[-1], Stream.UNKNOWN):
                changed = self._starts[-1] if changed is None else min(changed, self._starts[-1])
        return changed

    def _change(self, offset: int, stream: Stream) -> bool:
        taken_back = False
        while len(self._starts) > 1 and self._starts[-1] >= offset:
            self._starts.pop()
            self._kinds.pop()
            taken_back = True
        kind = _STREAMS.index(stream)
        if offset == 0:
            taken_back = taken_back or self._kinds[0] != kind
            self._kinds[0] = kind
            return taken_back
        if self._kinds[-1] == kind:
            return taken_back
        self._starts.append(offset)
        self._kinds.append(kind)
        return True

    # --- what is asked ---

    def at(self, offset: int) -> Stream:
        with self._lock:
            return _STREAMS[self._kinds[bisect_right(self._starts, offset) - 1]]

    def next_of(self, stream: Stream, offset: int) -> int | None:
        """The first place at `offset` or behind it that may be of this stream: of `unknown` ones it may."""
        with self._lock:
            place = bisect_right(self._starts, offset) - 1
            if self._may_be(stream, place):
                return offset
            place += 1  # the next one is of another stream than this
            return self._starts[place] if place < len(self._starts) else None

    def last_of(self, stream: Stream, offset: int) -> int | None:
        """The last place before `offset` that may be of this stream."""
        if offset <= 0:
            return None
        with self._lock:
            place = bisect_right(self._starts, offset - 1) - 1
            if self._may_be(stream, place):
                return offset - 1
            return self._starts[place] - 1 if place else None

    def kept(self, stream: Stream, offsets: list[int]) -> list[int]:
        """Those offsets that may be of this stream, in order."""
        with self._lock:
            return [at for at in offsets if self._may_be(stream, bisect_right(self._starts, at) - 1)]

    def changes(self) -> list[tuple[int, Stream]]:
        """All changes in order; the beginning is one only where it is not of stdout."""
        with self._lock:
            found = [(at, _STREAMS[kind]) for at, kind in zip(self._starts, self._kinds, strict=True)]
        return found if found[0][1] is not Stream.STDOUT else found[1:]

    def _may_be(self, stream: Stream, place: int) -> bool:
        return _STREAMS[self._kinds[place]] in (stream, Stream.UNKNOWN)


def read_ranges(log: Path) -> StreamRanges:
    """All that is known of a log's streams now. Never raises."""
    ranges = StreamRanges()
    try:
        with regular_file(streams_path(log)) as file:
            ranges.feed(file.read(MOST_BYTES + 1))
    except OSError:
        pass
    return ranges


def changes_text(changes: list[tuple[int, Stream]]) -> bytes:
    """A file that says the same."""
    return b"".join(b"%d %s\n" % (offset, stream.encode()) for offset, stream in changes)
