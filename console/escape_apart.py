"""Esc and the key after it, which a slow line brings as one: a terminal sends the same bytes for alt and that key.

Textual's reader takes `\\x1b/` for `/` and `\\x1bt` for alt+t, and keeps back what is typed on after Esc until there is
a pause. Here both are alt and the key, at once; the app makes two keys of it where alt and the key call nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator

from textual import events
from textual._xterm_parser import XTermParser
from textual.driver import Driver
from textual.keys import key_to_character

ESC = "\x1b"
ALT = "alt+"
_BEGINS_MORE = frozenset("\x1b\t\x7fO[P]X^_")
"""What after Esc begins a longer sequence of a terminal, or is a key of its own (shift+tab, ctrl+w)."""
_WORDWISE = {"b": "ctrl+left", "f": "ctrl+right"}
"""Keys of an input that some terminals send as Esc and a letter."""


class EscapeParser(XTermParser):
    """Names alt before whatever key comes with Esc."""

    def _sequence_to_key_events(self, sequence: str, alt: bool = False) -> Iterable[events.Key]:
        if len(sequence) == 2 and sequence[0] == ESC and sequence[1] not in _BEGINS_MORE:
            sequence, alt = sequence[1], True
        for event in super()._sequence_to_key_events(sequence):
            yield events.Key(ALT + _lower(event.key), event.character) if alt else event


def read_escapes_apart(driver: type[Driver]) -> None:
    """The driver's own thread makes its parser by a name of its module: there it finds ours."""
    for kind in driver.__mro__:
        module = sys.modules.get(kind.__module__)
        if getattr(module, "XTermParser", None) is XTermParser and module is not sys.modules[XTermParser.__module__]:
            setattr(module, "XTermParser", EscapeParser)  # noqa: B010  (a type checker refuses the plain way)


def _lower(key: str) -> str:
    """Capitals as Textual names them where a key is held."""
    return f"shift+{key.lower()}" if len(key) == 1 and key.isupper() else key


def two_keys(event: events.Key, wanted: Iterable[str]) -> Iterator[events.Key]:
    """The keys that are meant. `wanted`: those that something is called by."""
    name = event.key.removeprefix(ALT)
    if (letter := name.removeprefix("shift+")) != name and len(letter) == 1:
        name = letter.upper()
    if not event.key.startswith(ALT) or event.key in wanted:
        yield event
    elif (word := _WORDWISE.get(name, "")) and word in wanted:
        yield events.Key(word, None)
    else:
        yield events.Key("escape", ESC)
        yield events.Key(name, event.character or key_to_character(name))
