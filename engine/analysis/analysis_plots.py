"""The plots of an analysis, as series: one place for the terminal and for SVG."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from engine.analysis import wording as say
from engine.analysis.analysis import Analysis
from engine.analysis.plot_lines import PlotSeries

STEPS, EFFORT = "steps", "effort"


class Plot(msgspec.Struct, frozen=True, kw_only=True):
    """`of` is what it shows: `STEPS` or `EFFORT`. `y` is a share; `x` dollars where `x_is_money`, else a count."""

    of: str
    title: str
    x_name: str
    x_is_money: bool
    series: tuple[PlotSeries, ...]

    @property
    def x_text(self) -> Callable[[float], str]:
        return say.money if self.x_is_money else lambda value: f"{value:,.0f}"


def plots(found: Analysis) -> list[Plot]:
    """Score against steps of each benchmark, score against cost of each sweep of efforts."""
    drawn = []
    for benchmark in found.benchmarks:
        curves = [curve for curve in found.step_curves if curve.benchmark == benchmark and curve.points]
        if curves:
            series = tuple(
                PlotSeries(
                    name=curve.arm,
                    points=tuple((float(point.steps), point.score) for point in curve.points),
                    bars=tuple((point.low, point.high) for point in curve.points),
                    steps=True,
                )
                for curve in curves
            )
            drawn.append(
                Plot(
                    of=STEPS,
                    title=f"score against steps, {benchmark}",
                    x_name="steps",
                    x_is_money=False,
                    series=series,
                )
            )
    for sweep in found.effort_sweeps:
        priced = [(point, point.cost) for point in sweep.points if point.cost is not None]
        if priced:
            series = tuple(
                PlotSeries(name=point.level, points=((cost, point.score),), bars=((point.low, point.high),))
                for point, cost in priced
            )
            drawn.append(
                Plot(
                    of=EFFORT,
                    title=f"effort: score against cost, {sweep.configuration}, {sweep.benchmark}",
                    x_name="dollars a task",
                    x_is_money=True,
                    series=series,
                )
            )
    return drawn
