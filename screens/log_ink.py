"""The colours and attributes that a log asks for with SGR sequences, as far as a terminal knows them."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, NamedTuple

Colour = int | tuple[int, int, int] | None
"""One of 256, or red, green and blue; None for the default."""

_SGR = re.compile(r"\x1b\[([0-9;:]*)m")
_MOST = 64
"""Parameters of one sequence that are looked at."""
_KEPT = 1_024
"""Answers that are remembered: a log asks for the same few colours over and over."""


class Ink(NamedTuple):
    fore: Colour = None
    back: Colour = None
    bold: bool = False
    dim: bool = False
    italic: bool = False
    underline: bool = False
    reverse: bool = False
    strike: bool = False
    hidden: bool = False


PLAIN = Ink()

_SWITCHES: dict[int, dict[str, Any]] = {
    1: {"bold": True},
    2: {"dim": True},
    3: {"italic": True},
    4: {"underline": True},
    7: {"reverse": True},
    8: {"hidden": True},
    9: {"strike": True},
    21: {"underline": True},
    22: {"bold": False, "dim": False},
    23: {"italic": False},
    24: {"underline": False},
    27: {"reverse": False},
    28: {"hidden": False},
    29: {"strike": False},
    39: {"fore": None},
    49: {"back": None},
}


@lru_cache(_KEPT)
def after(ink: Ink, arguments: str) -> Ink:
    """The ink after one SGR sequence; what nobody knows changes nothing."""
    numbers = [_number(part) for part in re.split("[;:]", arguments)[:_MOST]]
    colons = ":" in arguments
    at = 0
    while at < len(numbers):
        number = numbers[at]
        at += 1
        if number == 0:
            ink = PLAIN
        elif number in _SWITCHES:
            ink = ink._replace(**_SWITCHES[number])
            if number == 4 and arguments == "4:0":
                return ink._replace(underline=False)
            if number == 4 and colons:
                return ink
        elif number in (38, 48, 58):
            colour, at = _extended(numbers, at, colons)
            if colour is not None and number != 58:
                ink = ink._replace(fore=colour) if number == 38 else ink._replace(back=colour)
        elif 30 <= number <= 37:
            ink = ink._replace(fore=number - 30)
        elif 40 <= number <= 47:
            ink = ink._replace(back=number - 40)
        elif 90 <= number <= 97:
            ink = ink._replace(fore=number - 82)
        elif 100 <= number <= 107:
            ink = ink._replace(back=number - 92)
    return ink


def left_by(text: str) -> Ink:
    """The ink that a text leaves behind for what comes after it."""
    ink = PLAIN
    for sequence in _SGR.finditer(text):
        ink = after(ink, sequence[1])
    return ink


def _number(text: str) -> int:
    return int(text) if text.isdigit() and len(text) < 5 else 0 if not text else -1


def _extended(numbers: list[int], at: int, colons: bool) -> tuple[Colour, int]:
    """`5;n` or `2;r;g;b`, with colons also `2::r:g:b`; and where to read on."""
    kind = numbers[at] if at < len(numbers) else -1
    if kind == 5 and at + 1 < len(numbers):
        return (numbers[at + 1] if 0 <= numbers[at + 1] < 256 else None), at + 2
    if kind == 2:
        first = at + 2 if colons and len(numbers) - at >= 5 else at + 1
        parts = numbers[first : first + 3]
        if len(parts) == 3 and all(0 <= part < 256 for part in parts):
            return (parts[0], parts[1], parts[2]), first + 3
        return None, len(numbers)
    return None, at + 1
