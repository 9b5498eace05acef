"""A comparison as one SVG picture: rates with their intervals, and the difference with its own. Names are escaped."""

from __future__ import annotations

from html import escape

from engine.analysis import wording as say
from engine.analysis.as_text import difference_line, mcnemar_line, method_line, what_was_compared
from engine.analysis.report import Report, source_line
from engine.text import clean_line

WIDTH = 860
_LEFT, _RIGHT = 230, 640
"""Where the axis begins and ends; names stand at its left, numbers at its right."""
_ROW = 34
_MOST_ARMS = 12
_STYLE = """
.deck { font: 13px ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace; fill: #1c2430; }
.deck-ground { fill: #ffffff; }
.deck-dim { fill: #5b6675; }
.deck-small { font-size: 11px; }
.deck-title { font-weight: bold; font-size: 15px; }
.deck-axis { stroke: #c4ccd6; stroke-width: 1; }
.deck-zero { stroke: #5b6675; stroke-width: 1; stroke-dasharray: 3 3; }
.deck-bar { stroke: #1f6fb2; stroke-width: 3; }
.deck-dot { fill: #1f6fb2; }
@media (prefers-color-scheme: dark) {
  .deck { fill: #dfe6ee; }
  .deck-ground { fill: #12171e; }
  .deck-dim { fill: #93a0b0; }
  .deck-axis { stroke: #3a4552; }
  .deck-zero { stroke: #93a0b0; }
  .deck-bar { stroke: #6cb6f5; }
  .deck-dot { fill: #6cb6f5; }
}
"""


def text_of(value: str, most: int = 10_000) -> str:
    """Safe in XML, in an attribute too: one line, no control characters, none that XML doesn't know."""
    line = clean_line(value)
    line = "".join(char for char in line if char not in "\ufffe\uffff")
    return escape(line if len(line) <= most else f"{line[: most - 1]}…", quote=True)


def report_svg(report: Report, *, standalone: bool = True) -> str:
    """`standalone` False: to stand inside of a page that has the styles."""
    found = report.found
    rates = _rates(report)
    lines: list[str] = []
    y = 30
    lines.append(_text(24, y, f"A {found.arms[0].name}   B {found.arms[1].name}", "deck-title", most=90))
    y += 20
    lines.append(_text(24, y, what_was_compared(found), "deck-dim deck-small"))
    y += 30
    top = y
    for name, rate, interval, numbers in rates:
        lines += _row(y, name, rate, interval, 0.0, 1.0, numbers)
        y += _ROW
    lines += _axis(top - 14, y - 14, 0.0, 1.0, [(share / 4, f"{25 * share} %") for share in range(5)])
    y += 36
    apart = _differences(report)
    if apart:
        reach = _reach(max(abs(value) for _, *values in apart for value in values))
        ticks = [(step * reach / 2, f"{say.signed(50 * step * reach, 0)}") for step in range(-2, 3)]
        top = y
        for name, estimate, low, high in apart:
            numbers = f"{say.points(estimate)}  {say.points_range(low, high)}"
            lines += _row(y, name, estimate, (low, high), -reach, reach, numbers)
            y += _ROW
        lines += _axis(top - 14, y - 14, -reach, reach, ticks, zero=True)
        y += 36
    notes = [f"{difference_line(found)}  {method_line(found.difference)}", mcnemar_line(found)]
    notes += [f"! {text}" for text in report.limits]
    notes += [source_line(source) for source in report.sources]
    notes.append(f"{_sensitivity(report)}")
    notes.append(f"made {report.made_at.isoformat()} by {report.made_by}")
    for note in notes:
        for part in say.wrap(note, 118, "  "):
            lines.append(_text(24, y, part, "deck-dim deck-small"))
            y += 16
    height = y + 8
    title = text_of(f"{found.arms[0].name} against {found.arms[1].name}")
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}"'
    parts = [f'{head} role="img" aria-label="{title}">']
    if standalone:
        parts.append(f"<style>{_STYLE}</style>")
    parts.append(f'<rect class="deck-ground" width="{WIDTH}" height="{height}"/>')
    document = "\n".join([*parts, *lines, "</svg>"]) + "\n"
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{document}' if standalone else document


def svg_style() -> str:
    return _STYLE


_Rate = tuple[str, float | None, tuple[float, float] | None, str]


