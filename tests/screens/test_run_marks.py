"""Trials marked on the run screen, by mouse and by keys, and what is copied and saved of them."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from screens.question_screen import QuestionScreen
from screens.run_screen import RunScreen
from screens.widgets.filter_bar import FilterBar
from screens.widgets.trials_table import TrialsTable
from tests.screens import fake_run
from tests.screens.deck import opened, run_screen, screen_lines, screen_text, trials_table, type_filter, until
from tests.screens.mouse import drag

pytestmark = pytest.mark.anyio


async def test_marks_by_mouse_are_counted_and_esc_lets_them_go(tmp_path: Path) -> None:
    async with opened(tmp_path / "run", fake_run.story()) as (app, pilot):
        keys = trials_table(app).keys
        await pilot.click(TrialsTable, offset=(5, 1), control=True)
        await pilot.click(TrialsTable, offset=(5, 4), shift=True)
        assert run_screen(app).rows.marked == set(keys[:4]) and "4 marked" in screen_text(app)
        await drag(pilot, trials_table(app), (5, 6), (9, 7), (5, 8))
        assert run_screen(app).rows.marked == {*keys[:4], *keys[5:8]} and "7 marked" in screen_text(app)
        await pilot.press("escape")
        assert not run_screen(app).rows.marked and "marked" not in screen_lines(app)[5]


async def test_a_groups_title_is_marked_with_ctrl_as_a_whole_and_passed_over_by_a_drag(tmp_path: Path) -> None:
    async with opened(tmp_path / "run", fake_run.story()) as (app, pilot):
        await pilot.press("g", "g", "home")
        await pilot.click(TrialsTable, offset=(5, 1), control=True)
        rows, title = run_screen(app).rows, trials_table(app).keys[0]
        assert rows.marked == {trial for trial in rows.state.trials if rows.group_of(trial) == title}
        await pilot.press("escape")
        await drag(pilot, trials_table(app), (5, 1), (5, 3))
        assert rows.marked == set(trials_table(app).keys[1:3])


async def test_ranges_all_shown_and_the_inverse_are_marked(tmp_path: Path) -> None:
    async with opened(tmp_path / "run", fake_run.story()) as (app, pilot):
        rows = run_screen(app).rows
        await pilot.press("space", "down", "down", "V")
        assert rows.marked == set(rows.keys[:4])
        await pilot.press("escape")
        assert not rows.marked
        await pilot.press("home", "shift+down", "shift+down")
        assert rows.marked == set(rows.keys[:3])
        await pilot.press("I")
        assert rows.marked == set(rows.keys[3:])
        await type_filter(app, pilot, "state:passed")
        await pilot.press("escape", "slash")
        await until(pilot, lambda: app.screen.query_one(FilterBar).editing)


async def test_mark_all_marks_what_the_filter_shows(tmp_path: Path) -> None:
    async with opened(tmp_path / "run", fake_run.story()) as (app, pilot):
        await type_filter(app, pilot, "state:passed")
        await pilot.press("M")
        rows = run_screen(app).rows
        assert len(rows.marked) == rows.shown == 5
        await type_filter(app, pilot, "marked:no")
        assert rows.shown == 19
        assert "5 marked" in screen_text(app)


async def test_marked_trials_are_copied_and_saved_as_a_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    copied: list[str] = []
    async with opened(tmp_path / "run", fake_run.story()) as (app, pilot):
        monkeypatch.setattr(app, "copy_to_clipboard", copied.append)
        await pilot.press("space", "space", "y")
        await until(pilot, lambda: isinstance(app.screen, QuestionScreen))
        await pilot.press("i")
        await until(pilot, lambda: bool(copied))
        assert copied[0].split("\n") == run_screen(app).rows.keys[:2]
        await pilot.press("y")
        await until(pilot, lambda: isinstance(app.screen, QuestionScreen))
        await pilot.press("c")
        await until(pilot, lambda: len(copied) == 2)
        assert copied[1].startswith(f"trialdeck replay {tmp_path / 'run'} t0000-sonnet-5.5-1\n")
        await pilot.press("e")
        await until(pilot, lambda: isinstance(app.screen, QuestionScreen))
        await pilot.press("j")
        await until(pilot, lambda: "saved as" in screen_text(app))
    saved = msgspec.json.decode(next(tmp_path.glob("trialdeck-trials-*.json")).read_bytes())
    assert [trial["trial"] for trial in saved] == copied[0].split("\n")
    assert saved[0]["state"] == "unscored" and saved[0]["issues"] == ["image_build_failed"]


@pytest.mark.parametrize("key", ["y", "e"])
async def test_esc_on_a_question_copies_and_saves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    monkeypatch.chdir(tmp_path)
    copied: list[str] = []
    async with opened(tmp_path / "run", fake_run.story()) as (app, pilot):
        monkeypatch.setattr(app, "copy_to_clipboard", copied.append)
        await pilot.press(key)
        await until(pilot, lambda: isinstance(app.screen, QuestionScreen))
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, RunScreen))
        await app.workers.wait_for_complete()
        await pilot.pause()
        assert "copied" not in screen_text(app) and "saved" not in screen_text(app)
    assert not copied
    assert not list(tmp_path.glob("trialdeck-trials-*"))
