"""`trialdeck triage` in a terminal: the console opens on the run's triage."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from console.open_triage import TriageApp
from screens.run_screen import RunScreen
from screens.triage_screen import TriageScreen
from tests.screens import fake_run
from tests.screens.deck import until

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.mark.parametrize("blind", [False, True])
async def test_it_opens_on_triage_with_the_run_behind_it(tmp_path: Path, blind: bool) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    fake_run.write(folder, fake_run.story())
    before = set(os.environ)
    app = TriageApp(folder, blind=blind)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, TriageScreen))
        screen = app.screen
        assert isinstance(screen, TriageScreen)
        assert screen.cover.on is blind
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, RunScreen))
    assert set(os.environ) == before
