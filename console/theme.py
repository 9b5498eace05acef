"""Our colours: a calm dark ground, one accent, muted words for good and bad."""

from __future__ import annotations

from textual.theme import Theme

THEME = Theme(
    name="trialdeck",
    primary="#6fb1d6",
    secondary="#6fb1d6",
    accent="#6fb1d6",
    warning="#d9ae63",
    error="#d9827b",
    success="#8fb88b",
    foreground="#d6dbe0",
    background="#12161a",
    surface="#171c21",
    panel="#1e252b",
    dark=True,
)

NO_COLOUR_THEME = "ansi-dark"
"""The terminal's own colours: for sixteen of them, and, with NO_COLOR, for none."""
