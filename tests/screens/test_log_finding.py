"""What is looked for in a log, with keys: only lines that match, places, times, errors."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest

from screens.log_search import Search
from screens.log_text import Look
from screens.widgets.log_page import LogPage
from screens.widgets.log_searching import LogSearching
from tests.screens.test_log_view import OneLog, numbers, page_text, settle, status_text

pytestmark = pytest.mark.anyio


def timed(to: int) -> str:
    return "".join(
        f"2026-11-30T{number // 3600:02}:{number // 60 % 60:02}:{number % 60:02}Z line {number}\n"
        for number in range(to)
    )


async def test_a_filter_shows_only_lines_that_match_with_their_numbers_and_the_place_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "agent.txt"
    path.write_text(numbers(to=600_000))
    app = OneLog(path)
    async with app.run_test(size=(120, 24)) as pilot:
        await settle(pilot)
        await pilot.press("g")
        app.view.go_to_line(300_050)
        await settle(pilot)
        await pilot.press("ampersand")
        await pilot.press(*"00$", "enter")
        await settle(pilot)
        assert page_text(app)[0] == "300100  300100" and page_text(app)[1] == "300200  300200"
        assert "&00$ 6,000 lines" in status_text(app)
        await pilot.press("up")
        assert page_text(app)[0] == "300000  300000"
        assert app.view.search_for("500$") == ""
        await settle(pilot)
        assert app.view.search is not None and app.view.search.count == 600
        await pilot.press("G")
        assert page_text(app)[-1] == "600000  600000"
        with path.open("a") as log:
            log.write(numbers(start=600_001, to=600_100))
        app.view.poll()
        await settle(pilot)
        assert app.view.filtering is not None and app.view.filtering.count == 6_001
        app.view.action_hit(-1)
        assert app.view.here_number == 597_500  # before the first line that was shown
        assert app.view.stop_search() and app.view.stop_search()  # the hits, then the filter
        assert app.view.filtering is None
        assert "597500  597500" in page_text(app) and "597501  597501" in page_text(app)
        assert not app.view.stop_search()


async def test_an_inverse_filter_leaves_out_what_matches_and_says_when_nothing_is_left(tmp_path: Path) -> None:
    path = tmp_path / "agent.txt"
    path.write_text("debug a\nerror b\ndebug c\n")
    app = OneLog(path)
    async with app.run_test(size=(80, 24)) as pilot:
        app.view.filter_by("!debug")
        assert page_text(app)[:2] == ["   2  error b", ""]
        app.view.filter_by("nothing such")
        assert "no line matches" in page_text(app)[0]
        app.view.filter_by("!x")
        app.view.action_wrap()
        app.view.action_numbers()
        await pilot.pause()
        assert page_text(app)[:3] == ["debug a", "error b", "debug c"]
        assert "not a regular expression" in app.view.filter_by("*")


async def test_a_filter_that_is_stopped_stays_stopped_and_says_how_far_it_came(tmp_path: Path) -> None:
    path = tmp_path / "agent.txt"
    path.write_text("needle\n" * 3_000_000)
    app = OneLog(path)
    async with app.run_test(size=(120, 24)) as pilot:
        await settle(pilot)
        app.view.filter_by("nothing such|needle x")
        assert app.view.stop_search()
        await settle(pilot)
        assert app.view.filtering is not None and not app.view.filtering.complete
        assert "stopped at" in status_text(app)


async def test_progress_of_a_filter_is_told_while_it_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("screens.widgets.log_searching.PROGRESS_SEC", 0.0)
    told: list[bool] = []
    path = tmp_path / "agent.txt"
    path.write_text(numbers(to=600_000))
    app = OneLog(path)
    async with app.run_test(size=(120, 24)) as pilot:
        await settle(pilot)
        came = LogSearching.came

        def seen(self: LogSearching, event: LogSearching.Searched) -> bool:
            told.append(event.over)
            return came(self, event)

        monkeypatch.setattr(LogSearching, "came", seen)
        app.view.filter_by("9$")
        await settle(pilot)
        assert told.count(False) > 3 and True in told


async def test_keys_go_to_a_line_a_share_a_time_and_so_much_later(tmp_path: Path) -> None:
    path = tmp_path / "agent.txt"
    path.write_text(timed(50_000))
    app = OneLog(path)
    async with app.run_test(size=(120, 24)) as pilot:
        await settle(pilot)
        for typed, line in (
            ("1200", 1_200),
            ("01:00:00", 3_601),
            ("+5m", 3_901),
            ("-30s", 3_871),
            ("+1h1s", 7_472),
            ("02:00 +0100", 3_601),
        ):
            await pilot.press("at", *typed, "enter")  # the place before gives way
            await settle(pilot)
            assert app.view.here_number == line, typed
        assert app.view.go_to("50%") == ""
        await settle(pilot)
        assert 24_000 < int(page_text(app)[0].split()[0]) < 26_000
        app.view.go_to_time(datetime(2026, 11, 30, 2, 0, 0))
        await settle(pilot)
        assert app.view.here_number == 7_201
        app.view.go_to_time(datetime(2027, 1, 1))
        await settle(pilot)
        assert app.view.here_number == 50_000
        assert "a place is one of" in app.view.go_to("nowhere")


async def test_a_log_without_times_says_so(tmp_path: Path) -> None:
    path = tmp_path / "agent.txt"
    path.write_text(numbers(to=100))
    app = OneLog(path)
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        app.view.go_to("14:00")
        await settle(pilot)
        assert [note.message for note in app._notifications] == ["the lines of this log tell no time"]


async def test_e_goes_from_error_to_error_and_says_where_there_are_no_more(tmp_path: Path) -> None:
    path = tmp_path / "agent.txt"
    path.write_text("".join("ERROR x\n" if number in (3, 400) else f"{number}\n" for number in range(1, 1_001)))
    app = OneLog(path)
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        for key, line in (("ctrl+e", 3), ("e", 400), ("E", 3)):
            await pilot.press(key)
            await settle(pilot)
            assert app.view.here_number == line
        await pilot.press("E")
        await settle(pilot)
        assert app.view.here_number == 3
        assert "no error further up" in [note.message for note in app._notifications]


async def test_r_shows_colours_then_plain_text_then_the_bytes(tmp_path: Path) -> None:
    path = tmp_path / "agent.txt"
    path.write_bytes(b"\x1b[1;31mred\x1b[0m \x00\n")
    app = OneLog(path)
    async with app.run_test(size=(80, 24)) as pilot:
        page = app.view.query_one(LogPage)
        inks = [segment.style for segment in page.render_line(0) if segment.text == "red"]
        assert inks and inks[0] is not None and inks[0].bold and inks[0].color is not None
        await pilot.press("r")
        assert app.view.look is Look.PLAIN
        assert not any(segment.text == "red" for segment in page.render_line(0))
        await pilot.press("r")
        assert "^[[1;31mred^[[0m ^@" in page_text(app)[0] and "raw" in status_text(app)


@pytest.mark.parametrize("width", [30, 60, 80, 120, 200])
async def test_the_line_below_says_what_is_on_at_any_width(tmp_path: Path, width: int) -> None:
    path = tmp_path / "agent.txt"
    path.write_text(timed(1_000))
    app = OneLog(path)
    async with app.run_test(size=(width, 24)) as pilot:
        app.view.filter_by("line 1")
        app.view.search_for("line 11")
        app.view.action_look()
        await settle(pilot)
        text = status_text(app)
        assert len(text) == width
        assert "agent.txt" in text or width < 80
        if width >= 120:
            assert "&line 1 111 lines" in text and "/line 11" in text and "follow off · plain · no wrap" in text
        if width >= 200:
            assert " of 1,000 lines" in text and " of 11" in text


@pytest.mark.parametrize("ahead", [1024, 1 << 25], ids=["far ahead", "near"])
async def test_a_search_from_the_middle_goes_on_from_there_and_not_to_hits_above(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ahead: int
) -> None:
    monkeypatch.setattr("screens.widgets.log_searching.PROGRESS_SEC", 0.0)
    monkeypatch.setattr("screens.widgets.log_searching.AHEAD_BYTES", ahead)
    path = tmp_path / "agent.txt"
    path.write_text(numbers(to=600_000))
    app = OneLog(path)
    async with app.run_test(size=(120, 24)) as pilot:
        await settle(pilot)
        app.view.go_to("300000")
        app.view.search_for("^(1|599999)$")
        await settle(pilot)
        assert app.view.here_number == 599_999
        app.view.search_for("^1$")
        await settle(pilot)
        assert app.view.here_number == 1  # round the end, once all was searched


async def test_next_and_previous_go_to_the_nearest_match_before_all_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Search, "extend", lambda self, stop=None: False)
    path = tmp_path / "agent.txt"
    path.write_text(numbers(to=1_000))
    app = OneLog(path)
    async with app.run_test(size=(120, 24)) as pilot:
        await settle(pilot)
        app.view.search_for("00$")
        await settle(pilot)
        app.view.go_to("550")
        went = []
        for key in ("n", "n", "N", "N", "N", "N", "N", "N", "N", "N"):
            app.view.action_hit(1 if key == "n" else -1)
            await settle(pilot)
            went.append(app.view.here_number)
        assert went == [600, 700, 600, 500, 400, 300, 200, 100, 1_000, 900]
        app.view.action_end()
        app.view.action_hit(1)
        await settle(pilot)
        assert app.view.here_number == 1_000
        app.view.action_hit(1)
        await settle(pilot)
        assert app.view.here_number == 100


async def test_one_goes_back_to_where_one_was_before_each_jump(tmp_path: Path) -> None:
    path = tmp_path / "agent.txt"
    path.write_text(numbers(to=1_000))
    app = OneLog(path)
    async with app.run_test(size=(120, 24), notifications=True) as pilot:
        await settle(pilot)
        await pilot.press("g", "ctrl+d")
        assert page_text(app)[0].split() == ["12", "12"]
        for typed in ("500", "50%"):
            await pilot.press("at", *typed, "enter")
            await settle(pilot)
        app.view.search_for("^3$")
        await settle(pilot)
        await pilot.press("G", "ctrl+u")
        went = []
        for _ in range(5):
            await pilot.press("apostrophe")
            went.append(app.view.here_number)
        assert went[0] == 3  # before G
        assert went[1] is not None and 450 < went[1] < 650  # half of the bytes
        assert went[2:4] == [500, 12]
        assert len(app._notifications) == 0
        await pilot.press("apostrophe", "apostrophe")
        assert [note.message for note in app._notifications] == ["no jump to go back from"] * len(app._notifications)
        assert app._notifications
