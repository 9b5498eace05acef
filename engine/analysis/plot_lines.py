"""A plot as plain lines of text: series told apart by their marks, not by colour, at any size from 30 × 5 on."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from engine.analysis import wording as say

MARKS = "●○▲△■□◆◇"
NARROWEST, LOWEST = 30, 5
_LABEL = 8


class PlotSeries(msgspec.Struct, frozen=True, kw_only=True):
    """Points (x, y), in any order. `steps`: y holds until the next point; else points stand alone. `bars` are the ends
    of each point's interval in y, drawn as a line through it where points stand alone: a band takes more than text."""

    name: str
    points: tuple[tuple[float, float], ...]
    steps: bool = False
    bars: tuple[tuple[float, float], ...] = ()


def plot_lines(
    series: Sequence[PlotSeries],
    *,
    width: int,
    height: int = 12,
    x_name: str = "",
    y_text: Callable[[float], str] = lambda value: f"{value:g}",
    x_text: Callable[[float], str] = lambda value: f"{value:g}",
    bottom: float | None = None,
) -> list[str]:
    """Of `height` rows, an axis, its ends and a legend; nothing where there is no point. Where marks meet, the series
    named first is seen, and the legend has all of them. `bottom`: where the y axis begins, else at the lowest point."""
    shown = [one for one in series if one.points]
    if not shown:
        return []
    width, height = max(width, NARROWEST), max(height, LOWEST)
    columns = width - _LABEL - 2
    xs = [x for one in shown for x, _ in one.points]
    ys = [y for one in shown for _, y in one.points] + [
        end for one in shown if not one.steps for bar in one.bars for end in bar
    ]
    x_low, x_high = min(xs), max(xs)
    y_low, y_high = min([*ys, *([bottom] if bottom is not None else [])]), max(ys)
    if y_high == y_low:
        y_low, y_high = y_low - 0.5 * (abs(y_low) or 1), y_high + 0.5 * (abs(y_high) or 1)
    cells = [[" "] * columns for _ in range(height)]

    def column(x: float) -> int:
        return round((x - x_low) / (x_high - x_low) * (columns - 1)) if x_high > x_low else columns // 2

    def row(y: float) -> int:
        return height - 1 - round((y - y_low) / (y_high - y_low) * (height - 1))

    for one in (one for one in shown if not one.steps):
        for (x, _), (low, high) in zip(one.points, one.bars, strict=False):
            for place in range(row(high), row(low) + 1):
                if cells[place][column(x)] == " ":
                    cells[place][column(x)] = "│"
    for number, one in reversed(list(enumerate(shown))):
        mark = MARKS[number % len(MARKS)]
        points = sorted(one.points)
        for place, (x, y) in enumerate(points):
            end = column(x)
            if one.steps:
                end = column(points[place + 1][0]) - 1 if place + 1 < len(points) else column(x)
            for at in range(column(x), max(column(x), end) + 1):
                cells[row(y)][at] = mark
    lines = []
    for place, line in enumerate(cells):
        label = (
            y_text(y_high - (y_high - y_low) * place / (height - 1)) if place in (0, height // 2, height - 1) else ""
        )
        lines.append(f"{label[:_LABEL]:>{_LABEL}} ┤{''.join(line)}".rstrip())
    lines.append(f"{'':>{_LABEL}} └{'─' * columns}")
    first, last = (x_text(end)[: columns // 2] for end in (x_low, x_high))
    middle = say.fit(x_name, max(0, columns - len(first) - len(last))).rstrip()
    lines.append(f"{'':>{_LABEL}}  {first}{middle:^{max(0, columns - len(first) - len(last))}}{last}")
    for number, one in enumerate(shown):
        lines.append(say.fit(f"{'':>{_LABEL}}  {MARKS[number % len(MARKS)]} {one.name}", width).rstrip())
    return lines
