"""Sorted rows that stay sorted: one that changes finds its new place without the others being looked at."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from typing import Any

from screens.trial_columns import MISSING, SortKey

PIECE = 500
"""Rows that are sorted in one piece; a piece takes one to two milliseconds."""

_OVERSAMPLED = 8
"""Entries that are looked at for each splitter, so that no bucket grows much beyond the others."""

NO_KEY: SortKey = (0, 0.0, "")

Entry = tuple[Any, Any, int, str]
"""First key, second key, position in the plan, id: what the place of a trial comes from."""


class Turned:
    """A text that sorts the other way round."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text

    def __lt__(self, other: Turned) -> bool:
        return other.text < self.text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Turned) and other.text == self.text

    def __hash__(self) -> int:
        return hash(self.text)


def entry(first: SortKey, second: SortKey, down: bool, second_down: bool, position: int, trial: str) -> Entry:
    """What goes downwards lies in an `Order` upwards and is read from its end: what has no value must come last all the
    same, and the second key keep its own direction."""
    if not down:
        return (first, _turned(second) if second_down else second, position, trial)
    return ((-first[0], first[1], first[2]), _from_end(second, second_down), -position, trial)


def _turned(key: SortKey) -> Any:
    return key if key in (MISSING, NO_KEY) else (key[0], -key[1], Turned(key[2]))


def _from_end(key: SortKey, down: bool) -> Any:
    if key == NO_KEY:
        return key
    if key == MISSING:
        return (-1, 0.0, "")
    return key if down else (key[0], -key[1], Turned(key[2]))


class Order:
    """`keys` are the ids from top to bottom. `down`: the entries are read from their end."""

    def __init__(self, down: bool = False) -> None:
        self.down = down
        self.keys: list[str] = []
        self.entries: dict[str, Entry] = {}
        self._sorted: list[Entry] = []

    def __len__(self) -> int:
        return len(self.keys)

    def row(self, key: str) -> int | None:
        found = self.entries.get(key)
        return None if found is None else self._row(bisect_left(self._sorted, found))

    def put(self, key: str, new: Entry | None) -> bool:
        """Give a trial its place, or take it out (None). True if a row came, went or moved."""
        old = self.entries.get(key)
        if old == new:
            return False
        before = None
        if old is not None:
            at = bisect_left(self._sorted, old)
            before = self._row(at)
            del self.keys[before], self._sorted[at], self.entries[key]
        if new is None:
            return True
        at = bisect_left(self._sorted, new)
        self._sorted.insert(at, new)
        self.entries[key] = new
        after = len(self.keys) - at if self.down else at
        self.keys.insert(after, key)
        return before != after

    def _row(self, at: int) -> int:
        return len(self.keys) - 1 - at if self.down else at

    def drain(self) -> Iterator[None]:
        """Let go of all of it in pieces: a hundred thousand entries are not freed in a moment."""
        self._sorted = []
        while self.entries:
            for _ in range(min(10 * PIECE, len(self.entries))):
                self.entries.popitem()
            yield

    def fill(self, parts: list[list[Entry]], buckets: list[list[Entry]]) -> Iterator[None]:
        """With entries in any order, in pieces of a few milliseconds. `buckets` is empty; who gave it frees it.

        They are dealt out to buckets between splitters, and each bucket is sorted by itself.
        """
        looked_at = [found for part in parts for found in part[:: max(1, PIECE // _OVERSAMPLED)]]
        splitters = sorted(looked_at)[_OVERSAMPLED::_OVERSAMPLED]
        buckets.extend([] for _ in range(len(splitters) + 1))
        for part in parts:
            for found in part:
                buckets[bisect_left(splitters, found)].append(found)
            yield
        for bucket in buckets:
            bucket.sort()
            self._sorted += bucket
            self.entries.update([(found[3], found) for found in bucket])
            self.keys += [found[3] for found in bucket]
            yield
        if self.down:
            self.keys.reverse()
