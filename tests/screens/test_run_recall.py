"""Where the run screen opens that was opened before: at the top of what goes on, at its old place in what is over."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from console.habits import Habits
from tests.screens import fake_run
from tests.screens.deck import opened, screen_text, trials_table, until

pytestmark = pytest.mark.anyio


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state"


@pytest.mark.parametrize(("goes_on", "row"), [(True, 0), (False, 20)])
async def test_a_run_that_goes_on_opens_at_its_top_and_one_that_is_over_where_it_was_left(
    tmp_path: Path, state: Path, goes_on: bool, row: int
) -> None:
    events = fake_run.story() if goes_on else fake_run.finish(fake_run.story())
    habits = Habits(remembers=True)
    async with opened(tmp_path / "run", events, size=(80, 24), habits=habits) as (app, pilot):
        await pilot.press(*["down"] * 20)
        left = trials_table(app).cursor_key
    for thread in threading.enumerate():
        if thread.name == "remember a run":
            thread.join()
    async with opened(tmp_path / "run", [], size=(80, 24), habits=habits) as (app, pilot):
        await until(pilot, lambda: trials_table(app).cursor_row == row, "the cursor is where one looks")
        text = screen_text(app)
        assert ("● agent" in text) is goes_on, "what runs is seen"
        assert (trials_table(app).cursor_key == left) is not goes_on
        await pilot.press("down", "down", "down")
        await pilot.pause()
        assert trials_table(app).cursor_row == min(row + 3, 23), "it is only put there once"


async def test_of_a_run_that_goes_on_a_row_of_the_first_page_is_where_it_was_left(tmp_path: Path, state: Path) -> None:
    habits = Habits(remembers=True)
    async with opened(tmp_path / "run", fake_run.story(), size=(80, 24), habits=habits) as (app, pilot):
        await pilot.press("down", "down")
        left = trials_table(app).cursor_key
    for thread in threading.enumerate():
        if thread.name == "remember a run":
            thread.join()
    async with opened(tmp_path / "run", [], size=(80, 24), habits=habits) as (app, pilot):
        await until(pilot, lambda: trials_table(app).cursor_key == left, "the cursor is where it was")
        assert trials_table(app).cursor_row == 2 and trials_table(app).scroll_offset.y == 0
