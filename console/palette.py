"""The command palette over the registry of actions."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content

from screens.actions import EVERYWHERE, Action, Place, keys_text, own_keys


class DeckCommands(Provider):
    """The actions of the screen that the palette was opened from, then the app's own."""

    def _commands(self) -> Iterator[tuple[str, Any]]:
        """Title, as it is shown and matched, and what to call."""
        place = getattr(self.screen, "PLACE", None)
        if isinstance(place, Place):
            for action in place.actions:
                if action.palette:
                    yield self._title(place, action), partial(self.app.run_action, action.name, self.screen)
        yield from getattr(self.screen, "more_commands", list)()
        for action in EVERYWHERE.actions:
            if action.palette:
                yield self._title(EVERYWHERE, action), partial(self.app.run_action, action.name, self.app)

    def _title(self, place: Place, action: Action) -> str:
        keys = keys_text(place, action, own_keys(self.app))
        named = f"{action.label} · {action.help}"  # who knows the word on the footer finds it by that
        return f"{named}  ({keys})" if keys else named

    async def discover(self) -> Hits:
        for title, command in self._commands():
            yield DiscoveryHit(Content(title), command, text=title)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for title, command in self._commands():
            score = matcher.match(title)
            if score > 0:
                yield Hit(score, Content(title), command, text=title)
