"""A screen as a text file: what is painted, without colours or anything a terminal would obey."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.screens import fake_run
from tests.screens.deck import opened, screen_lines, screen_text, until

pytestmark = pytest.mark.anyio


async def test_ctrl_x_saves_what_stands_on_the_screen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    async with opened(tmp_path / "run", fake_run.story(), (120, 40)) as (app, pilot):
        await until(pilot, lambda: "too few to say" in screen_text(app), "the standings are worked out")
        lines = screen_lines(app)
        await pilot.press("ctrl+x")
        (saved,) = tmp_path.glob("trialdeck-run-*.txt")
        assert saved.read_text().rstrip("\n").splitlines()[:4] == lines[:4]
        await pilot.press("ctrl+x")  # in the same second: the first one stays
        assert len(list(tmp_path.glob("trialdeck-*.txt"))) == 1
        assert any("can't write" in note.message for note in app._notifications)
