"""Esc and a sign after it, which a slow line brings as one: it is named alt and the sign, as Esc and a letter are.

Textual's table of what a terminal sends knows some of these as what a Mac types with option, and takes the others for
the sign alone, so that the Esc is lost. Of `[` it can't be told: too much else that a terminal sends begins with it.
"""

from __future__ import annotations

import string
from dataclasses import dataclass
from typing import Any, cast

from textual._ansi_sequences import ANSI_SEQUENCES_KEYS

from screens.actions import KEY_NAMES

ESC = "\x1b"
WORDWISE = {"b": "ctrl+left", "f": "ctrl+right"}
"""Keys of a line that is typed into, which some terminals send as Esc and a letter."""

_TYPED = {
    **{name: sign for name, sign in KEY_NAMES.items() if sign in string.punctuation},
    **{digit: digit for digit in string.digits},
    "space": " ",
    "enter": "\r",
}
"""What a key of that name types."""


@dataclass(frozen=True)
class _Key:
    """A key as the table holds it: its name is the value of something."""

    value: str


def tell_signs_after_escape() -> None:
    """For every app of this process; again changes nothing."""
    table = cast("dict[str, Any]", ANSI_SEQUENCES_KEYS)
    for name, sign in _TYPED.items():
        if sign != "[":
            table[ESC + sign] = (_Key(f"alt+{name}"),)
    for letter in WORDWISE:
        table[ESC + letter] = (_Key(f"alt+{letter}"),)


def typed_by(key: str) -> str | None:
    return _TYPED.get(key)
