"""The way that one came, at the top: a click on a place of it goes back there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from textual.app import App
from textual.pilot import Pilot

from screens.compare_screen import CompareScreen
from screens.home_screen import HomeScreen
from screens.run_screen import RunScreen
from screens.trial_screen import TrialScreen
from screens.widgets.breadcrumbs import Breadcrumbs
from tests.screens import fake_run
from tests.screens.deck import opened, until

pytestmark = pytest.mark.anyio


async def click(app: App[Any], pilot: Pilot[Any], name: str) -> None:
    crumbs = app.screen.query_one(Breadcrumbs)
    before = crumbs.trail[: crumbs.trail.index(name)]
    await pilot.click(Breadcrumbs, offset=(1 + sum(len(one) + 3 for one in before), 0))


async def in_a_trial(app: App[Any], pilot: Pilot[Any]) -> None:
    await pilot.press("enter")
    await until(pilot, lambda: isinstance(app.screen, TrialScreen) and app.screen.is_mounted, "the trial is open")
    await until(pilot, lambda: len(app.screen.query_one(Breadcrumbs).trail) == 3, "it says where it is")


async def test_a_click_on_the_run_goes_back_to_it(tmp_path: Path) -> None:
    async with opened(tmp_path / "run", fake_run.story(), (120, 40)) as (app, pilot):
        run = app.screen
        await in_a_trial(app, pilot)
        trail = app.screen.query_one(Breadcrumbs).trail
        await click(app, pilot, trail[2])
        assert isinstance(app.screen, TrialScreen)  # where one is
        await click(app, pilot, trail[1])
        await until(pilot, lambda: app.screen is run, "the run")


async def test_a_click_on_the_runs_opens_their_list_from_wherever(tmp_path: Path) -> None:
    async with opened(tmp_path / "run", fake_run.story(), (120, 40)) as (app, pilot):
        await in_a_trial(app, pilot)
        await click(app, pilot, "runs")
        await until(pilot, lambda: isinstance(app.screen, HomeScreen), "the list")
        assert not any(isinstance(screen, RunScreen) for screen in app.screen_stack)


async def test_a_place_that_is_not_below_is_not_gone_to(tmp_path: Path) -> None:
    async with opened(tmp_path / "run", fake_run.story(), (120, 40)) as (app, pilot):
        await pilot.press("c")
        await until(pilot, lambda: isinstance(app.screen, CompareScreen) and app.screen.is_mounted, "the comparison")
        app.screen.query_one(Breadcrumbs).set(["runs", "2 runs", "compare"])
        await click(app, pilot, "2 runs")
        await pilot.pause()
        assert isinstance(app.screen, CompareScreen)
