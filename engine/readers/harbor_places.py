"""Which attempt each trial of a Harbor job is, and which planned ones have no folder yet."""

from __future__ import annotations

from collections import Counter
from heapq import heappop, heappush

NOT_STARTED = "~not-started-"
"""Between task and number in the id of a trial that has no folder; Harbor gives no folder such a name."""

Pair = tuple[str, str]
"""A task and an arm."""


class TrialPlaces:
    """Attempts of a pair are numbered from 1; a number that was given back is given again, the lowest first. `pending`
    are the planned trials that have not begun, by the names that stand for them."""

    def __init__(self) -> None:
        self.pending: dict[str, Pair] = {}
        self._waiting: dict[Pair, dict[str, None]] = {}
        self._held: dict[str, tuple[Pair, int]] = {}
        self._highest: Counter[Pair] = Counter()
        self._free: dict[Pair, list[int]] = {}
        self._named: Counter[str] = Counter()

    def take(self, name: str, pair: Pair) -> int:
        """The number of this attempt."""
        free = self._free.get(pair)
        if free:
            number = heappop(free)
        else:
            self._highest[pair] += 1
            number = self._highest[pair]
        self._held[name] = pair, number
        return number

    def give_back(self, name: str) -> None:
        pair, number = self._held.pop(name)
        heappush(self._free.setdefault(pair, []), number)
        if self.pending.pop(name, None) is not None:
            del self._waiting[pair][name]

    def pair_of(self, name: str) -> Pair | None:
        held = self._held.get(name)
        return held[0] if held is not None else None

    def taken(self, pair: Pair) -> int:
        """Attempts of this pair that have a name, begun or not."""
        return self._highest[pair] - len(self._free.get(pair, ()))

    def begun(self, pair: Pair) -> int:
        return self.taken(pair) - len(self._waiting.get(pair, ()))

    def wait(self, pair: Pair) -> str:
        """A name for a planned trial that has not begun; to be taken next."""
        base = f"{pair[0].replace('/', '_')}{NOT_STARTED}"
        self._named[base] += 1
        name = f"{base}{self._named[base]}"
        self.pending[name] = pair
        self._waiting.setdefault(pair, {})[name] = None
        return name

    def waiting(self, pair: Pair) -> str | None:
        """The first one of this pair that has not begun."""
        return next(iter(self._waiting.get(pair, ())), None)
