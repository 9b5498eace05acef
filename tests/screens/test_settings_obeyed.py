"""What the settings file says is what the screens do."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from console.habits import Habits
from console.settings import LogView, Settings
from screens.outside import editor_command, pager_command
from screens.triage_desks import open_triage
from screens.triage_screen import TriageScreen
from screens.trial_screen import TrialScreen
from screens.widgets.log_view import LogView as LogWidget
from tests.screens import fake_run, fake_trial
from tests.screens.deck import opened, read_and_painted, screen_lines, screen_text, until

pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the console sets is taken back with it."""
    for name in ("PAGER", "VISUAL", "EDITOR"):
        monkeypatch.setenv(name, "from-the-environment")


async def test_the_pager_and_the_editor_of_the_settings_go_before_the_environments(tmp_path: Path) -> None:
    habits = Habits(Settings(pager="most -x", editor="ed -p"))
    async with opened(tmp_path / "run", fake_run.story(), habits=habits):
        assert pager_command(Path("a.log"), 3)[:2] == ["most", "-x"]
        assert editor_command(Path("a.log"), 3)[:2] == ["ed", "-p"]


async def test_without_settings_the_environment_says_which_programs(tmp_path: Path) -> None:
    async with opened(tmp_path / "run", fake_run.story()):
        assert (os.environ["PAGER"], os.environ["VISUAL"]) == ("from-the-environment", "from-the-environment")


@pytest.mark.parametrize("wrap", [True, False])
async def test_logs_open_wrapped_where_the_settings_say_so(tmp_path: Path, wrap: bool) -> None:
    from console.app import TrialDeckApp

    fake_trial.write(tmp_path / "run")
    app = TrialDeckApp(tmp_path / "run", habits=Habits(Settings(logs=LogView(wrap=wrap))))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: read_and_painted(app), "the run is read")
        assert app.source is not None
        await app.push_screen(TrialScreen(app.source, fake_trial.SIMPLE))
        await until(pilot, lambda: len(app.screen.query(LogWidget)) > 0, "a log is open")
        await until(pilot, lambda: app.screen.query(LogWidget).first().is_mounted, "a log is there")
        assert app.screen.query(LogWidget).first().wrapping is wrap


async def test_a_read_only_console_labels_nothing_and_says_so(tmp_path: Path) -> None:
    run = tmp_path / "run"
    async with opened(run, fake_run.story(), habits=Habits(read_only=True)) as (app, pilot):
        assert app.source is not None
        open_triage(app, app.source)
        await until(pilot, lambda: isinstance(app.screen, TriageScreen) and app.screen.is_mounted, "triage is open")
        screen = app.screen
        assert isinstance(screen, TriageScreen)
        await until(pilot, lambda: screen.walk.current is not None, "there is a trial")
        assert "read-only" in screen_lines(app)[0]
        for key in ("i", "s", "u"):
            await pilot.press(key)
            await until(pilot, lambda: "read-only: nothing is labelled" in screen_text(app), "it is said")
        assert not (run / "labels.jsonl").exists()
