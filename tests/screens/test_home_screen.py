from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from console.app import TrialDeckApp
from screens.home_screen import HomeScreen
from screens.run_screen import RunScreen
from screens.widgets.runs_table import RunsTable
from tests.engine.readers.agentcompass_samples import Sample
from tests.engine.readers.foreign import tree_digest
from tests.engine.readers.swe_bench_samples import summary
from tests.screens import fake_run
from tests.screens.deck import screen_lines, screen_text, until
from tests.screens.home_places import home_places

pytestmark = pytest.mark.anyio


@pytest.fixture
def places(tmp_path: Path) -> list[Path]:
    return home_places(tmp_path)


@asynccontextmanager
async def home(
    places: list[Path], size: tuple[int, int] = (120, 40)
) -> AsyncIterator[tuple[TrialDeckApp, HomeScreen, Pilot[Any]]]:
    app = TrialDeckApp(places=places, clock=lambda: fake_run.at(1500))
    async with app.run_test(size=size, notifications=True) as pilot:
        await until(pilot, lambda: isinstance(app.screen, HomeScreen) and bool(app.screen._known), "the runs are read")
        await pilot.pause()
        screen = app.screen
        assert isinstance(screen, HomeScreen)
        yield app, screen, pilot


def table(screen: HomeScreen) -> RunsTable:
    return screen.query_one(RunsTable)


def names(screen: HomeScreen) -> list[str]:
    return [table(screen).runs[key].folder.name for key in table(screen).keys]


async def test_runs_of_several_places_and_systems_stand_in_one_list(places: list[Path]) -> None:
    async with home(places) as (app, screen, _):
        text = screen_text(app)
        assert "5 runs in 2 places" in text
        assert "1 stale" in text
        for kind in ("trialdeck", "agentcompass", "swe-bench"):
            assert kind in text
        assert names(screen).count("one") == 2  # one name in two folders


async def test_the_cursor_waits_at_the_top_and_then_stays_on_its_run(places: list[Path]) -> None:
    async with home(places) as (app, screen, pilot):
        assert table(screen).cursor_row == 0
        await pilot.press("down", "down")
        chosen = table(screen).cursor_key
        await pilot.press("r")
        assert table(screen).cursor_key == chosen
        fake_run.write(places[0] / "later", fake_run.finish(fake_run.story()))
        await pilot.press("f5")
        await until(pilot, lambda: len(table(screen).keys) == 6, "the new run is listed")
        assert table(screen).cursor_key == chosen
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, RunScreen), "it opens")
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is screen, "and is left")
        assert table(screen).cursor_key == chosen


async def test_a_filter_is_kept_and_shown_until_esc(places: list[Path]) -> None:
    async with home(places) as (app, screen, pilot):
        await pilot.press("slash", *"kind:agentcompass", "enter")
        await pilot.pause()
        assert names(screen) == ["r1"]
        assert "/ kind:agentcompass" in screen_text(app) and "1 of 5" in screen_text(app)
        await pilot.press("f5")
        await until(pilot, lambda: not screen._reading, "it looked again")
        await pilot.pause()
        assert names(screen) == ["r1"]
        await pilot.press("escape")
        await pilot.pause()
        assert len(names(screen)) == 5
        assert "all runs" in screen_text(app)


async def test_a_filter_that_is_none_says_so_and_changes_nothing(places: list[Path]) -> None:
    async with home(places) as (app, screen, pilot):
        await pilot.press("slash", *"/[", "enter")
        await pilot.pause()
        assert "regex:" in screen_text(app)
        assert len(names(screen)) == 5


async def test_sorting_shows_its_column_and_direction(places: list[Path]) -> None:
    async with home(places, (200, 60)) as (app, screen, pilot):
        assert "sort: last sign of life ↓" in screen_text(app)
        screen._sort_by("name")
        await pilot.pause()
        up = [table(screen).runs[key].name for key in table(screen).keys]
        assert up == sorted(up, key=str.casefold)
        assert "sort: run ↑" in screen_text(app)
        await pilot.press("r")
        down = [table(screen).runs[key].name for key in table(screen).keys]
        assert down == sorted(up, key=str.casefold, reverse=True)
        assert "sort: run ↓" in screen_text(app)
        await pilot.press("s")
        assert table(screen).sort == "kind"
        await pilot.press("S", "S")
        assert table(screen).sort == table(screen).shares()[-1][0].name


