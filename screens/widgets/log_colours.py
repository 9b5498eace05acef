"""Colours that a log asks for, as styles that can be read on the theme."""

from __future__ import annotations

from functools import lru_cache

from rich.color import Color as RichColour
from rich.style import Style
from rich.terminal_theme import TerminalTheme
from textual.color import Color

from screens.log_ink import Colour, Ink

_LEAST_CONTRAST = 3.0
"""Of ink on its ground; what has less is mixed with the ordinary ink until it can be read."""


@lru_cache(1024)
def style_of_ink(ink: Ink, ground: Color, ordinary: Color, theme: TerminalTheme, ansi: bool) -> Style:
    """`ansi`: the terminal's own colours, which nobody here knows; they are left as they are."""
    fore, back = ink.fore, ink.back
    attributes = Style(
        bold=ink.bold or None,
        dim=(ink.dim or ink.hidden) or None,
        italic=ink.italic or None,
        underline=ink.underline or None,
        reverse=ink.reverse or None,
        strike=ink.strike or None,
    )
    if ansi:
        return Style(color=_rich(fore), bgcolor=_rich(back)) + attributes
    on = _colour(back, theme) if back is not None else ground
    colour: Color | None = None
    if fore is not None:
        colour = _readable(_colour(fore, theme), on, ordinary)
    elif back is not None:
        colour = _readable(ordinary, on, on.get_contrast_text(1.0))
    return (
        Style(color=colour.rich_color if colour else None, bgcolor=on.rich_color if back is not None else None)
        + attributes
    )


def _readable(colour: Color, ground: Color, ordinary: Color) -> Color:
    for share in (0.0, 0.25, 0.5, 0.75):
        mixed = colour.blend(ordinary, share, alpha=1.0)
        if _contrast(mixed, ground) >= _LEAST_CONTRAST:
            return mixed
    return ordinary if _contrast(ordinary, ground) >= _LEAST_CONTRAST else ground.get_contrast_text(1.0)


def _contrast(one: Color, other: Color) -> float:
    bright, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


def _luminance(colour: Color) -> float:
    parts = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in colour.normalized]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def _rich(colour: Colour) -> RichColour | None:
    if colour is None:
        return None
    return RichColour.from_ansi(colour) if isinstance(colour, int) else RichColour.from_rgb(*colour)


def _colour(colour: Colour, theme: TerminalTheme) -> Color:
    rich = _rich(colour)
    assert rich is not None
    return Color(*rich.get_truecolor(theme))
