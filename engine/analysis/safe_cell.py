"""Text in a cell of a spreadsheet: never a formula. What one would take for it is begun by an apostrophe."""

from __future__ import annotations

from engine.text import clean_line

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "|", "%")


def safe_cell(text: str) -> str:
    """One line of plain text, whatever program opens it."""
    text = clean_line(text)
    return f"'{text}" if text.lstrip().startswith(_FORMULA) else text
