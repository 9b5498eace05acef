"""A line to type into: keys take effect in the order in which they come, and nothing in it blinks."""

from __future__ import annotations

from typing import Any

from textual import events
from textual.binding import NoBinding
from textual.widgets import Input


class LineInput(Input):
    """Textual inserts a letter at once, but sends a key with a binding up to the app first. Where keys come in a batch,
    as over a slow connection, backspace and enter would then act on what was typed after them."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self.cursor_blink = False  # what blinks writes to the terminal for ever

    async def on_key(self, event: events.Key) -> None:
        if event.is_printable:
            return
        try:
            bindings = self._bindings.get_bindings_for_key(event.key)
        except NoBinding:
            return
        event.stop()
        event.prevent_default()
        for binding in bindings:
            await self.run_action(binding.action)
