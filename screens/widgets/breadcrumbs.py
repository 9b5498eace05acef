"""Where one is, at the left; what the place says about itself, at the right."""

from __future__ import annotations

from screens.pieces import Pieces
from screens.widgets.lines import Line, Lines


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
