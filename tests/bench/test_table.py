"""The results as text."""

from __future__ import annotations

import pytest

from bench.table import behind, lines, number, quantity, verdict
from tests.bench.results import OURS, check, result


@pytest.mark.parametrize(
    ("value", "expected"),
    [(0, "0"), (0.14285, "0.143"), (1.5, "1.5"), (47.72, "47.7"), (1284.4, "1284"), (0.00012, "1.2e-04")],
)
def test_three_digits(value: float, expected: str) -> None:
    assert number(value) == expected


def test_units() -> None:
    assert [quantity(2.5, unit) for unit in ("s", "%", "", "MB")] == ["2.5 s", "2.5%", "2.5", "2.5 MB"]


def test_a_line_per_figure_and_the_measurements_below() -> None:
    shown = lines([result(check(0.15, aim=1 / 7), check(0.3))])
    assert shown[0].split() == ["benchmark", "figure", "value", "target", "aim"]
    assert shown[2].endswith("met, short of the aim")
    assert shown[3].endswith("MISSED")
    assert shown[2].startswith("hello") and shown[3].startswith("     ")
    assert any(line.startswith("  trialdeck: min 1.9 s, median 2 s, max 9 s, n = 3") for line in shown)


def test_the_reason_where_nothing_could_be_measured() -> None:
    shown = lines([result(unmeasured="no Docker\nsays who")])
    assert "not measured" in shown[2] and "MISSED" in shown[2]
    assert shown[-2:] == ["  no Docker", "  says who"]


def test_few_measurements_are_all_shown() -> None:
    assert behind(OURS).endswith("[2, 1.9, 9]")


def test_the_verdict_names_what_is_missed() -> None:
    assert verdict([result(check(0.1))]) == "every target is met"
    assert verdict([result(check(0.1)), result(check(0.3))]) == "missed: hello"