def _rates(report: Report) -> list[_Rate]:
    rows: list[_Rate] = []
    for letter, arm in zip("AB", report.found.arms, strict=True):
        of = arm.assigned if arm.rate_of == "assigned" else arm.finished
        live = "" if arm.rate_of == "assigned" else " finished"
        numbers = f"{arm.resolved}/{of}{live}  {say.percent(arm.rate)}  {say.percent_range(arm.interval)}"
        rows.append((f"{letter} {arm.name}", arm.rate, arm.interval, numbers))
    shown = {arm.name for arm in report.found.arms}
    for other in report.standings:
        if other.name not in shown and len(rows) < _MOST_ARMS:
            rate = other.rate
            numbers = f"{rate.passed}/{rate.of}  {say.percent(rate.rate)}  {say.percent_range(rate.interval)}"
            rows.append((f"  {other.name}", rate.rate, rate.interval, numbers))
    return rows


def _differences(report: Report) -> list[tuple[str, float, float, float]]:
    """The baseline minus B, and minus every other arm where there are more; name, estimate, low, high."""
    delta = report.found.difference
    rows = [("A − B, points", delta.estimate, delta.low, delta.high)]
    families = report.found.family_difference
    if families is not None:
        rows.append(("by families of tasks", families.estimate, families.low, families.high))
    shown = {arm.name for arm in report.found.arms}
    others = [arm for arm in report.standings if arm.name not in shown]
    rows += [(f"A − {arm.name}", arm.difference, arm.low, arm.high) for arm in others[: _MOST_ARMS - 2]]
    return [
        (name, estimate, low, high)
        for name, estimate, low, high in rows
        if estimate is not None and low is not None and high is not None
    ]


def _sensitivity(report: Report) -> str:
    views = [
        f"{view.name} {say.points(view.difference)}"
        for view in report.found.sensitivity
        if view.left_out or view.changed or view is report.found.sensitivity[0]
    ]
    return f"A − B by reading: {', '.join(views)}" + ("" if len(views) > 1 else f" ({say.LABELLED})")


def _reach(largest: float) -> float:
    """The end of the axis: a round number of points beyond everything that stands on it."""
    return next((end for end in (0.05, 0.1, 0.2, 0.3, 0.5, 0.75) if largest <= 0.95 * end), 1.0)


def _text(x: float, y: float, value: str, style: str = "", anchor: str = "start", most: int = 200) -> str:
    where = "" if anchor == "start" else f' text-anchor="{anchor}"'
    return (
        f'<text class="deck {style}" x="{x:.1f}" y="{y:.1f}"{where} xml:space="preserve">{text_of(value, most)}</text>'
    )


def _row(
    y: float,
    name: str,
    value: float | None,
    interval: tuple[float, float] | None,
    low: float,
    high: float,
    numbers: str,
) -> list[str]:
    lines = [_text(_LEFT - 12, y + 5, name, anchor="end", most=26), _text(_RIGHT + 14, y + 5, numbers, "deck-small")]
    if interval is not None:
        left, right = (_place(end, low, high) for end in interval)
        lines.append(f'<line class="deck-bar" x1="{left:.1f}" y1="{y}" x2="{right:.1f}" y2="{y}"/>')
        for end in (left, right):
            lines.append(f'<line class="deck-bar" x1="{end:.1f}" y1="{y - 5}" x2="{end:.1f}" y2="{y + 5}"/>')
    if value is not None:
        lines.append(f'<circle class="deck-dot" cx="{_place(value, low, high):.1f}" cy="{y}" r="5"/>')
    return lines


def _place(value: float, low: float, high: float) -> float:
    return _LEFT + (_RIGHT - _LEFT) * (min(max(value, low), high) - low) / (high - low)


def _axis(
    top: float, bottom: float, low: float, high: float, ticks: list[tuple[float, str]], zero: bool = False
) -> list[str]:
    lines = [f'<line class="deck-axis" x1="{_LEFT}" y1="{bottom}" x2="{_RIGHT}" y2="{bottom}"/>']
    for value, label in ticks:
        x = _place(value, low, high)
        if zero and value == 0:
            lines.append(f'<line class="deck-zero" x1="{x:.1f}" y1="{top}" x2="{x:.1f}" y2="{bottom}"/>')
        lines.append(f'<line class="deck-axis" x1="{x:.1f}" y1="{bottom}" x2="{x:.1f}" y2="{bottom + 5}"/>')
        lines.append(_text(x, bottom + 19, label, "deck-dim deck-small", anchor="middle"))
    return lines
