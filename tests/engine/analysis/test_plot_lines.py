"""Plots of plain text."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from engine.analysis.plot_lines import PlotSeries, plot_lines
from engine.analysis.wording import cells
from engine.text import clean_line


def test_higher_values_stand_higher_and_series_have_marks_of_their_own() -> None:
    lines = plot_lines(
        [PlotSeries(name="up", points=((0.0, 0.0), (10.0, 1.0))), PlotSeries(name="flat", points=((5.0, 0.5),))],
        width=40,
        height=5,
        x_name="steps",
    )
    assert lines[0].endswith("●") and lines[0].startswith("       1 ┤")
    assert lines[4].startswith("       0 ┤●") and "○" in lines[2]
    assert [line.strip() for line in lines[-2:]] == ["● up", "○ flat"]
    assert "steps" in lines[-3]


def test_stairs_hold_their_height_until_the_next_point() -> None:
    lines = plot_lines([PlotSeries(name="a", points=((0.0, 1.0), (20.0, 0.0)), steps=True)], width=31, height=5)
    assert lines[0].count("●") == 20 and lines[4].count("●") == 1


def test_intervals_are_lines_through_their_points() -> None:
    series = PlotSeries(name="a", points=((0.0, 0.5), (1.0, 0.5)), bars=((0.0, 1.0), (0.5, 0.5)))
    lines = plot_lines([series], width=30, height=5)
    assert [line[10:11] for line in lines[:5]] == ["│", "│", "●", "│", "│"]


def test_nothing_is_drawn_of_nothing_and_one_point_is_enough() -> None:
    assert plot_lines([], width=80) == [] and plot_lines([PlotSeries(name="a", points=())], width=80) == []
    assert "●" in "".join(plot_lines([PlotSeries(name="a", points=((3.0, 0.0),))], width=30))


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.tuples(st.floats(-1e6, 1e6), st.floats(0, 1)), min_size=1, max_size=20),
    st.integers(10, 120),
    st.text(max_size=200),
)
def test_no_line_is_wider_than_asked_whatever_stands_in_names(
    points: list[tuple[float, float]], width: int, name: str
) -> None:
    lines = plot_lines([PlotSeries(name=name, points=tuple(points))], width=width, x_text=lambda value: f"{value:.3g}")
    assert all(cells(line) <= max(width, 30) and line == clean_line(line) for line in lines)
