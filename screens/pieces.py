"""A line of a screen as pieces of text with the names of their styles, fitted to a width in terminal cells.

Data only ever enters as plain text in a piece: nothing here, and nothing after it, parses markup.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip
from textual.widget import Widget

Piece = tuple[str, str]
"""Text, and the name of a style of `STYLES` ("" for the ordinary one)."""

Pieces = list[Piece]

STYLES = frozenset(
    {
        "deck--dim",
        "deck--faint",
        "deck--strong",
        "deck--accent",
        "deck--good",
        "deck--bad",
        "deck--warn",
        "deck--key",
        "deck--cursor",
        "deck--cursor-idle",
        "deck--head",
        "deck--group",
        "deck--rule",
    }
)
"""Component classes of every screen, for all widgets on it; `deck.tcss` says how they look."""

GROUNDS = frozenset({"deck--cursor", "deck--cursor-idle"})
"""Styles that lie under a whole line: they give a background, the others only ink."""


def inks(widget: Widget) -> Callable[[str], Style]:
    """The shared styles by their names. The screen has them, so that they are worked out once for it and not for each
    of its widgets anew."""
    screen = widget.screen

    def style_of(name: str) -> Style:
        return _layer(screen.get_component_rich_style(name), name in GROUNDS)

    return style_of


@lru_cache(256)
def _layer(style: Style, ground: bool) -> Style:
    layer = Style(bgcolor=style.bgcolor) if ground else Style(color=style.color)
    return layer + style.without_color


def cells(text: str) -> int:
    return len(text) if text.isascii() else cell_len(text)


def width_of(pieces: Iterable[Piece]) -> int:
    return sum(cells(text) for text, _ in pieces)


def cut(text: str, width: int) -> str:
    """At most `width` cells; what is left out is marked with `…`."""
    if cells(text) <= width:
        return text
    if width <= 1:
        return "…"[:width]
    return set_cell_size(text, width - 1).rstrip() + "…"


def fit(pieces: Iterable[Piece], width: int, right: bool = False) -> Pieces:
    """Exactly `width` cells: cut at the end, or filled up with blanks on the other side of the text."""
    fitted: Pieces = []
    left = width
    for text, style in pieces:
        if left <= 0:
            break
        taken = cells(text)
        if taken > left:
            text = cut(text, left)
            fitted.append((text, style))
            left -= cells(text)
            break
        fitted.append((text, style))
        left -= taken
    if left > 0:
        blank = (" " * left, "")
        return [blank, *fitted] if right else [*fitted, blank]
    return fitted


def folded(pieces: Iterable[Piece], width: int, most: int) -> list[Pieces]:
    """On lines of at most `width` cells, broken between words, or in one that is longer, as a path is; what doesn't fit
    into `most` lines is cut."""
    lines: list[Pieces] = [[]]
    found = [(word, style) for text, style in pieces for word in re.findall(r" *[^ ]+| +$", text)]
    words = [(part, style) for whole, style in found for part in _parts(whole, width)]
    for word, style in words:
        fits = width_of(lines[-1]) + cells(word) <= width
        if not fits and lines[-1] and len(lines) < most:
            lines.append([])
            word = word.lstrip(" ")
        lines[-1].append((word, style))
    return [joined(line if width_of(line) <= width else fit(line, width)) for line in lines]


def _parts(word: str, width: int) -> Iterator[str]:
    while cells(word) > width:
        part = set_cell_size(word, width).rstrip() if cells(word[:width]) > width else word[:width]
        part = part if part and word.startswith(part) else word[:1]
        yield part
        word = word[len(part) :]
    yield word


def spread(left: Pieces, right: Pieces, width: int) -> Pieces:
    """`left` at the left edge, `right` at the right one. `left` is cut first, to half the width."""
    wanted = width_of(right)
    if not wanted:
        return fit(left, width)
    room = max(0, width - min(width_of(left), width // 2) - 2)
    if wanted > room:
        right, wanted = fit(right, room), room
    if wanted + 2 > width:
        return fit(left, width)
    return [*fit(left, width - wanted - 2), ("  ", ""), *right]


def joined(pieces: Iterable[Piece]) -> Pieces:
    """The same to the eye in fewer pieces: blanks have no ink, so they go along with what stands before them."""
    found: Pieces = []
    for text, style in pieces:
        if found and (style == found[-1][1] or not text.strip(" ")):
            found[-1] = (found[-1][0] + text, found[-1][1])
        else:
            found.append((text, style))
    return found


def strip(pieces: Iterable[Piece], style_of: Callable[[str], Style], base: Style) -> Strip:
    """Pieces over a base style, ready to be painted."""
    return Strip([Segment(text, base + style_of(style) if style else base) for text, style in pieces])
