"""The log view in a small app: following, letting go, searching, hostile bytes."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

import pytest
from textual.app import App, ComposeResult
from textual.pilot import Pilot
from textual.widgets import Input
from textual.worker import WorkerCancelled

from console.theme import THEMES, shades
from screens.deck_screen import DeckScreen
from screens.widgets.log_asking import SearchLine
from screens.widgets.log_page import LogPage, LogScrollBar
from screens.widgets.log_status import LogStatus
from screens.widgets.log_view import LogView

pytestmark = pytest.mark.anyio

DECK = Path(__file__).parents[2] / "screens" / "deck.tcss"


class OneLog(App[None]):
    CSS_PATH = DECK

    def __init__(self, path: Path, follow: bool = False) -> None:
        super().__init__()
        self.register_theme(THEMES[0])
        self.theme = THEMES[0].name
        self.view = LogView(path, "agent", follow=follow)

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return shades(self.current_theme)

    def get_default_screen(self) -> DeckScreen[None]:
        return DeckScreen()

    def compose(self) -> ComposeResult:
        yield self.view

    def key_f(self) -> None:
        self.view.action_follow()

    def on_mount(self) -> None:
        self.view.query_one(LogPage).focus()


def page_text(app: OneLog) -> list[str]:
    page = app.view.query_one(LogPage)
    return [page.render_line(y).text.rstrip() for y in range(page.size.height)]


def status_text(app: OneLog) -> str:
    return app.view.query_one(LogStatus).render_line(0).text


async def settle(pilot: Pilot[None]) -> None:
    """Workers have ended and their messages are taken."""
    with suppress(WorkerCancelled):
        await pilot.app.workers.wait_for_complete()
    await pilot.pause()


def numbers(*, to: int, start: int = 1) -> str:
    return "".join(f"{number}\n" for number in range(start, to + 1))


async def test_opens_at_the_end_and_counts_lines(tmp_path: Path) -> None:
    path = tmp_path / "agent.txt"
    path.write_text(numbers(to=500_000))
    app = OneLog(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        assert page_text(app)[-1] == "500000  500000"
        assert "500,000 lines" in status_text(app)
        await pilot.press("g")
        assert page_text(app)[0] == "     1  1"
        await pilot.press("pagedown")
        assert page_text(app)[0] == "    23  23"
        await pilot.press("G")
        assert page_text(app)[-1] == "500000  500000"


async def test_follow_lets_go_when_one_scrolls_and_says_what_is_new(tmp_path: Path) -> None:
    path = tmp_path / "agent.txt"
    path.write_text(numbers(to=100))
    app = OneLog(path, follow=True)
    async with app.run_test(size=(80, 24)) as pilot:
        with path.open("a") as log:
            log.write(numbers(start=101, to=200))
        app.view.poll()
        assert page_text(app)[-1] == " 200  200"
        assert "follow" in status_text(app) and "follow off" not in status_text(app)
        await pilot.press("up")
        with path.open("a") as log:
            log.write(numbers(start=201, to=328))
        app.view.poll()
        assert page_text(app)[-1] == " 199  199"
        assert "follow off · 128 new lines" in status_text(app)
        await pilot.press("f")
        assert page_text(app)[-1] == " 328  328"
        assert "new" not in status_text(app)


async def test_end_goes_to_the_end_and_the_view_does_not_move_by_itself(tmp_path: Path) -> None:
    path = tmp_path / "agent.txt"
    path.write_text(numbers(to=100))
    app = OneLog(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("g", "end")
        before = page_text(app)
        with path.open("a") as log:
            log.write(numbers(start=101, to=150))
        app.view.poll()
        assert page_text(app) == before
        assert "50 new lines" in status_text(app)


async def test_a_truncated_or_replaced_file_is_shown_anew(tmp_path: Path) -> None:
    path = tmp_path / "agent.txt"
    path.write_text(numbers(to=1_000))
    app = OneLog(path, follow=True)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("g")
        os.truncate(path, 0)
        app.view.poll()
        path.write_text("fresh\n")
        app.view.poll()
        assert page_text(app)[0] == "   1  fresh"
        assert "replaced" in status_text(app)


async def test_a_file_that_is_not_there_yet_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "agent.txt"
    app = OneLog(path, follow=True)
    async with app.run_test(size=(80, 24)):
        assert "no such file yet" in page_text(app)[0]
        path.write_text("here\n")
        app.view.poll()
        assert page_text(app)[0] == "   1  here"
        path.unlink()
        app.view.poll()
        assert page_text(app)[0] == "   1  here"
        assert "file was removed" in status_text(app)
        path.write_text("again\n")
        app.view.poll()
        assert page_text(app)[0] == "   1  again"
        assert "file was removed" not in status_text(app)


async def test_search_counts_and_goes_round(tmp_path: Path) -> None:
    path = tmp_path / "agent.txt"
    path.write_text("".join(f"line {number} {'ERROR' if number % 100 == 0 else 'ok'}\n" for number in range(1, 1001)))
    app = OneLog(path, follow=True)
    async with app.run_test(size=(80, 24)) as pilot:
        app.view.action_search()
        await pilot.pause()
        await pilot.press(*"error$", "enter")
        await settle(pilot)
        assert "10 of 10" in status_text(app)  # from the window's end on
        app.view.action_hit(1)
        assert "1 of 10" in status_text(app)
        assert any("line 100 ERROR" in line for line in page_text(app))
        app.view.action_hit(-1)
        assert "10 of 10" in status_text(app)
        assert not app.view.following
        assert app.view.stop_search()
        assert "error" not in status_text(app)
        assert not app.view.stop_search()


async def test_a_search_of_a_large_file_runs_in_a_thread_and_grows_with_it(tmp_path: Path) -> None:
    path = tmp_path / "agent.txt"
    path.write_text(numbers(to=600_000))
    app = OneLog(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("g")
        assert app.view.search_for("999$") == ""
        await settle(pilot)
        assert app.view.search is not None and app.view.search.count == 600
        assert "1 of 600" in status_text(app)
        with path.open("a") as log:
            log.write("x999\n")
        app.view.poll()
        await settle(pilot)
        assert app.view.search.count == 601


async def test_a_wrong_expression_says_so_and_keeps_the_line_open(tmp_path: Path) -> None:
    path = tmp_path / "agent.txt"
    path.write_text("x\n")
    app = OneLog(path)
    async with app.run_test(size=(80, 24)) as pilot:
        app.view.action_search()
        await pilot.pause()
        await pilot.press("*", "enter")
        await pilot.pause()
        line = app.view.query_one(SearchLine)
        assert line.has_class("open")
        assert "not a regular expression" in line.query("SearchProblem").first().render_line(0).text
        await pilot.press("escape")
        await pilot.pause()
        assert not line.has_class("open")
        assert app.view.search is None


async def test_a_line_by_number_is_shown_and_marked(tmp_path: Path) -> None:
    path = tmp_path / "db.log"
    path.write_text(numbers(to=400_000))
    app = OneLog(path, follow=True)
    async with app.run_test(size=(80, 24)) as pilot:
        app.view.go_to_line(40_112)
        await settle(pilot)
        assert " 40112  40112" in "\n".join(page_text(app))
        assert app.view.here == app.view.log_window.reader.numbered(40_112).start  # type: ignore[union-attr]


HOSTILE = (
    b"\x1b[2J\x1b[H clear\n"
    b"\x1b]52;c;AAAA\x07 clipboard\n"
    b"nul \x00 \x9b31m c1 [/ [bold]x[/bold] [@click=app.quit]y[/]\n"
    b"bad \xff\xfe utf8\n" + "wide 日本語 e\u0301 👩‍💻 ⚠️\n".encode() + b"x" * 300_000 + b"\n"
)


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (20, 5)])
async def test_hostile_bytes_leave_no_control_in_any_strip(tmp_path: Path, size: tuple[int, int]) -> None:
    path = tmp_path / "agent.txt"
    path.write_bytes(HOSTILE + b"".join(b"%d\r" % number for number in range(20_000)))
    app = OneLog(path)
    async with app.run_test(size=size) as pilot:
        for keys in (["g"], ["right"], ["left"]):
            await pilot.press(*keys)
        for _ in range(2):
            page = app.view.query_one(LogPage)
            for y in range(page.size.height):
                strip = page.render_line(y)
                assert strip.cell_length == page.size.width
                assert not any(ord(char) < 32 or 127 <= ord(char) < 160 for char in strip.text)
            app.view.action_wrap()
            await pilot.pause()
        assert "[bold]x[/bold]" in "\n".join(page_text(app)) or size == (20, 5)


async def test_the_view_fits_any_size_it_is_given(tmp_path: Path) -> None:
    path = tmp_path / "agent.txt"
    path.write_text(numbers(to=1_000))
    app = OneLog(path, follow=True)
    async with app.run_test(size=(80, 24)) as pilot:
        for size in ((200, 60), (40, 10), (120, 40)):
            await pilot.resize_terminal(*size)
            await pilot.pause()
            assert page_text(app)[-1] == "1000  1000"
            assert len(page_text(app)) == size[1] - 1


async def test_a_search_that_is_stopped_stays_stopped_and_says_how_far_it_came(tmp_path: Path) -> None:
    path = tmp_path / "agent.txt"
    path.write_text("needle\n" * 3_000_000)
    app = OneLog(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        app.view.search_for("nothing such|needle x")
        assert app.view.searching
        assert app.view.stop_search()
        await settle(pilot)
        with path.open("a") as log:
            log.write("needle x\n")
        app.view.poll()
        await settle(pilot)
        assert app.view.search is not None and not app.view.search.complete
        assert "stopped at" in status_text(app)


async def test_a_hit_found_late_does_not_move_a_view_that_was_moved_meanwhile(tmp_path: Path) -> None:
    path = tmp_path / "agent.txt"
    path.write_text(numbers(to=600_000) + "needle\n")
    app = OneLog(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        app.view.search_for("needle")
        app.view.action_home()
        await settle(pilot)
        assert app.view.search is not None and app.view.search.count == 1
        assert page_text(app)[0] == "     1  1"


async def test_the_wheel_and_the_scroll_bar_move_the_view(tmp_path: Path) -> None:
    path = tmp_path / "agent.txt"
    path.write_text(numbers(to=10_000))
    app = OneLog(path, follow=True)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        page = app.view.query_one(LogPage)
        page.post_message(LogPage.Scrolled(-3))
        await pilot.pause()
        assert page_text(app)[-1] == " 9997  9997"
        assert not app.view.following
        await pilot.click(LogScrollBar, offset=(0, 1))
        await pilot.pause()
        assert page_text(app)[-1] == " 9975  9975"
        bar = app.view.query_one(LogScrollBar)
        bar.post_message(LogScrollBar.Dragged(0.5))
        await pilot.pause()
        shown = int(page_text(app)[0].split()[1])
        assert 4_500 < shown < 6_000


async def test_a_long_line_is_read_sideways_or_wrapped(tmp_path: Path) -> None:
    path = tmp_path / "agent.txt"
    path.write_text("".join(f"{number:04}." for number in range(100)) + "\n")
    app = OneLog(path)
    async with app.run_test(size=(80, 24)) as pilot:
        assert page_text(app)[0].startswith("   1  0000.0001.")
        await pilot.press("right")
        assert page_text(app)[0].startswith("   1  1.0002.")
        app.view.action_wrap()
        assert page_text(app)[0].startswith("   1  0000.0001.") and page_text(app)[1].startswith("      ")
        assert "".join(line[6:] for line in page_text(app)) == path.read_text().strip()


async def test_the_line_that_asks_is_made_when_it_is_asked_for_and_only_once(tmp_path: Path) -> None:
    path = tmp_path / "agent.txt"
    path.write_text(numbers(to=100))
    app = OneLog(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        line = app.view.query_one(SearchLine)
        assert not line.children, "a log that is turned past pays nothing for it"
        app.view.action_search()
        for key in ("4", "2"):
            app.simulate_key(key)  # at once: what is typed is for the line
        await settle(pilot)
        assert line.query_one(Input).value == "42" and len(line.children) == 3
        await pilot.press("enter")
        await settle(pilot)
        app.view.action_search()
        await settle(pilot)
        assert app.view.here_number == 42 and len(line.children) == 3


async def test_a_line_whose_ends_were_far_away_is_shown_whole_once_they_are_known(tmp_path: Path) -> None:
    path = tmp_path / "agent.txt"
    path.write_bytes(b"first\n" + b"x" * (12 * 1024 * 1024) + b"\nlast\n")
    app = OneLog(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        assert [line[:9] for line in page_text(app)][:4] == ["   1  fir", "   2  xxx", "   3  las", ""]
        await pilot.press("g")
        assert [line[:9] for line in page_text(app)][:4] == ["   1  fir", "   2  xxx", "   3  las", ""]
