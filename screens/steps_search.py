"""Which steps of a session match a pattern."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence

from engine.trajectories.steps import Step
from screens.log_pattern import Pattern
from screens.steps_text import fields


class StepsSearch:
    """`go_on` looks through steps that it hasn't seen, in a thread; rows of `hits` count from 0."""

    def __init__(self, pattern: Pattern) -> None:
        self.pattern = pattern
        self.hits: list[int] = []
        self.seen = 0

    def go_on(self, steps: Sequence[Step], cancelled: Callable[[], bool]) -> None:
        """The last step that was seen is looked at again: it may have grown."""
        first = max(0, self.seen - 1)
        while self.hits and self.hits[-1] >= first:
            self.hits.pop()
        for row in range(first, len(steps)):
            if cancelled():
                return
            if any(self.pattern.in_text.search(field) for field in fields(steps[row])):
                self.hits.append(row)
            self.seen = row + 1

    def next(self, row: int, step: int) -> int | None:
        """The next hit after a row, or the one before, round the end."""
        if not self.hits:
            return None
        if step > 0:
            return self.hits[bisect_right(self.hits, row) % len(self.hits)]
        return self.hits[bisect_left(self.hits, row) - 1]

    def rank(self, row: int) -> int:
        """Which hit a row is, from 1; 0 for none."""
        at = bisect_left(self.hits, row)
        return at + 1 if at < len(self.hits) and self.hits[at] == row else 0
