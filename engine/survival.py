"""How long trials take, from those that have ended and those that haven't yet (Kaplan and Meier's estimate).

Short trials end first, so what has ended says too little of what has not. Each trial counts for as long as it was seen:
of those that had taken as long, how large a part ended then? Beyond the longest that ended nothing was seen; there the
rest is as long as all time at work divided by all ends, which is what a hazard that never changes comes to.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable

_STEP = math.log(1.1)


def bin_of(seconds: float) -> int:
    """Durations are told apart by a tenth, so that a hundred thousand of them are a hundred numbers."""
    return int(math.log(max(1.0, seconds)) / _STEP)


class Survival:
    """`ended`: how many took how long, by `bin_of`; `at_work` are seconds of all trials, `unfinished` of each that has
    not ended. At least one has."""

    def __init__(self, ended: dict[int, int], at_work: float, unfinished: Iterable[float]) -> None:
        leave: dict[int, int] = {}
        for seconds in unfinished:
            place = bin_of(seconds)
            leave[place] = leave.get(place, 0) + 1
        self.beyond = at_work / sum(ended.values())
        """Seconds that are left of a trial which has taken longer than any that ended."""
        at_risk = sum(ended.values()) + sum(leave.values())
        share = 1.0
        self._at: list[float] = []  # where some ended
        self._share = [1.0]  # how many last longer; one more than `_at`
        for place in sorted({*ended, *leave}):
            if ends := ended.get(place, 0):
                share *= max(0.0, 1.0 - ends / at_risk)
                self._at.append(math.exp((place + 0.5) * _STEP))
                self._share.append(share)
            at_risk -= ends + leave.get(place, 0)
        self._area = [share * self.beyond] * len(self._at)  # from each place on
        for number in range(len(self._at) - 2, -1, -1):
            width = self._at[number + 1] - self._at[number]
            self._area[number] = self._area[number + 1] + self._share[number + 1] * width

    def rest(self, taken: float = 0.0) -> float:
        """Mean seconds that are left of a trial which has taken so many."""
        place = bisect_right(self._at, taken)
        if place == len(self._at) or not self._share[place]:
            return self.beyond
        share = self._share[place]
        return self._at[place] - taken + self._area[place] / share

    def last(self, taken: float, count: int) -> float:
        """Seconds that are left of the last of `count` such trials. (H(n) = 1 + 1/2 + … + 1/n times the mean, where the
        hazard never changes.)"""
        place = bisect_right(self._at, taken)
        now = self._share[place] or 1.0
        wanted = now * math.exp(-sum(1 / number for number in range(1, count + 1)))
        for at, share in zip(self._at[place:], self._share[place + 1 :], strict=True):
            if share <= wanted:
                return at - taken
        seen = max([taken, *self._at[-1:]])
        return seen - taken + self.beyond * math.log(max(1.0, (self._share[-1] or now) / wanted))
