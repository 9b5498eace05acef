"""What arranging leaves behind, let go of in pieces: freeing a hundred thousand entries at once is felt at the keys."""

from __future__ import annotations

from collections.abc import Iterator

from screens.trial_order import Entry, Order


class Work:
    """What is made while all is arranged."""

    def __init__(self, down: bool) -> None:
        self.parts: list[list[Entry]] = []
        self.buckets: list[list[Entry]] = []
        self.order = Order(down)


class Scrap:
    """Knows the work that goes on, so that nothing of it is freed at once when it is given up for another."""

    def __init__(self) -> None:
        self._work: Work | None = None
        self._lists: list[list[Entry]] = []
        self._orders: list[Order] = []

    def begin(self, down: bool) -> Work:
        self.abandon()
        self._work = Work(down)
        return self._work

    def abandon(self) -> None:
        """The work that goes on is of no use any more."""
        if self._work is not None:
            self._orders.append(self._work.order)
            self._take_lists(self._work)

    def replace(self, before: Order) -> None:
        """The work is done, and its order stands in the place of `before`."""
        self._orders.append(before)
        if self._work is not None:
            self._take_lists(self._work)

    def free(self) -> Iterator[None]:
        while self._lists:
            self._lists.pop()
            yield
        while self._orders:
            yield from self._orders.pop().drain()

    def _take_lists(self, work: Work) -> None:
        self._lists += work.parts
        self._lists += work.buckets
        self._work = None
