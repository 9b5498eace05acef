from __future__ import annotations

import pytest

from screens import format as fmt
from screens.columns import Column, share
from screens.pieces import cells, cut, fit, spread, width_of


@pytest.mark.parametrize(
    ("seconds", "text"), [(None, "—"), (0, "0:00:00"), (131, "0:02:11"), (3600 * 30 + 61, "30:01:01"), (-5, "0:00:00")]
)
def test_clock_time(seconds: float | None, text: str) -> None:
    assert fmt.clock_time(seconds) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.4, "0.4 s"), (45, "45 s"), (90, "90 s"), (600, "10 min"), (1800, "30 min"), (28_800, "8 h"), (9000, "2 h 30")],
)
def test_span(seconds: float, text: str) -> None:
    assert fmt.span(seconds) == text


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0"), (512, "512"), (655_360, "640K"), (2_040_109_466, "1.9G"), (4 * 2**30, "4G"), (1e15, "909T")],
)
def test_size(count: float, text: str) -> None:
    assert fmt.size(count) == text


def test_size_of_says_the_unit_once_and_fits_its_column() -> None:
    assert fmt.size_of(2_040_109_466, 4 * 2**30) == "1.9/4G"
    assert fmt.size_of(600 * 2**20, 4 * 2**30) == "0.6/4G"
    assert fmt.size_of(792 * 2**10, 128 * 2**20) == "0.8/128M"
    assert fmt.size_of(0, 4 * 2**30) == "0/4G"
    for used in range(0, 2**40, 2**33 + 12345):
        for limit in (1, 999, 5000, 192 * 2**20, 999 * 2**20, 4 * 2**30, 2**41):
            assert len(fmt.size_of(min(used, limit), limit)) <= 8
    assert fmt.size_of(600, 0) == "600"
    assert fmt.size_of(None, 0) == "—"


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0, "10 s"), (3.14, "10 s"), (51, "60 s"), (62, "2 min"), (601, "15 min"), (3500, "60 min"), (3700, "75 min")],
)
def test_an_estimate_is_coarse_and_no_time_too_short(seconds: float, said: str) -> None:
    assert fmt.about(seconds) == said


def test_an_estimate_of_hours_has_quarters_and_one_of_a_day_has_none() -> None:
    assert (fmt.about(8000), fmt.about(7200), fmt.about(50_000)) == ("2 h 15", "2 h", "14 h")


def test_unknown_cost_is_never_a_zero() -> None:
    assert fmt.cost(None, 3) == "—"
    assert fmt.cost(0.0, 0) == "$0.00"
    assert fmt.cost(0.13, 1) == "≥ $0.13, 1 unknown"


def test_rate_of_nothing_is_a_dash() -> None:
    assert fmt.rate(0, 0) == "—"
    assert fmt.rate(31, 48) == "64.6 %"


def test_arm_letters() -> None:
    assert [fmt.arm_letter(number) for number in (0, 1, 25, 26, 27)] == ["A", "B", "Z", "AA", "AB"]


def test_a_bar_that_has_begun_shows_it() -> None:
    assert fmt.bar(0, 4) == ("", "────")
    assert fmt.bar(0.001, 4) == ("╸", "───")
    assert fmt.bar(7, 4) == ("━━━━", "")


@pytest.mark.parametrize("width", range(12))
def test_fit_is_exactly_as_wide_as_asked(width: int) -> None:
    for text in ("", "abc", "größe-日本語", "日本語日本語日本語", "e\u0301" * 9):
        for right in (False, True):
            assert width_of(fit([(text, ""), (" and more", "")], width, right)) == width
        assert cells(cut(text, width)) <= width


@pytest.mark.parametrize("width", range(30))
def test_spread_is_exactly_as_wide_as_asked(width: int) -> None:
    assert width_of(spread([("left side", "")], [("right", "")], width)) == width


def test_columns_leave_by_importance_and_fill_the_width() -> None:
    columns = [
        Column("a", "a", 10, keep=3, widest=20),
        Column("b", "b", 5, keep=1),
        Column("c", "c", 5, keep=2, widest=99),
    ]
    for width in range(10, 80):
        shares = share(columns, width)
        assert sum(cells for _, cells in shares) + 2 * (len(shares) - 1) == width
    assert [column.name for column, _ in share(columns, 20)] == ["a", "c"]
    assert [column.name for column, _ in share(columns, 12)] == ["a"]


def test_a_cost_that_nobody_spent_is_shown_as_what_it_is_and_breaks_no_table() -> None:
    assert fmt.usd(1e308) == "$1.0e+308"
    assert [fmt.usd(value) for value in (0.0, 0.00001, 0.00046, 0.0006)] == ["$0.00", "<$0.0001", "$0.0005", "$0.001"]
    assert fmt.usd(999_999_999) == "$999,999,999.00"


def test_what_a_row_is_about_is_read_whole_before_other_columns_grow() -> None:
    columns = (Column("task", "", 10, widest=40, first=20), Column("issues", "", 10, widest=100))
    assert [width for _, width in share(columns, 32)] == [20, 10]
    assert [width for _, width in share(columns, 42)] == [25, 15]
    assert [width for _, width in share(columns, 42, {"task": 12})] == [12, 28]
