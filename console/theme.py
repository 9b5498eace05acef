"""Our colours: calm grounds, one accent, muted words for good and bad, and shades that stay readable on each."""

from __future__ import annotations

from textual.color import Color
from textual.theme import Theme

DARK = "dark"
NO_COLOUR_THEME = "sixteen"
"""The terminal's own colours: for sixteen of them, and, with NO_COLOR, for none."""

THEMES = (
    Theme(
        name=DARK,
        primary="#6fb1d6",
        secondary="#6fb1d6",
        accent="#6fb1d6",
        warning="#d9ae63",
        error="#e08f88",
        success="#8fb88b",
        foreground="#d6dbe0",
        background="#12161a",
        surface="#171c21",
        panel="#1e252b",
        dark=True,
    ),
    Theme(
        name="light",
        primary="#1b5e87",
        secondary="#1b5e87",
        accent="#1b5e87",
        warning="#7a4f00",
        error="#9c2a22",
        success="#27632b",
        foreground="#1f2428",
        background="#fbfaf7",
        surface="#f3f1ec",
        panel="#e8e5de",
        dark=False,
    ),
    Theme(
        name="high-contrast",
        primary="#7fd4ff",
        secondary="#7fd4ff",
        accent="#7fd4ff",
        warning="#ffd84d",
        error="#ff9d94",
        success="#8dff9a",
        foreground="#ffffff",
        background="#000000",
        surface="#000000",
        panel="#1a1a1a",
        dark=True,
    ),
    Theme(  # blue and orange, of different brightness: told apart whatever the eye lacks
        name="colour-blind",
        primary="#d9a6c8",
        secondary="#d9a6c8",
        accent="#d9a6c8",
        warning="#f0e442",
        error="#f5914f",
        success="#5cb8ee",
        foreground="#d9dde1",
        background="#11151a",
        surface="#171c21",
        panel="#1e252b",
        dark=True,
    ),
)

TERMINAL_THEME = Theme(  # cyan: what is no accent has other colours
    name=NO_COLOUR_THEME,
    ansi=True,
    primary="ansi_cyan",
    secondary="ansi_cyan",
    accent="ansi_cyan",
    warning="ansi_yellow",
    error="ansi_red",
    success="ansi_green",
    foreground="ansi_default",
    background="ansi_default",
    surface="ansi_default",
    panel="ansi_default",
    boost="ansi_default",
    dark=True,
    variables={
        "ansi-background": "ansi_black",
        "ansi-foreground": "ansi_white",
        "border-blurred": "ansi_default",
        "block-cursor-foreground": "ansi_default",
        "block-cursor-background": "ansi_default",
        "block-cursor-text-style": "reverse",
        "input-cursor-text-style": "reverse",
    },
)

TERMINAL = "terminal"
NAMES = (*(theme.name for theme in THEMES), TERMINAL)
"""What a person calls them; `terminal` is the terminal's own colours."""

READABLE = 4.5
"""Least contrast of a text with what lies under it (WCAG AA)."""

_SHADES = {"deck-dim": 0.62, "deck-faint": 0.38, "deck-head": 0.52}
"""How much of the foreground there is in a shade of it; more where it would not be readable."""
_RULE = 0.22
_CURSOR, _CURSOR_IDLE = 0.24, 0.08


def theme_name(called: str) -> str:
    """Textual's name for what a person calls a theme."""
    return NO_COLOUR_THEME if called == TERMINAL else called


def called(name: str) -> str:
    """The other way round; "" for a theme that isn't one of ours."""
    known = {theme_name(one): one for one in NAMES}
    return known.get(name, "")


def shades(theme: Theme) -> dict[str, str]:
    """Variables for `deck.tcss` out of a theme's own colours."""
    names = (*_SHADES, "deck-rule", "deck-cursor", "deck-cursor-idle")
    if theme.ansi or theme.foreground is None or theme.background is None or theme.accent is None:
        return dict.fromkeys(names, "ansi_default" if theme.ansi else "grey")
    ink, ground, accent = (Color.parse(colour) for colour in (theme.foreground, theme.background, theme.accent))
    cursor, idle = ground.blend(accent, _CURSOR), ground.blend(ink, _CURSOR_IDLE)
    found = {name: _readable(ground, ink, share, (ground, cursor, idle)).hex for name, share in _SHADES.items()}
    return {
        **found,
        "deck-rule": ground.blend(ink, _RULE).hex,
        "deck-cursor": cursor.hex,
        "deck-cursor-idle": idle.hex,
    }


def contrast(one: Color, other: Color) -> float:
    """The contrast ratio of WCAG, from 1 to 21."""
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


def _readable(ground: Color, ink: Color, share: float, grounds: tuple[Color, ...]) -> Color:
    while share < 1 and min(contrast(ground.blend(ink, share), under) for under in grounds) < READABLE:
        share += 0.02
    return ground.blend(ink, min(1.0, share))


def _luminance(colour: Color) -> float:
    parts = [part / 255 for part in (colour.r, colour.g, colour.b)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
