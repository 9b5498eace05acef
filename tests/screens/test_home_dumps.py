"""The list of runs as plain text at three sizes, against files that a person has looked at.

After a wanted change: run this file with TRIALDECK_NEW_DUMPS=1, and look at what git shows.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from console.app import TrialDeckApp
from screens.home_screen import HomeScreen
from tests.screens import fake_run
from tests.screens.deck import screen_text, until
from tests.screens.home_places import home_places
from tests.screens.test_run_screen_dumps import DUMPS, same

pytestmark = pytest.mark.anyio
CASES: dict[str, tuple[str, ...]] = {
    "home": (),
    "home-marked": ("down", "space", "space"),
    "home-filtered": ("slash", *"kind:trialdeck", "enter", "s"),
    "home-typing": ("slash", *"!agent"),
}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(autouse=True)
def utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)], ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("case", CASES)
async def test_the_list_of_runs_looks_as_it_was_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str, size: tuple[int, int]
) -> None:
    home_places(tmp_path)
    monkeypatch.chdir(tmp_path)
    name = f"{case}-{size[0]}x{size[1]}"
    app = TrialDeckApp(places=[Path("runs"), Path("results")], clock=lambda: fake_run.at(31_539_000))
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: isinstance(app.screen, HomeScreen) and len(app.screen._known) == 5, "runs are read")
        await pilot.press(*CASES[case])
        if os.environ.get("TRIALDECK_NEW_DUMPS"):
            await pilot.pause(0.3)
            (DUMPS / f"{name}.txt").write_text(screen_text(app) + "\n", encoding="utf-8")
        await until(pilot, lambda: same(name, screen_text(app)), f"the same as {name}.txt")
