"""The command palette over the registry of actions."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from textual.command import DiscoveryHit, Hit, Hits, Provider

from screens.actions import EVERYWHERE, Place


class DeckCommands(Provider):
    """The actions of the screen that the palette was opened from, then the app's own."""

    def _commands(self) -> Iterator[tuple[str, str, Any]]:
        place = getattr(self.screen, "PLACE", None)
        if isinstance(place, Place):
            for action in place.actions:
                if action.palette:
                    yield action.help, action.key_text, partial(self.app.run_action, action.name, self.screen)
        for title, command in getattr(self.screen, "more_commands", list)():
            yield title, "", command
        for action in EVERYWHERE.actions:
            if action.palette:
                yield action.help, action.key_text, partial(self.app.run_action, action.name, self.app)

    async def discover(self) -> Hits:
        for title, keys, command in self._commands():
            yield DiscoveryHit(title, command, help=keys or None)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for title, keys, command in self._commands():
            score = matcher.match(title)
            if score > 0:
                yield Hit(score, matcher.highlight(title), command, help=keys or None)
