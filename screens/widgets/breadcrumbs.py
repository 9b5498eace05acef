"""Where one is, at the left; what the place says about itself, at the right. A click on a place goes back there."""

from __future__ import annotations

from typing import Any

from textual import events
from textual.app import App
from textual.screen import Screen

from screens.pieces import Pieces
from screens.widgets.lines import Line, Lines

RUNS = "runs"
"""The outermost place: the list of runs, which may have to be opened first."""


class Breadcrumbs(Lines):
    """`trail` from the outermost place to this one."""

    def __init__(self, *trail: str, id: str | None = None) -> None:
        super().__init__(id=id)
        self.trail = list(trail)
        self.right: Pieces = []

    def set(self, trail: list[str], right: Pieces | None = None) -> None:
        self.trail = trail
        self.right = right or []
        self.show()

    def make(self, width: int) -> list[Line]:
        pieces: Pieces = [(" ", "")]
        for number, name in enumerate(self.trail):
            last = number == len(self.trail) - 1
            if number:
                pieces.append((" › ", "deck--faint"))
            pieces.append((name, "deck--strong" if last else "deck--dim"))
        return [(pieces, [*self.right, (" ", "")])]

    def on_click(self, event: events.Click) -> None:
        number = self.piece_at(event.x, event.y)
        if number is None or number % 2 == 0 or number // 2 >= len(self.trail) - 1:
            return
        self.app.call_later(_back_to, self.app, self.screen, self.trail[number // 2])


async def _back_to(app: App[Any], here: Screen[Any], name: str) -> None:
    """Over whatever lies between; nothing where that place is not below this one."""
    if app.screen is not here:
        return  # another key was faster
    below = app.screen_stack[1:-1]
    found = [screen for screen in below if any(crumbs.trail[-1:] == [name] for crumbs in screen.query(Breadcrumbs))]
    if not found and name != RUNS:
        return
    target = found[-1] if found else app.screen_stack[1]
    while app.screen is not target:
        await app.pop_screen()
    if not found:
        await app.run_action("app.back")  # from a run that was opened alone to the list
