"""What one takes out of a log: ranges, copies within what a terminal takes, files, other programs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pytest
from textual.app import App
from textual.selection import Selection

from screens.large_file import LARGE
from screens.question_screen import QuestionScreen
from screens.widgets.log_page import LogPage
from screens.widgets.log_taking import MOST_COPIED
from tests.screens.test_log_view import OneLog, numbers, page_text, settle

pytestmark = pytest.mark.anyio


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "agent.txt"
    path.write_text(numbers(to=100))
    return path


def said(app: App[None]) -> list[str]:
    return [note.message for note in app._notifications]


async def test_a_range_is_marked_with_v_and_shift_and_copied_in_order(path: Path) -> None:
    app = OneLog(path)
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        app.view.go_to_line(50)
        await settle(pilot)
        await pilot.press("v", "shift+down", "shift+down", "y")
        assert app.clipboard == "50\n51\n52"
        await pilot.press("shift+up", "shift+up", "shift+up", "y")
        assert app.clipboard == "49\n50"
        assert "2 lines from line 49 on copied" in said(app)
        assert app.view.stop_search()
        await pilot.press("y")
        assert app.clipboard == "49"


async def test_what_is_copied_is_a_line_that_is_seen_and_its_number_is_said(path: Path) -> None:
    app = OneLog(path)
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        app.view.go_to_line(20)
        await settle(pilot)
        await pilot.press("y")
        assert app.clipboard == "20" and "line 20 copied" in said(app)
        await pilot.press("pagedown", "pagedown", "y")
        seen = page_text(app)[0].split()[0]
        assert app.clipboard == seen != "20", "the line that was marked is out of sight"
        await pilot.press("v", "g", "y")
        assert app.clipboard == "1", "a range that was only begun, too"
        assert app.view.here_number == 1 and app.view.command.startswith("less +1g")
        await pilot.press("J", "J", "G", "y")
        lines = app.clipboard.split()
        assert len(lines) > 1 and lines[0] == "3", "a range of several lines is what is meant, wherever one looks"


async def test_a_page_that_got_smaller_sees_fewer_lines(path: Path) -> None:
    app = OneLog(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.press("g")
        page = app.view.query_one(LogPage)
        await pilot.click(page, offset=(8, 20))
        assert app.view.here_number == 21
        await pilot.resize_terminal(80, 10)
        await pilot.pause()
        await pilot.press("y")
        assert app.clipboard == page_text(app)[0].split()[0]


async def test_a_range_in_a_filter_holds_only_what_is_shown(path: Path) -> None:
    app = OneLog(path)
    async with app.run_test(size=(80, 24)) as pilot:
        app.view.filter_by("0$")
        await pilot.press("g", "v", "J", "J", "y")
        assert app.clipboard == "10\n20\n30"


async def test_what_is_too_much_for_a_terminal_is_cut_and_said(tmp_path: Path) -> None:
    path = tmp_path / "agent.txt"
    path.write_text(("x" * 999 + "\n") * 100)
    app = OneLog(path)
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await pilot.press("g", "v")
        app.view.query_one(LogPage).range = (0, 99_000)
        await pilot.press("y")
        assert len(app.clipboard.encode()) <= MOST_COPIED and app.clipboard.count("\n") == 64
        assert "65 lines from line 1 on copied; a terminal takes no more, s saves all" in said(app)


async def test_the_menu_copies_a_match_the_path_and_a_command(path: Path) -> None:
    app = OneLog(path)
    async with app.run_test(size=(80, 24)) as pilot:
        app.view.search_for("9.$|$^")
        app.view.go_to_line(95)
        await settle(pilot)
        for key, expected in (
            ("m", "95"),
            ("p", str(path)),
            ("c", f"less +95g -- {path}"),
        ):
            await pilot.press("c")
            await pilot.pause()
            assert isinstance(app.screen, QuestionScreen)
            await pilot.press(key)
            await pilot.pause()
            assert app.clipboard == expected
        app.view.filter_by("!it's")
        assert app.view.command == f"""grep -nPvi -e 'it'"'"'s' -- {path}"""


async def test_text_selected_by_mouse_is_the_text_of_the_lines(path: Path) -> None:
    path.write_text("alpha beta gamma\nwide 日本語 here\n" + "w" * 100 + "\n")
    app = OneLog(path)
    async with app.run_test(size=(40, 12)) as pilot:
        page = app.view.query_one(LogPage)
        await pilot.mouse_down(page, offset=(6 + 6, 0))
        await pilot.hover(page, offset=(6 + 9, 1))
        await pilot.mouse_up(page, offset=(6 + 9, 1))
        await pilot.pause()
        assert app.screen.get_selected_text() == "beta gamma\nwide 日本語"
        await pilot.press("y")
        assert app.clipboard == "beta gamma\nwide 日本語"
        await pilot.click(page, offset=(6 + 7, 0), times=2)
        assert app.screen.get_selected_text() == "beta"
        app.view.action_wrap()
        assert app.screen.get_selected_text() is None
        rows = page_text(app)
        assert rows[2].endswith("w" * 33)
        whole = page.get_selection(Selection(None, None))
        assert whole is not None and whole[0].splitlines()[2] == "w" * 100


async def test_a_click_is_where_one_is_and_with_shift_or_ctrl_a_range_goes_up_to_it(path: Path) -> None:
    app = OneLog(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.press("g")
        page = app.view.query_one(LogPage)
        await pilot.click(page, offset=(8, 2))
        assert app.view.here_number == 3 and page.range is None
        await pilot.click(page, offset=(8, 4), shift=True)
        await pilot.press("y")
        assert app.clipboard == "3\n4\n5"
        await pilot.click(page, offset=(8, 6), control=True)
        await pilot.press("y")
        assert app.clipboard == "3\n4\n5\n6\n7"
        await pilot.click(page, offset=(8, 0), shift=True)
        await pilot.press("y")
        assert app.clipboard == "1\n2\n3", "it turns round the line that it began with"
        await pilot.click(page, offset=(8, 10))
        await pilot.press("pagedown")
        await pilot.click(page, offset=(8, 0), shift=True)
        await pilot.press("y")
        assert app.clipboard.splitlines()[0] == "11", "where one was, also out of sight"
        assert app.view.stop_search() and page.range is None


async def test_a_click_below_the_last_line_and_with_another_button_does_nothing(path: Path) -> None:
    path.write_text("one\ntwo\n")
    app = OneLog(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        page = app.view.query_one(LogPage)
        await pilot.click(page, offset=(8, 1))
        await pilot.click(page, offset=(8, 5), shift=True)
        await pilot.click(page, offset=(8, 0), button=3)
        assert app.view.here_number == 2 and page.range is None


async def test_what_is_selected_stays_while_the_log_grows(path: Path) -> None:
    app = OneLog(path, follow=True)
    async with app.run_test(size=(40, 12)) as pilot:
        page = app.view.query_one(LogPage)
        await pilot.click(page, offset=(7, 3), times=2)
        before, selected = page_text(app), app.screen.get_selected_text()
        with path.open("a") as log:
            log.write("more\n")
        app.view.poll()
        assert selected and page_text(app) == before and not app.view.following
        assert app.screen.get_selected_text() == selected
        await pilot.press("y")
        assert app.clipboard == selected
        await pilot.press("up")
        assert app.screen.get_selected_text() is None, "other rows stand where it was"


async def test_what_is_selected_in_the_last_line_stays_while_it_is_written(path: Path) -> None:
    path.write_text("one\ntwo thr")
    app = OneLog(path)
    async with app.run_test(size=(40, 12)) as pilot:
        page = app.view.query_one(LogPage)
        await pilot.click(page, offset=(7, 1), times=2)
        assert app.screen.get_selected_text() == "two"
        with path.open("a") as log:
            log.write("ee\nfour\n")
        app.view.poll()
        await pilot.pause()
        assert page_text(app)[1:3] == ["   2  two three", "   3  four"]
        assert app.screen.get_selected_text() == "two"
        path.write_text("others\nhere\nand here\n")
        app.view.poll()
        await pilot.pause()
        assert app.screen.get_selected_text() is None


async def test_the_lines_that_are_shown_are_saved_and_no_file_is_written_over(path: Path, tmp_path: Path) -> None:
    path.write_bytes(b"\x1b[31mred\x1b[0m\nplain [x]\n10%\r100%\n")
    target = tmp_path / "out.txt"
    app = OneLog(path)
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await pilot.press("s")
        await pilot.pause()
        for _ in range(30):
            await pilot.press("backspace")
        app.view.query("SearchInput").first().value = str(target)  # type: ignore[attr-defined]
        await pilot.press("enter")
        await settle(pilot)
        assert target.read_text() == "red\nplain [x]\n100%\n"
        app.view.save(target)
        await settle(pilot)
        assert any(words.startswith("can't write") for words in said(app))
        app.view.filter_by("red")
        app.view.save(tmp_path / "filtered.txt")
        await settle(pilot)
        assert (tmp_path / "filtered.txt").read_text() == "red\n"


async def test_other_programs_get_the_line_one_is_at(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[list[str]] = []

    def run(app: object, command: Sequence[str]) -> str:
        opened.append(list(command))
        return "ended with exit code 1"

    monkeypatch.setattr("screens.widgets.log_taking.run_outside", run)
    monkeypatch.setitem(os.environ, "PAGER", "less")
    monkeypatch.setitem(os.environ, "VISUAL", "nano")
    app = OneLog(path)
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        app.view.go_to_line(42)
        await settle(pilot)
        await pilot.press("o", "O")
        assert opened == [["less", "+42g", "--", str(path)], ["nano", "-v", "+42", str(path)]]
        assert "ended with exit code 1" in said(app)


async def test_before_an_editor_reads_a_large_file_it_is_asked_and_the_pager_is_offered_first(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[list[str]] = []

    def run(app: object, command: Sequence[str]) -> str:
        opened.append(list(command))
        return ""

    monkeypatch.setattr("screens.widgets.log_taking.run_outside", run)
    monkeypatch.setitem(os.environ, "PAGER", "less")
    monkeypatch.setitem(os.environ, "VISUAL", "nano")
    with path.open("r+b") as log:
        log.truncate(LARGE - 1)  # a hole: nothing is written
    app = OneLog(path)
    async with app.run_test(size=(80, 24)) as pilot:
        app.view.go_to_line(42)
        await settle(pilot)
        at = app.view.here
        await pilot.press("O")
        assert opened.pop()[:3] == ["nano", "-v", "+42"], "one that is not so large opens at once"
        os.truncate(path, LARGE)
        app.view.poll()
        await settle(pilot)
        await pilot.press("o")
        assert opened.pop() == ["less", "-n", f"+{at}P", "--", str(path)], "a pager reads what it shows"
        for key, first in (("o", ["less"]), ("e", ["nano"]), ("escape", None)):
            await pilot.press("O")
            await pilot.pause()
            question = app.screen
            assert isinstance(question, QuestionScreen) and "64" in question.heading
            assert [answer.value for answer in question.answers] == ["pager", "editor"]
            await pilot.press("O")
            assert app.screen is question and not opened, "the key that asked answers nothing"
            await pilot.press(key)
            await pilot.pause()
            assert [command[:1] for command in opened] == ([first] if first else [])
            opened.clear()
