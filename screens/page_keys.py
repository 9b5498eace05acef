"""Keys of a screen that the page it shows takes: follow, wrap, line numbers, search."""

from __future__ import annotations

from textual.actions import SkipAction
from textual.screen import ScreenResultType
from textual.widgets import Input

from screens.deck_screen import DeckScreen
from screens.trial_pages import Followable, Searchable, TrialPages, Wrappable
from screens.widgets.steps_view import StepsView


class PageKeys(DeckScreen[ScreenResultType]):
    """Typed ahead of a page they wait until its parts are there."""

    @property
    def pages(self) -> TrialPages:
        """The ones that keys go to."""
        raise NotImplementedError

    async def action_follow(self) -> None:
        if isinstance(view := await self.pages.filled(), Followable):
            view.action_follow()

    async def action_wrap(self) -> None:
        if isinstance(view := await self.pages.filled(), Wrappable):
            view.action_wrap()

    async def action_numbers(self) -> None:
        if isinstance(view := await self.pages.filled(), Wrappable):
            view.action_numbers()

    async def action_search(self) -> None:
        """Before what has the focus, so that what is typed fast after the key goes into the pattern."""
        if isinstance(self.focused, Input):
            raise SkipAction
        if isinstance(view := await self.pages.filled(), Searchable):
            view.action_search()

    async def action_hit(self, step: int) -> None:
        """Where there are steps the same key goes on by one, as it does once they have the keys."""
        view = await self.pages.filled()
        if isinstance(view, StepsView):
            view.action_step(step)
        elif isinstance(view, Searchable):
            view.action_hit(step)

    async def stop_search(self) -> bool:
        """Whether there was something to stop, or to close."""
        return isinstance(view := await self.pages.filled(), Searchable) and view.stop_search()
