"""Columns of a table and how they share a width: what doesn't fit leaves, the least important first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

GAP = 2


@dataclass(frozen=True)
class Column:
    """`width` is the least it can live with, `widest` (0: the same) the most it makes use of; up to `first` it grows
    before any other does. `keep` says how long it stays. `sort_down`: the first sort by it is downwards. `help`: its
    name where the title is too short.
    """

    name: str
    title: str
    width: int
    keep: int = 50
    widest: int = 0
    first: int = 0
    right: bool = False
    sort_down: bool = False
    help: str = ""


def share(columns: Sequence[Column], width: int, wanted: dict[str, int] | None = None) -> list[tuple[Column, int]]:
    """The columns that fit into `width` cells, with their widths.

    `wanted` is the widest content of a column where the caller knows it: a column never grows beyond it. Columns grow
    side by side, cell by cell; what none wants is the last one's.
    """
    wanted = wanted or {}
    kept = list(columns)
    while len(kept) > 1 and _least(kept) > width:
        kept.remove(min(kept, key=lambda column: column.keep))
    widths = {column.name: column.width for column in kept}
    rest = width - _least(kept)
    most = {
        column.name: min(column.widest or column.width, max(column.width, wanted.get(column.name, column.widest)))
        for column in kept
    }
    for column in kept:
        ahead = min(rest, max(0, min(column.first, most[column.name]) - widths[column.name]))
        widths[column.name] += ahead
        rest -= ahead
    while rest and (growing := [name for name in widths if widths[name] < most[name]]):
        for name in growing[:rest]:
            widths[name] += 1
        rest -= min(rest, len(growing))
    if rest and kept:
        widths[kept[-1].name] += rest
    return [(column, widths[column.name]) for column in kept]


def _least(columns: Sequence[Column]) -> int:
    return sum(column.width for column in columns) + GAP * (len(columns) - 1)
