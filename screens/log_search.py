"""Search in a large file: chunk by chunk, to run in a thread, be cancelled, and go on when the file grows.

A hit is a line. Kept is only how many hits each stretch of the file holds, 16 bytes for a quarter of a megabyte;
which lines they are is found again, in a millisecond, where somebody looks. So a pattern that every line of a
gigabyte matches costs no more memory than one that none does.
"""

from __future__ import annotations

import threading
from array import array
from bisect import bisect_left, bisect_right
from collections import OrderedDict
from collections.abc import Callable

from screens.bounded_pattern import TooSlow
from screens.log_index import Bytes
from screens.log_pattern import Matches
from screens.log_scan import first_from, last_round, next_round
from screens.log_streams import Keeps

_CHUNK = 256 * 1024
"""Small: while the pattern runs over one chunk, no other thread of this process moves."""
_LONGEST = 4 * 1024 * 1024
"""A line longer than this is searched in pieces; an inverse pattern goes by the first one."""
_KEPT_STRETCHES = 16


class Search:
    """One pattern over one file; of the lines that match only those count that `keeps` lets through. `extend` does the
    work; the rest may be asked meanwhile from another thread."""

    def __init__(self, file: Bytes, pattern: Matches, keeps: Keeps | None = None) -> None:
        self.pattern = pattern
        self.count = 0
        self.searched = 0
        self.too_slow = False  # the pattern takes for ever on what stands there: nothing further is searched
        self._file = file
        self._keeps = keeps
        self._starts = array("Q")  # where each stretch begins, always at a line
        self._before = array("Q")  # hits before it
        self._pieced: dict[int, list[int]] = {}  # hits of stretches whose last line was searched in pieces
        self._known: OrderedDict[tuple[int, int], list[int]] = OrderedDict()
        self._line = 0  # where the line that the next piece goes on with begins
        self._line_hit = False
        self._lock = threading.Lock()

    @property
    def complete(self) -> bool:
        return self.searched >= self._file.size

    # --- searching ---

    def extend(self, stop: Callable[[], bool] = lambda: False) -> bool:
        """Searches to the end of the file as known now; False when stopped before. One caller at a time."""
        if self.too_slow:
            return False
        if not self.complete and self.searched - self._line < _LONGEST:
            self._take_back()
        while not self.complete:
            if stop():
                return False
            data = self._whole_lines(self.searched)
            if not data:
                return False  # cut since the last look; the next look says so
            try:
                self._take(data)
            except TooSlow:
                self.too_slow = True
                return False
        return True

    def cut_back(self, offset: int) -> None:
        """What stands from `offset` on is another text now. Not while `extend` runs."""
        if offset >= self.searched:
            return
        with self._lock:
            stretch = max(0, bisect_right(self._starts, offset) - 1)
            self.searched = self._line = self._starts[stretch]
            self.count = self._before[stretch]
            self._line_hit = False
            del self._starts[stretch:], self._before[stretch:]
            self._pieced = {number: found for number, found in self._pieced.items() if number < stretch}
            self._known.clear()

    def _take_back(self) -> None:
        """The last line had no end yet: it is looked at again as a whole, and may not match any more."""
        with self._lock:
            self.searched = self._line
            if self._line_hit:
                self._line_hit = False
                self.count -= 1
                pieced = self._pieced.get(len(self._starts) - 1)
                if pieced and pieced[-1] == self._line:
                    pieced.pop()

    def _take(self, data: bytes) -> None:
        begins = self.searched
        goes_on = begins != self._line
        if goes_on and self._starts:
            last = len(self._starts) - 1
            if last not in self._pieced:
                self._pieced[last] = list(self._hits_in(last))
        new: list[int] = []
        line, line_hit = self._line, self._line_hit
        for start in self._kept([begins + hit if hit else line for hit in self.pattern.find_all(data)]):
            if start == line and (line_hit or (goes_on and self.pattern.inverse)):
                continue
            new.append(start)
            line, line_hit = start, True
        last_line = data.rfind(b"\n") + 1
        if last_line and begins + last_line != line:
            line, line_hit = begins + last_line, False
        with self._lock:
            last = len(self._starts) - 1
            if not goes_on and (last < 0 or last in self._pieced or begins - self._starts[last] >= _CHUNK):
                self._starts.append(begins)
                self._before.append(self.count)
            elif last in self._pieced:
                self._pieced[last] += new
            self.count += len(new)
            self._line, self._line_hit = line, line_hit
            self.searched = begins + len(data)

    def _kept(self, starts: list[int]) -> list[int]:
        return starts if self._keeps is None else self._keeps(starts)

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

    def look_ahead(self, offset: int, most: int, stop: Callable[[], bool]) -> int | None:
        """The first hit from the line at `offset` on, within so many bytes, whatever was searched so far."""
        return first_from(self._file, self.pattern, offset, stop, self._keeps, most)

    def look_round(self, offset: int, step: int, stop: Callable[[], bool]) -> int | None:
        """The next hit from the line at `offset` on, or the last before it, round the file's end, whatever was searched
        so far."""
        look = next_round if step > 0 else last_round
        return look(self._file, self.pattern, offset, stop, self._keeps)

    # --- what was found ---

    def at_or_after(self, offset: int) -> int | None:
        """The first hit whose line begins at `offset` or behind it."""
        with self._lock:
            stretch, count = bisect_right(self._starts, offset) - 1, len(self._starts)
        if stretch >= 0:
            found = self._hits_in(stretch)
            place = bisect_left(found, offset)
            if place < len(found):
                return found[place]
        stretch += 1
        while stretch < count:
            found = self._hits_in(stretch) if self._hit_count(stretch) else []
            if found:
                return found[0]
            stretch = max(stretch + 1, self._next_with_hits(stretch))
        return None

    def before(self, offset: int) -> int | None:
        """The last hit whose line begins before `offset`."""
        with self._lock:
            stretch = bisect_left(self._starts, offset) - 1
        while stretch >= 0:
            found = self._hits_in(stretch) if self._hit_count(stretch) else []
            place = bisect_left(found, offset)
            if place:
                return found[place - 1]
            with self._lock:  # the last stretch before this one that holds any
                stretch = bisect_left(self._before, self._before[stretch]) - 1
        return None

    def next_after(self, offset: int) -> int | None:
        """The first hit whose line begins after `offset`, or the first of all; None without hits."""
        at = self.at_or_after(offset + 1)
        return self.at_or_after(0) if at is None else at

    def last_before(self, offset: int) -> int | None:
        """The last hit whose line begins before `offset`, or the last of all; None without hits."""
        at = self.before(offset)
        return self.before(self.searched + 1) if at is None else at

    def rank(self, offset: int) -> int | None:
        """Which hit the line at `offset` is, from 1; None where it is none."""
        with self._lock:
            stretch = bisect_right(self._starts, offset) - 1
            before = self._before[stretch] if stretch >= 0 else 0
        if stretch < 0 or not self._hit_count(stretch):
            return None
        found = self._hits_in(stretch)
        place = bisect_left(found, offset)
        return before + place + 1 if place < len(found) and found[place] == offset else None

    def _hit_count(self, stretch: int) -> int:
        with self._lock:
            if stretch >= len(self._starts):
                return 0
            until = self._before[stretch + 1] if stretch + 1 < len(self._before) else self.count
            return until - self._before[stretch]

    def _next_with_hits(self, stretch: int) -> int:
        with self._lock:
            if stretch + 1 >= len(self._before):
                return len(self._before)
            return bisect_right(self._before, self._before[stretch + 1]) - 1

    def _hits_in(self, stretch: int) -> list[int]:
        with self._lock:
            if stretch >= len(self._starts):
                return []
            if stretch in self._pieced:
                return list(self._pieced[stretch])
            start = self._starts[stretch]
            end = self._starts[stretch + 1] if stretch + 1 < len(self._starts) else self.searched
            found = self._known.get((start, end))
        if found is None:
            try:
                found = self._kept([start + at for at in self.pattern.find_all(self._file.read(start, end - start))])
            except TooSlow:
                found = []  # a loaded machine, or another text by now
            with self._lock:
                self._known[start, end] = found
                while len(self._known) > _KEPT_STRETCHES:
                    self._known.popitem(last=False)
        return found
