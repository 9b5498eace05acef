"""What waits for the parts of a view that has only just been put on the screen."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec

from textual.widget import AwaitMount, Widget

P = ParamSpec("P")


def when_filled(view: Widget, call: Callable[P, object], *args: P.args, **named: P.kwargs) -> None:
    """Call once the view's parts are there and laid out; never, where the view is taken away before."""

    def now() -> None:
        if view.children and view.is_attached and view.display:  # a view on its way out is not displayed
            call(*args, **named)

    view.call_after_refresh(now)


class Filling:
    """Of one view after the other: keys that are typed ahead of it wait for the one that was opened last."""

    def __init__(self) -> None:
        self._mounting: AwaitMount | None = None

    def begin(self, mounting: AwaitMount) -> None:
        self._mounting = mounting

    async def end(self) -> None:
        if self._mounting is not None:
            await self._mounting
            self._mounting = None
