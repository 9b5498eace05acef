"""The results as text: a line per figure, with the measurements behind it below."""

from __future__ import annotations

from collections.abc import Sequence

from bench.figures import Check, Result, Series

UNITS_AFTER_A_SPACE = {"s", "ms", "MB", "B"}


def lines(results: Sequence[Result]) -> list[str]:
    rows = [("benchmark", "figure", "value", "target", "aim", "")]
    for result in results:
        if result.unmeasured:
            rows.append((result.benchmark, "not measured", "", "", "", "MISSED"))
        for number, check in enumerate(result.checks):
            rows.append((result.benchmark if not number else "", *_row(check)))
    widths = [max(len(row[column]) for row in rows) for column in range(6)]
    found = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    found.insert(1, "─" * max(map(len, found)))
    for result in results:
        found += ["", f"{result.benchmark}: {result.title}"]
        if result.unmeasured:
            found += [f"  {line}" for line in result.unmeasured.splitlines()]
        found += [f"  {behind(series)}" for series in result.series]
        found += [f"  {note}" for note in result.notes]
    return found


def verdict(results: Sequence[Result]) -> str:
    missed = [f"{result.benchmark}" for result in results if not result.ok]
    return f"missed: {', '.join(missed)}" if missed else "every target is met"


def behind(series: Series) -> str:
    """The smallest, the median and the largest; where they are few, all of them."""
    few = len(series.values) <= 8
    every = f"  [{', '.join(number(value) for value in series.values)}]" if few and len(series.values) > 1 else ""
    return (
        f"{series.name}: min {quantity(min(series.values), series.unit)}, "
        f"median {quantity(series.median, series.unit)}, "
        f"max {quantity(max(series.values), series.unit)}, n = {len(series.values)}{every}"
    )


def _row(check: Check) -> tuple[str, str, str, str, str]:
    target = "" if check.target is None else f"{'<' if check.below else '≤'} {quantity(check.target, check.unit)}"
    aim = "" if check.aim is None else f"≤ {quantity(check.aim, check.unit)}"
    if check.met is False:
        word = "MISSED"
    elif check.aim_met is False:
        word = "met, short of the aim" if check.met else "short of the aim"
    else:
        word = "met" if check.met or check.aim_met else ""
    return check.name, quantity(check.value, check.unit), target, aim, word


def quantity(value: float, unit: str) -> str:
    space = " " if unit in UNITS_AFTER_A_SPACE else ""
    return f"{number(value)}{space}{unit}"


def number(value: float) -> str:
    """Three digits, or whole where that is more."""
    if value == 0:
        return "0"
    if abs(value) >= 100:
        return f"{value:.0f}"
    return f"{value:.3g}" if abs(value) >= 0.001 else f"{value:.1e}"
