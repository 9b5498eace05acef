"""The run screen as plain text at three sizes, against files that a person has looked at."""

from __future__ import annotations

from pathlib import Path

import pytest

from console.app import TrialDeckApp
from tests.screens import fake_run
from tests.screens.deck import opened
from tests.screens.looks import SIZES, looks_as_kept, size_name

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("size", "keys"),
    [
        ((80, 24), ()),
        ((120, 40), ()),
        ((200, 60), ()),
        ((120, 40), ("exclamation_mark", "g", "g")),
        *((size, ("question_mark",)) for size in SIZES),
        *((size, ("colon", *"triage")) for size in SIZES),
        *((size, ("slash", "h", "e", "a", "enter", "M")) for size in SIZES),
        *((size, ("y",)) for size in SIZES),
        *((size, ("M", "x")) for size in SIZES),
        *((size, ("slash", "slash", "left_parenthesis", "enter", "s")) for size in ((80, 24), (120, 40))),
    ],
)
async def test_the_run_screen_looks_as_it_was_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: tuple[int, int], keys: tuple[str, ...]
) -> None:
    monkeypatch.setattr(TrialDeckApp, "_tick", lambda app: None)  # on a slow machine its second adds a load's sample
    name = "-".join(["run", size_name(size), *keys])
    async with opened(tmp_path / "run", fake_run.story(), size) as (_, pilot):
        await pilot.press(*keys)
        await looks_as_kept(pilot, name)
