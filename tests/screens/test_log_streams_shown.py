"""One stream of a log on the screen: its marks, its key, and what it goes together with."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.app import App

from engine import log_streams
from engine.layout import LogFile as ListedLog
from engine.log_streams import streams_path
from screens.widgets.log_page import LogPage
from screens.widgets.log_view import LogView
from tests.screens.stream_logs import Written, written
from tests.screens.test_log_view import OneLog, numbers, page_text, settle, status_text
from tests.screens.test_merged_log import Several

pytestmark = pytest.mark.anyio


def said(app: App[None]) -> list[str]:
    return [note.message for note in app._notifications]


def story(path: Path) -> Path:
    """Of every five lines the fifth came on stderr."""
    pieces: list[Written] = []
    for number in range(1, 101):
        pieces.append(("stderr", b"warn %d\n" % number) if number % 5 == 0 else ("stdout", b"step %d\n" % number))
    return written(path, *pieces)


async def test_lines_of_stderr_bear_a_mark_that_needs_no_colour(tmp_path: Path) -> None:
    app = OneLog(story(tmp_path / "agent.txt"))
    async with app.run_test(size=(100, 24)) as pilot:
        await settle(pilot)
        assert page_text(app)[-6:-4] == ["  95▎ warn 95", "  96  step 96"]
        assert "▎stderr" in status_text(app) and "only" not in status_text(app)
        app.view.action_numbers()
        await pilot.pause()
        assert page_text(app)[-6:-4] == ["▎ warn 95", "  step 96"]


async def test_a_key_goes_through_stderr_stdout_and_both_with_a_word_for_each(tmp_path: Path) -> None:
    app = OneLog(story(tmp_path / "agent.txt"))
    async with app.run_test(size=(100, 12)) as pilot:
        await settle(pilot)
        await pilot.press("g", "|")
        assert page_text(app)[:2] == ["   5▎ warn 5", "  10▎ warn 10"]
        assert "stderr only" in status_text(app)
        await pilot.press("|")
        assert page_text(app)[2:4] == ["   4  step 4", "   6  step 6"]
        assert "stdout only" in status_text(app)
        await pilot.press("|")
        assert page_text(app)[3:5] == ["   4  step 4", "   5▎ warn 5"]
        await pilot.press("|")
        assert app.view.stop_search() and app.view.stream is None, "esc shows both again"
        assert "only" not in status_text(app)


async def test_a_stream_composes_with_filter_search_places_copies_and_saving(tmp_path: Path) -> None:
    app = OneLog(story(tmp_path / "agent.txt"))
    async with app.run_test(size=(120, 24), notifications=True) as pilot:
        await settle(pilot)
        await pilot.press("g", "|")
        app.view.search_for("0")
        await settle(pilot)
        assert app.view.search is not None and app.view.search.count == 10
        app.view.filter_by("5$")
        await settle(pilot)
        assert page_text(app)[:2] == ["   5▎ warn 5", "  15▎ warn 15"]
        assert "&5$ 10 lines" in status_text(app)
        assert app.view.search.count == 0, "none of what is shown"
        await pilot.press("|")
        assert "no line matches" in page_text(app)[0], "no line of stdout ends so"
        app.view.filter_by("!7")
        assert page_text(app)[5:7] == ["   8  step 8", "   9  step 9"]
        assert app.view.filtering is not None and app.view.filtering.count == 80 - 17
        app.view.filter_by("")
        await pilot.press("|", "|")
        app.view.go_to_line(51)
        await settle(pilot)
        assert app.view.here_number == 55, "the next line that is shown"
        await pilot.press("v", "J", "y")
        assert app.clipboard == "warn 55\nwarn 60"
        app.view.save(tmp_path / "range.txt")
        await settle(pilot)
        assert (tmp_path / "range.txt").read_text() == "warn 55\nwarn 60\n"
        app.view.stop_search()
        app.view.save(tmp_path / "all.txt")
        await settle(pilot)
        assert (tmp_path / "all.txt").read_text() == "".join(f"warn {number}\n" for number in range(5, 101, 5))
        app.view._chosen("command")
        await pilot.pause()
        assert "command copied; a shell shows both streams" in said(app)


async def test_a_followed_log_shows_what_comes_on_the_stream_and_no_other_line(tmp_path: Path) -> None:
    path = story(tmp_path / "agent.txt")
    app = OneLog(path, follow=True)
    async with app.run_test(size=(100, 12)) as pilot:
        await settle(pilot)
        await pilot.press("|")
        assert page_text(app)[-1] == " 100▎ warn 100"
        written(path, ("stdout", b"step 101\n"), ("stderr", b"warn 102\nwarn 103\n"), ("stdout", b"step 104\n"))
        app.view.poll()
        assert not any("step" in line for line in page_text(app)), "before it is known whose it is"
        await settle(pilot)
        assert page_text(app)[-2:] == [" 102▎ warn 102", " 103▎ warn 103"]
        app.view.filter_by("3$")
        written(path, ("stderr", b"warn 105 3\n"), ("stdout", b"step 106 3\n"))
        app.view.poll()
        await settle(pilot)
        assert page_text(app)[:3] == [" 103▎ warn 103", " 105▎ warn 105 3", ""]
        assert app.view.filtering is not None and app.view.filtering.count == 2


async def test_a_log_without_notes_says_so_in_one_line_and_looks_as_ever(tmp_path: Path) -> None:
    path = tmp_path / "agent.txt"
    path.write_text(numbers(to=50))
    app = OneLog(path)
    async with app.run_test(size=(100, 12), notifications=True) as pilot:
        await settle(pilot)
        await pilot.press("|")
        assert said(app) == ["no stderr, or it wasn't kept apart"]
        assert app.view.stream is None and page_text(app)[-1] == "  50  50"
        assert "stderr" not in status_text(app)


async def test_what_is_past_the_bound_is_in_both_with_a_mark_and_a_word(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_streams, "MOST_BYTES", 200)
    app = OneLog(story(tmp_path / "agent.txt"))
    async with app.run_test(size=(120, 12)) as pilot:
        await settle(pilot)
        assert page_text(app)[-1] == " 100? warn 100"
        assert "? streams not kept beyond 2" in status_text(app)
        await pilot.press("|", "g")
        assert page_text(app)[0] == "   5▎ warn 5"
        await pilot.press("G")
        assert page_text(app)[-2:] == ["  99? step 99", " 100? warn 100"]
        await pilot.press("|", "G")
        assert page_text(app)[-2:] == ["  99? step 99", " 100? warn 100"]


async def test_a_log_that_is_written_anew_is_told_apart_anew(tmp_path: Path) -> None:
    path = story(tmp_path / "agent.txt")
    app = OneLog(path)
    async with app.run_test(size=(100, 12)) as pilot:
        await settle(pilot)
        await pilot.press("|")
        path.unlink()
        streams_path(path).unlink()
        written(path, ("stdout", b"new 1\nnew 2\n"), ("stderr", b"new 3\n"))
        app.view.poll()
        await settle(pilot)
        assert page_text(app)[:2] == ["   3▎ new 3", ""]
        path.unlink()
        streams_path(path).unlink()
        path.write_text("plain\n")
        app.view.poll()
        await settle(pilot)
        assert page_text(app)[:2] == ["   1  plain", ""] and app.view.stream is None
        assert "stderr" not in status_text(app)


async def test_notes_that_take_back_what_they_said_are_believed(tmp_path: Path) -> None:
    path = story(tmp_path / "agent.txt")
    app = OneLog(path)
    async with app.run_test(size=(100, 12)) as pilot:
        await settle(pilot)
        await pilot.press("|", "g")
        app.view.filter_by("9")
        assert app.view.filtering is not None and app.view.filtering.count == 2
        with streams_path(path).open("ab") as file:
            file.write(b"0 stderr\n")
        with path.open("ab") as file:
            file.write(b"end 9\n")
        app.view.poll()
        await settle(pilot)
        assert app.view.filtering.count == 20 and app.view.here_number == 90
        await pilot.press("g")
        assert page_text(app)[:2] == ["   9▎ step 9", "  19▎ step 19"]


async def test_a_folder_in_the_place_of_notes_and_notes_that_are_none_change_nothing(tmp_path: Path) -> None:
    for name, make in (("a.txt", Path.mkdir), ("b.txt", lambda path: path.write_bytes(b"\x1b]52;c;A\x07\n" * 9))):
        path = tmp_path / name
        path.write_text("one\n")
        make(streams_path(path))
        app = OneLog(path)
        async with app.run_test(size=(100, 12)) as pilot:
            await settle(pilot)
            assert page_text(app)[0] == "   1  one" and "stderr" not in status_text(app)


async def test_one_stream_of_a_log_wraps_scrolls_and_is_paged(tmp_path: Path) -> None:
    long = b"w" * 150
    path = written(
        tmp_path / "agent.txt",
        *(("stderr" if n % 3 == 0 else "stdout", b"%d %s\n" % (n, long)) for n in range(200)),
    )
    app = OneLog(path)
    async with app.run_test(size=(80, 12)) as pilot:
        await settle(pilot)
        app.view.action_wrap()
        await pilot.press("|", "g")
        assert [line[:8] for line in page_text(app)[:6]] == [
            "   1▎ 0 ", "    ▎ ww", "    ▎ ww", "   4▎ 3 ", "    ▎ ww", "    ▎ ww",
        ]  # fmt: skip
        await pilot.press("pagedown", "down")
        assert page_text(app)[0].startswith("    ▎ w")
        await pilot.press("G")
        assert page_text(app)[-1].startswith("    ▎ ww") and page_text(app)[-3].startswith(" 199▎ 198 ")


@pytest.fixture
def view(tmp_path: Path) -> LogView:
    return LogView(tmp_path / "agent.txt", "agent")


def test_a_log_that_is_not_there_yet_knows_no_streams(view: LogView) -> None:
    assert view.streams is None and view.stream is None


async def test_the_text_is_narrower_by_the_marks_where_there_are_no_numbers(tmp_path: Path) -> None:
    path = written(tmp_path / "agent.txt", ("stdout", b"x" * 200 + b"\n"), ("stderr", b"y\n"))
    app = OneLog(path)
    async with app.run_test(size=(80, 12)) as pilot:
        await settle(pilot)
        app.view.action_numbers()
        app.view.action_wrap()
        await pilot.pause()
        page = app.view.query_one(LogPage)
        assert page.numbers_width == 2
        assert page_text(app)[0] == "  " + "x" * (page.size.width - 2)


async def test_logs_merged_by_time_show_every_line_and_say_that_they_tell_no_streams_apart(tmp_path: Path) -> None:
    for name in ("agent", "db"):
        written(tmp_path / f"{name}.log", ("stderr", b"2026-11-30T12:00:00Z of " + name.encode() + b"\n"))
    app = Several([ListedLog("service", name, tmp_path / f"{name}.log") for name in ("agent", "db")])
    async with app.run_test(size=(100, 12), notifications=True) as pilot:
        await settle(pilot)
        await pilot.press("|")
        assert said(app) == ["merged logs don't tell streams apart"]
        page = app.view.query_one(LogPage)
        assert [page.render_line(y).text.split()[-1] for y in range(2)] == ["agent", "db"]
