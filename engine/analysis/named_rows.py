"""Rows of a table that begin with names: a name that its column has no room for stands above its numbers, whole."""

from __future__ import annotations

from engine.analysis import wording as say
from engine.text import clean_line


def named(lead: str, name: str, room: int, numbers: str, width: int) -> list[str]:
    """`lead` is what stands before the name, `room` the columns of the name, `width` those of the table."""
    name = clean_line(name)
    if say.cells(name) <= room:
        return [f"{lead}{say.fit(name, room)}{numbers}"]
    blank = " " * len(lead)
    above = [f"{blank if number else lead}{part}" for number, part in enumerate(_parts(name, width - len(lead)))]
    return [*above, f"{blank}{' ' * room}{numbers}"]


def both_named(lead: str, first: str, second: str, room: int, numbers: str, width: int) -> list[str]:
    """The same of two names, each with so many columns; side by side where both have room together."""
    if say.cells(clean_line(first)) < room and say.cells(clean_line(second)) <= room:
        return [f"{lead}{say.fit(first, room)}{say.fit(second, room)}{numbers}"]
    return named(lead, f"{clean_line(first)} · {clean_line(second)}", 2 * room - 1, f" {numbers}", width)


def _parts(name: str, width: int) -> list[str]:
    parts = [""]
    for char in name:
        if parts[-1] and say.cells(parts[-1] + char) > width:
            parts.append("")
        parts[-1] += char
    return parts
