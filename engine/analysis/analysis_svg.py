"""An analysis as one SVG picture: rates with intervals, score against steps, score against cost by effort."""

from __future__ import annotations

from itertools import pairwise

from engine.analysis import wording as say
from engine.analysis.analysis import Analysis
from engine.analysis.analysis_plots import Plot, plots
from engine.analysis.as_svg import WIDTH, svg_style, text_of

_LEFT, _RIGHT, _HEIGHT = 230, 600, 240
_ROW = 26
_ENDS = (0.04, 0.08, 0.2, 0.4, 0.6, 0.8)
"""Of an axis of shares: a quarter of each reads well."""
_COLOURS = ("#1f6fb2", "#b2541f", "#3d8b37", "#8a4fb0", "#a3801a", "#4a6a78", "#b03a5b", "#5b5bd6")
_DASHES = ("", "7 3", "2 3", "9 3 2 3", "12 4", "4 4", "1 4", "6 2 1 2 1 2")
_STYLE = """
.deck-line { fill: none; stroke-width: 2; }
.deck-band { opacity: 0.14; stroke: none; }
"""


def analysis_svg(found: Analysis, *, standalone: bool = True) -> str:
    """Series differ in dashes and in the letter of their marks, not in colour alone. `standalone` False: to stand
    inside of a page that has the styles of `svg_style`."""
    lines: list[str] = []
    y = 32.0
    for benchmark in found.benchmarks:
        rows = [row for row in found.ranked if row.benchmark == benchmark]
        if not rows:
            continue
        lines.append(_text(24, y, f"Resolved, {benchmark}", "deck-title"))
        y += 30
        bottom = y + _ROW * len(rows)
        for quarter in range(5):
            x = _LEFT + (_RIGHT - _LEFT) * quarter / 4
            lines.append(f'<line class="deck-axis" x1="{x}" y1="{y - 14}" x2="{x}" y2="{bottom - 10}"/>')
            lines.append(_text(x, bottom + 6, f"{25 * quarter} %", "deck-dim deck-small", "middle"))
        for row in rows:
            rate = f"{say.percent(row.rate)}  {say.percent_range(row.interval)}"
            lines += _interval(y, row.arm, row.rate, row.interval, f"rank {row.rank}  {row.passed}/{row.of}  {rate}")
            y += _ROW
        y += 44
    for plot in plots(found):
        drawn, used = _plot(plot, y)
        lines += drawn
        y += used
    for note in (*(f"! {note}" for note in found.notes), *found.sources):
        for part in say.wrap(note, 118, "  "):
            lines.append(_text(24, y, part, "deck-dim deck-small"))
            y += 16
    height = y + 12
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:g}" width="{WIDTH}" height="{height:g}"'
    )
    title = text_of(", ".join(found.arms), 200)
    return "\n".join(
        [
            *(['<?xml version="1.0" encoding="UTF-8"?>'] if standalone else []),
            f'{head} role="img" aria-label="{title}">',
            f"<style>{svg_style() if standalone else ''}{_STYLE}</style>",
            f'<rect class="deck-ground" width="{WIDTH}" height="{height:g}"/>',
            *lines,
            "</svg>",
            "",
        ]
    )


def _text(x: float, y: float, value: str, style: str = "", anchor: str = "start", most: int = 118) -> str:
    return f'<text class="deck {style}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{text_of(value, most)}</text>'


def _interval(y: float, name: str, rate: float | None, interval: tuple[float, float] | None, numbers: str) -> list[str]:
    lines = [_text(_LEFT - 12, y + 5, name, anchor="end", most=26), _text(_RIGHT + 14, y + 5, numbers, "deck-small")]
    if interval is not None:
        left, right = (_LEFT + (_RIGHT - _LEFT) * end for end in interval)
        lines.append(f'<line class="deck-bar" x1="{left:.1f}" y1="{y}" x2="{right:.1f}" y2="{y}"/>')
    if rate is not None:
        lines.append(f'<circle class="deck-dot" cx="{_LEFT + (_RIGHT - _LEFT) * rate:.1f}" cy="{y}" r="5"/>')
    return lines


def _plot(plot: Plot, y: float) -> tuple[list[str], float]:
    """Its elements, and the height that it takes."""
    top = y + 24
    bottom = top + _HEIGHT
    left, right = 90, WIDTH - 40
    xs = [x for one in plot.series for x, _ in one.points]
    ends = [value for one in plot.series for _, value in one.points]
    ends += [end for one in plot.series for bar in one.bars for end in bar]
    x_low, x_high = min(0.0, *xs), max(xs)
    y_high = next((end for end in _ENDS if max(ends) <= end), 1.0)

    def at(x: float, value: float) -> tuple[float, float]:
        across = (x - x_low) / (x_high - x_low) if x_high > x_low else 0.5
        return left + (right - left) * across, bottom - _HEIGHT * value / y_high

    lines = [_text(24, y, plot.title, "deck-title")]
    for quarter in range(5):
        value = y_high * quarter / 4
        _, down = at(x_low, value)
        lines.append(f'<line class="deck-axis" x1="{left}" y1="{down:.1f}" x2="{right}" y2="{down:.1f}"/>')
        lines.append(_text(left - 8, down + 4, say.percent(value), "deck-dim deck-small", "end"))
        x = x_low + (x_high - x_low) * quarter / 4
        x = x if plot.x_is_money else float(round(x))
        lines.append(_text(at(x, 0)[0], bottom + 18, plot.x_text(x), "deck-dim deck-small", "middle"))
    lines.append(_text((left + right) / 2, bottom + 36, plot.x_name, "deck-dim", "middle"))
    legend = bottom + 58
    for number, one in enumerate(plot.series):
        colour, dash = _COLOURS[number % len(_COLOURS)], _DASHES[number % len(_DASHES)]
        stroke = f'stroke="{colour}"' + (f' stroke-dasharray="{dash}"' if dash else "")
        points = [at(x, value) for x, value in one.points]
        if one.steps:
            band = [at(x, high) for (x, _), (_, high) in zip(one.points, one.bars, strict=False)]
            band += [at(x, low) for (x, _), (low, _) in reversed(list(zip(one.points, one.bars, strict=False)))]
            lines.append(f'<polygon class="deck-band" fill="{colour}" points="{_points(band)}"/>')
            stairs = [points[0]]
            for (_, before), (x, value) in pairwise(points):
                stairs += [(x, before), (x, value)]
            lines.append(f'<polyline class="deck-line" {stroke} points="{_points(stairs)}"/>')
        else:
            for (x, _), (low, high) in zip(one.points, one.bars, strict=False):
                (across, down), (_, up) = at(x, low), at(x, high)
                lines.append(
                    f'<line class="deck-line" {stroke} x1="{across:.1f}" y1="{down:.1f}" '
                    f'x2="{across:.1f}" y2="{up:.1f}"/>'
                )
            lines += [f'<circle cx="{x:.1f}" cy="{down:.1f}" r="5" fill="{colour}"/>' for x, down in points]
            for x, down in points:
                side, anchor = (9, "start") if x < (left + right) / 2 else (-9, "end")
                lines.append(_text(x + side, down - 6, one.name, "deck-small", anchor, most=40))
        if one.steps:
            lines.append(
                f'<line class="deck-line" {stroke} x1="{left}" y1="{legend - 4}" x2="{left + 36}" y2="{legend - 4}"/>'
            )
            lines.append(_text(left + 46, legend, one.name, "deck-small"))
            legend += 18
    return lines, legend + 20 - y


def _points(pairs: list[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in pairs)
