"""Keystrokes as tmux is to be given them: keys by their names, or text by its bytes."""

from __future__ import annotations

import re

import msgspec

NAMES = frozenset(
    {
        *("Enter", "Escape", "Tab", "BTab", "Space", "BSpace", "Up", "Down", "Left", "Right", "Home", "End"),
        *("PageUp", "PgUp", "PPage", "PageDown", "PgDn", "NPage", "IC", "Insert", "DC", "Delete"),
        *(f"F{number}" for number in range(1, 13)),
    }
)
LONGEST_LINE = 4095
"""Bytes of a line that the kernel keeps where a program reads by lines; the rest is lost."""

_WITH_MODIFIER = re.compile(r"(?:[CMS]-){1,3}(?:[A-Za-z0-9@\[\]^_/\\]|" + "|".join(sorted(NAMES)) + ")")


class Stroke(msgspec.Struct, frozen=True):
    """Either keys by name, or text."""

    names: tuple[str, ...] = ()
    text: bytes = b""

    @property
    def has_long_line(self) -> bool:
        return any(len(line) > LONGEST_LINE for line in self.text.split(b"\r"))


def stroke_of(keys: str) -> Stroke:
    """A name of a key, or several with a space between, are those keys; everything else is text, in which a newline is
    the Enter key. What no UTF-8 can hold was a byte (`surrogateescape`), or is `?`."""
    words = keys.strip(" ").split(" ")
    if keys and all(_is_name(word) for word in words) and not keys.isspace():
        return Stroke(names=tuple(words))
    control = keys.rstrip("\r\n")
    if _WITH_MODIFIER.fullmatch(control):
        return Stroke(names=(control,))
    text = keys.replace("\r\n", "\n").replace("\n", "\r")
    try:
        return Stroke(text=text.encode("utf-8", "surrogateescape"))
    except UnicodeEncodeError:
        return Stroke(text=text.encode("utf-8", "replace"))


def _is_name(word: str) -> bool:
    return word in NAMES or _WITH_MODIFIER.fullmatch(word) is not None
