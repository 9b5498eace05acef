"""The list of runs as plain text at three sizes, against files that a person has looked at."""

from __future__ import annotations

from pathlib import Path

import pytest

from console.app import TrialDeckApp
from screens.home_screen import HomeScreen
from tests.screens import fake_run
from tests.screens.deck import until
from tests.screens.home_places import home_places
from tests.screens.looks import SIZES, looks_as_kept, size_name

pytestmark = pytest.mark.anyio
CASES: dict[str, tuple[str, ...]] = {
    "home": (),
    "home-marked": ("down", "space", "space"),
    "home-filtered": ("slash", *"kind:trialdeck", "enter", "s"),
    "home-typing": ("slash", *"!agent"),
}


@pytest.mark.parametrize("size", SIZES, ids=size_name)
@pytest.mark.parametrize("case", CASES)
async def test_the_list_of_runs_looks_as_it_was_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str, size: tuple[int, int]
) -> None:
    home_places(tmp_path)
    monkeypatch.chdir(tmp_path)
    app = TrialDeckApp(places=[Path("runs"), Path("results")], clock=lambda: fake_run.at(31_539_000))
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: isinstance(app.screen, HomeScreen) and len(app.screen._known) == 5, "runs are read")
        await pilot.press(*CASES[case])
        await looks_as_kept(pilot, f"{case}-{size_name(size)}")
