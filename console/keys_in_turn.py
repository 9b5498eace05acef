"""Keys typed right after Esc: they are for what Esc leads back to, so they wait until it has.

A slow line brings Esc and a key as one, and a terminal sends the same bytes for alt and that key: where alt and the
key call nothing, both keys are meant.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Iterator
from typing import Any

from textual import events
from textual.app import App
from textual.dom import DOMNode
from textual.message_pump import MessagePump
from textual.timer import Timer

from console.escape_signs import WORDWISE, tell_signs_after_escape, typed_by

ALT = "alt+"
_ROUNDS = 3
"""Esc may end in a message that ends in another one, as the line below a log says that it was given up."""
MOST_SEC = 0.5
"""Longer no key waits."""


class KeysInTurn:
    """`give` hands an event on as Textual does. All in the app's turn of the event loop."""

    def __init__(self, app: App[Any], give: Callable[[events.Event], Awaitable[None]]) -> None:
        tell_signs_after_escape()
        self._app = app
        self._give = give
        self._waiting: deque[events.Event] = deque()
        self._escape = 0  # number of the Esc that is not through yet, counted so that a late answer is known
        self._last = 0
        self._limit: Timer | None = None

    async def came(self, event: events.Event) -> None:
        """A key, or text that was pasted."""
        if isinstance(event, events.Key) and event.key.startswith(ALT):
            self._waiting.extend(keys_meant(event, self._app.screen.active_bindings))
        else:
            self._waiting.append(event)
        await self._go_on()

    async def _go_on(self) -> None:
        while self._waiting and not self._escape:
            event = self._waiting.popleft()
            target = self._app.focused or self._app.screen
            await self._give(event)
            if isinstance(event, events.Key) and event.key == "escape":
                self._wait_for(target)

    def _wait_for(self, target: DOMNode) -> None:
        self._last += 1
        self._escape = self._last
        self._limit = self._app.set_timer(MOST_SEC, lambda: self._through(self._last))
        path = [node for node in target.ancestors_with_self if node is not self._app]
        self._follow(self._escape, [*path, self._app] * _ROUNDS)

    def _follow(self, number: int, path: list[MessagePump]) -> None:
        """Behind the key through the queues of those that it bubbles to."""
        for at, node in enumerate(path):
            if node.call_later(self._follow, number, path[at + 1 :]):
                return
        self._app.call_later(self._through, number)

    async def _through(self, number: int) -> None:
        if number == self._escape:
            self._escape = 0
            if self._limit is not None:
                self._limit.stop()
            await self._go_on()


def keys_meant(event: events.Key, wanted: Iterable[str]) -> Iterator[events.Key]:
    """Alt and a key, where something is called by it or no single sign is typed by it; else Esc and the key."""
    name = event.key.removeprefix(ALT)
    letter = name.removeprefix("shift+")
    typed = typed_by(name)
    if event.key in wanted or (len(letter) != 1 and typed is None):
        yield event
    elif (word := WORDWISE.get(name, "")) and word in wanted:
        yield events.Key(word, None)
    else:
        yield events.Key("escape", "\x1b")
        yield events.Key(letter.upper() if letter != name else name, typed or event.character or letter)
