"""Which bytes of a scrubbed log came from stderr: scrubbing moves them, so the file beside the log is written anew."""

from __future__ import annotations

from bisect import bisect_left
from pathlib import Path

from engine.log_streams import Stream, changes_text, read_ranges


class ScrubbedStreams:
    """Gets a log's pieces, in order, each as it was and as it is now. A line keeps its stream; `failed` where a piece
    has other lines than before, so that none can be told any more."""

    def __init__(self, log: Path) -> None:
        self.failed = False
        self._changes = read_ranges(log).changes()
        self._offsets = [offset for offset, _ in self._changes]
        self._moved: list[tuple[int, Stream]] = []
        self._before = 0
        self._after = 0

    def piece(self, old: bytes, new: bytes) -> None:
        first = bisect_left(self._offsets, self._before)
        last = bisect_left(self._offsets, self._before + len(old))
        if first < last:
            old_starts, new_starts = _starts(old), _starts(new)
            self.failed = self.failed or len(old_starts) != len(new_starts)
            line = 0
            for offset, stream in self._changes[first:last]:
                at = offset - self._before
                while line + 1 < len(old_starts) and old_starts[line + 1] <= at:
                    line += 1
                if not self.failed:
                    end = new_starts[line + 1] if line + 1 < len(new_starts) else len(new)
                    inside = min(at - old_starts[line], end - new_starts[line])
                    self._moved.append((self._after + new_starts[line] + inside, stream))
        self._before += len(old)
        self._after += len(new)

    def text(self) -> bytes:
        """Of the file beside the scrubbed log. What was noted of bytes that never came is left out."""
        return changes_text(self._moved)


def _starts(data: bytes) -> list[int]:
    starts, at = [0], data.find(b"\n")
    while at >= 0:
        starts.append(at + 1)
        at = data.find(b"\n", at + 1)
    return starts
