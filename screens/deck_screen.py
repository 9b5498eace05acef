"""What every full screen is: deaf until it is there."""

from __future__ import annotations

from textual.screen import Screen, ScreenResultType


class DeckScreen(Screen[ScreenResultType]):
    """Keys that come in a batch can be ahead of the screen that the first of them opened: an action of a screen that is
    not composed yet would look for parts that it hasn't got."""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return self.is_mounted
