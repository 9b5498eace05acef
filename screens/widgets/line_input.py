"""A line to type into: keys take effect in the order in which they come, and nothing in it blinks."""

from __future__ import annotations

from typing import Any

from textual import events
from textual.binding import NoBinding
from textual.widgets import Input

from engine.text import clean_line

MOST_PASTED = 1 << 20
"""Characters that are looked at."""


class LineInput(Input):
    """Textual inserts a letter at once, but sends a key with a binding up to the app first. Where keys come in a batch,
    as over a slow connection, backspace and enter would then act on what was typed after them."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self.cursor_blink = False  # what blinks writes to the terminal for ever

    def line_of(self, pasted: str) -> str:
        """What of a pasted text is for this line: its first one."""
        return next(iter(pasted.splitlines()), "")

    def on_paste(self, event: events.Paste) -> None:
        """Nothing in it is a terminal's command any more, and what the line has no room for is left out and said."""
        event.stop()
        event.prevent_default()
        text = clean_line(self.line_of(event.text), MOST_PASTED)
        if self.max_length:
            room = max(0, self.max_length - len(self.value) + len(self.selected_text))
            if len(text) > room:
                words = f"{len(text) - room:,} characters left out: {self.max_length:,} is the most"
                self.app.notify(words, severity="warning", markup=False)
                text = text[:room]
        self.replace(text, *self.selection)

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
