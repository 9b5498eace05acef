"""What every screen of ours is: deaf until it is there and once it has gone; it has the styles of all that it shows."""

from __future__ import annotations

from typing import ClassVar

from textual.await_complete import AwaitComplete
from textual.screen import ModalScreen, Screen, ScreenResultType

from screens.pieces import STYLES


class DeckScreen(Screen[ScreenResultType]):
    """Keys that come in a batch can be ahead of the screen that the first of them opened, or behind the one that the
    last of them left: an action would look for parts that the screen hasn't got, or end it twice."""

    COMPONENT_CLASSES: ClassVar[set[str]] = set(STYLES)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return self.is_mounted and self in self.app.screen_stack

    @property
    def on_top(self) -> bool:
        """No other screen lies over it; Textual's `is_current` is true also of one that is about to be covered."""
        return self.app.screen is self

    def dismiss(self, result: ScreenResultType | None = None) -> AwaitComplete:
        """Nothing where another screen lies over this one: Textual would end that one, and this one twice."""
        return super().dismiss(result) if self.on_top else AwaitComplete()


class DeckModal(DeckScreen[ScreenResultType], ModalScreen[ScreenResultType]):
    """A question over a screen."""
