"""The way through the queue: where one was stays where it was, what is ahead stands in the order of the queue."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from engine.triage.queue import QueueItem

AHEAD = 4
"""Trials that the next pages are likely to show, at most."""
NEAR = 32
"""Trials among which those are looked for."""


class Walk:
    """Trials that were looked at come first, in the order in which they were; new ones join behind without moving
    anything that has been seen. `blind` takes the order of case numbers, which says nothing about anything.
    """

    def __init__(self) -> None:
        self.items: Mapping[str, QueueItem] = {}
        self.order: list[str] = []
        self.current: str | None = None
        self.came: set[str] = set()
        self._seen: dict[str, None] = {}
        self._counting = False

    def refresh(self, queue: Sequence[QueueItem], *, blind: bool, counting: bool) -> None:
        """`counting`: what is new from now on came while somebody was at work."""
        ahead = [item for item in queue if item.trial not in self._seen]
        if blind:
            ahead.sort(key=lambda item: (item.decided, item.skipped, item.case))
        new = {item.trial for item in queue}
        if self._counting:
            self.came = (self.came | (new - self.items.keys())) & new
        self._counting = self._counting or counting
        self.items = {item.trial: item for item in queue}
        self.order = [*self._seen, *(item.trial for item in ahead)]

    def go(self, trial: str) -> None:
        """Look at a trial, whether it is in the queue or not."""
        self.current = trial
        self.came.discard(trial)
        if trial not in self._seen:
            if trial in self.order:
                self.order.remove(trial)
            self.order.insert(len(self._seen), trial)
            self._seen[trial] = None

    def shuffle(self) -> None:
        """Another order: forget what was seen but the trial that is shown."""
        self._seen = {self.current: None} if self.current is not None else {}

    def step(self, step: int, wanted: Mapping[str, bool] | None = None) -> str | None:
        """The trial next to the current one; with `wanted` the next one of those. None at the end."""
        if self.current not in self.order:
            return self.order[0] if self.order else None
        at = self.order.index(self.current) + step
        while 0 <= at < len(self.order):
            if wanted is None or wanted.get(self.order[at], False):
                return self.order[at]
            at += step
        return None

    def ahead(self, decided: Callable[[str], bool]) -> list[str]:
        """What the next page is likely to show: the next ones, and the next that are not decided."""
        at = self.order.index(self.current) + 1 if self.current in self.order else 0
        near = self.order[at : at + NEAR]
        undecided = [trial for trial in near if not decided(trial)]
        return list(dict.fromkeys([*near[:1], *undecided[:AHEAD], *near[1:]]))[:AHEAD]

    def next_undecided(self, undecided: Mapping[str, bool], skipped: Mapping[str, bool]) -> str | None:
        """The next one after the current trial, round the end; those that were skipped last."""
        at = self.order.index(self.current) + 1 if self.current in self.order else 0
        ring = [trial for trial in (*self.order[at:], *self.order[:at]) if trial != self.current]
        found = [trial for trial in ring if undecided.get(trial, False)]
        fresh = [trial for trial in found if not skipped.get(trial, False)]
        return next(iter(fresh or found), None)
