"""Which characters of a line stand in which cells: walked only as far as the answer lies, however long the line."""

from __future__ import annotations

from typing import NamedTuple

from rich.cells import get_character_cell_size


class CellSpan(NamedTuple):
    """Characters `start` to `end`; of the first one `lead` cells lie before the span."""

    start: int
    end: int
    lead: int


def cell_span(text: str, left: int, width: int) -> CellSpan:
    """The characters that are seen in `width` cells from cell `left` on."""
    if text.isascii():
        return CellSpan(min(left, len(text)), min(left + width, len(text)), 0)
    start, lead, cell = len(text), 0, 0
    for at, character in enumerate(text):
        cells = get_character_cell_size(character)
        if cells and cell >= left + width:
            return CellSpan(min(start, at), at, lead)
        if cells and start == len(text) and cell + cells > left:
            start, lead = at, left - cell
        cell += cells
    return CellSpan(start, len(text), lead)


def character_at(text: str, cell: int) -> int:
    """The character that stands in a cell; behind the text its length."""
    return cell_span(text, max(0, cell), 1).start
