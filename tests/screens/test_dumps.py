"""Whole screens as text at three sizes, against dumps that a person has looked at."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from textual.screen import Screen

from console.app import TrialDeckApp
from engine import events as ev
from screens.compare_screen import CompareScreen
from screens.source import RunSource
from screens.trial_screen import TrialScreen
from tests.engine.trajectories import sessions
from tests.screens import casts, fake_run, fake_trial
from tests.screens.deck import read_and_painted, until
from tests.screens.fake_run import at
from tests.screens.looks import SIZES, looks_as_kept, size_name
from tests.screens.test_compare_screen import verdicts
from tests.screens.trial_waiting import trial_shown

pytestmark = pytest.mark.anyio


def unfinished() -> list[ev.Event]:
    """The worked example, a few trials short of its end, some costs unknown."""
    events = verdicts(50, 20, 10, 20, 2.0, 1.2)
    held = {fake_run.trial_id(task, "sol-6.1", 1) for task in (3, 60, 71)}
    return [event for event in events if isinstance(event, ev.TrialPlanned) or getattr(event, "trial", "") not in held]


def trial(folder: Path) -> None:
    fake_trial.write(folder)


def tabs(folder: Path) -> None:
    """A trial with a session, a recording, and files."""
    fake_trial.write(folder)
    there = folder / fake_trial.SIMPLE
    sessions.write_json(there / "agent" / "trajectory.json", sessions.atif(30, agent="terminus-2"))
    casts.version_3(there / "agent" / "recording.cast")
    (there / "artifacts" / "out").mkdir(parents=True)
    (there / "artifacts" / "out" / "report.md").write_text("# The report\n")
    (there / "changes.json").write_text('{"added": ["/app/new"], "changed": ["/app/old"], "deleted": ["/app/gone"]}')


def comparison(folder: Path) -> None:
    fake_run.write(folder, unfinished())


CASES: dict[str, tuple[Callable[[Path], None], Callable[[RunSource], Screen[None]], tuple[str, ...]]] = {
    "trial": (trial, lambda source: TrialScreen(source, fake_trial.TRIAL), ()),
    "trial-facts": (trial, lambda source: TrialScreen(source, fake_trial.TRIAL), ("0",)),
    "trial-steps": (trial, lambda source: TrialScreen(source, fake_trial.STEPS), ()),
    "trial-evidence": (trial, lambda source: TrialScreen(source, fake_trial.TRIAL), ("i", "space", "down", "enter")),
    "trial-session": (tabs, lambda source: TrialScreen(source, fake_trial.SIMPLE), ("n", "e", "e")),
    "trial-session-text": (tabs, lambda source: TrialScreen(source, fake_trial.SIMPLE), ("e", "enter")),
    "trial-cast": (tabs, lambda source: TrialScreen(source, fake_trial.SIMPLE), ("9", "n")),
    "trial-files": (tabs, lambda source: TrialScreen(source, fake_trial.SIMPLE), ("9", "full_stop")),
    "compare": (comparison, CompareScreen, ()),
    "compare-text": (comparison, CompareScreen, ("n",)),
}


@pytest.mark.parametrize("size", SIZES, ids=size_name)
@pytest.mark.parametrize("case", CASES)
async def test_the_screen_looks_as_it_did(tmp_path: Path, case: str, size: tuple[int, int]) -> None:
    make, screen_of, keys = CASES[case]
    folder = tmp_path / "run"
    make(folder)
    app = TrialDeckApp(folder, clock=lambda: at(13_251))
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: read_and_painted(app), "the run is read")
        assert app.source is not None
        screen = screen_of(app.source)
        await app.push_screen(screen)
        if isinstance(screen, CompareScreen):
            await until(pilot, lambda: screen.found is not None, "the numbers are there")
        for key in ("", *keys):
            if key:
                await pilot.press(key)
            if isinstance(screen, TrialScreen):
                await trial_shown(pilot, screen)
            await pilot.app.workers.wait_for_complete()
            for _ in range(3):
                await pilot.pause()
        await looks_as_kept(pilot, f"{case}-{size_name(size)}")