async def test_marked_runs_are_compared_in_the_order_of_their_marks(places: list[Path]) -> None:
    wanted: list[HomeScreen.CompareWanted] = []
    async with home(places) as (app, screen, pilot):
        screen.post_message = _watching(screen.post_message, wanted)  # type: ignore[method-assign]
        first, second = table(screen).keys[:2]
        await pilot.press("down", "space", "up", "up", "space")
        await pilot.pause()
        assert list(table(screen).marks) == [second, first]
        assert "2 marked" in screen_text(app)
        assert sum(line.startswith(("*", "›*")) for line in screen_lines(app)) == 2
        screen.action_compare()
        assert [message.folders for message in wanted] == [[Path(second), Path(first)]]


async def test_runs_are_marked_by_mouse(places: list[Path]) -> None:
    async with home(places) as (app, screen, pilot):
        keys = table(screen).keys
        await pilot.click(RunsTable, offset=(5, 3), control=True)
        await pilot.click(RunsTable, offset=(5, 1), control=True)
        assert list(table(screen).marks) == [keys[2], keys[0]] and "2 marked" in screen_text(app)
        await pilot.click(RunsTable, offset=(5, 1), control=True)
        await pilot.click(RunsTable, offset=(5, 2), shift=True)
        assert list(table(screen).marks) == [keys[2], keys[0], keys[1]]


def _watching(post: Any, wanted: list[HomeScreen.CompareWanted]) -> Any:
    """Keeps what would be compared: what becomes of it is the app's."""

    def posted(message: Any) -> bool:
        if isinstance(message, HomeScreen.CompareWanted):
            wanted.append(message)
            return True
        return bool(post(message))

    return posted


async def test_one_arm_alone_is_not_compared(tmp_path: Path) -> None:
    Sample(tmp_path / "r1").begin()
    async with home([tmp_path]) as (app, screen, pilot):
        screen.action_compare()
        await until(pilot, lambda: "mark two runs or more" in screen_text(app), "it is said")


async def test_marks_go_before_the_filter_and_the_filter_before_the_screen(places: list[Path]) -> None:
    async with home(places) as (app, screen, pilot):
        await pilot.press("slash", *"one", "enter")
        await pilot.press("space")
        await pilot.press("escape")
        assert not table(screen).marks and screen._bar.text == "one"
        await pilot.press("escape")
        assert screen._bar.text == ""
        await pilot.press("escape")
        await pilot.pause()
        assert app.screen is screen


async def test_a_stale_run_says_its_last_sign_of_life_case_76(places: list[Path]) -> None:
    async with home(places) as (app, screen, pilot):
        await pilot.press("slash", *"state:stale", "enter")
        await pilot.pause()
        table(screen).move_to(0)
        await pilot.pause()
        text = screen_text(app)
        assert "✗ stale" in text
        assert "stale · last sign of life" in text and "ago)" in text


async def test_a_stale_run_of_another_system_is_not_said_to_be_resumable(places: list[Path]) -> None:
    async with home(places) as (app, _, pilot):
        await pilot.press("slash", *"state:stale", "enter", "enter")
        await until(pilot, lambda: isinstance(app.screen, RunScreen) and "stale since" in screen_text(app), "it opens")
        assert "cut off" in screen_text(app)
        assert "resume" not in screen_text(app)


async def test_looking_at_runs_of_others_writes_nothing_into_them(places: list[Path]) -> None:
    before = tree_digest(places[1])
    async with home(places) as (app, _, pilot):
        await pilot.press("slash", *"agentcompass", "enter", "enter")
        await until(pilot, lambda: isinstance(app.screen, RunScreen) and "hello" in screen_text(app), "it opens")
        await pilot.press("escape")
    assert tree_digest(places[1]) == before


async def test_a_report_alone_opens_like_any_run(tmp_path: Path) -> None:
    ids = ["django__django-1", "django__django-2"]
    path = summary(tmp_path, completed=ids, resolved=ids[:1], unresolved=ids[1:])
    async with home([path]) as (app, _, pilot):
        assert "swe-bench" in screen_text(app) and "2/2" in screen_text(app)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, RunScreen) and ids[1] in screen_text(app), "it opens")
        assert "gone" not in screen_lines(app)[0]
        assert app.source is not None and not app.source.problem


async def test_a_place_without_runs_says_how_to_start(tmp_path: Path) -> None:
    app = TrialDeckApp(places=[tmp_path / "none"], clock=lambda: fake_run.at(0))
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "no runs here; `trialdeck run` starts one" in screen_text(app))
