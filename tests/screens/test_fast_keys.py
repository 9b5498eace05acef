"""Keys that come in a batch, as over a slow connection: each acts on what was there when it was pressed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from textual.app import App, ComposeResult
from textual.pilot import Pilot

from screens.trial_screen import TrialScreen
from screens.widgets.line_input import LineInput
from tests.screens import fake_run
from tests.screens.deck import opened, until

pytestmark = pytest.mark.anyio


def press_at_once(pilot: Pilot[Any], *keys: str) -> None:
    """All are on their way before the first is looked at."""
    for key in keys:
        pilot.app.simulate_key(key)


class OneLine(App[None]):
    def compose(self) -> ComposeResult:
        yield LineInput()

    def on_input_submitted(self, event: LineInput.Submitted) -> None:
        self.exit(None, message=event.value)
        self.given = event.value


async def test_a_key_that_deletes_leaves_what_is_typed_after_it() -> None:
    app = OneLine()
    async with app.run_test() as pilot:
        line = app.query_one(LineInput)
        press_at_once(pilot, *"abc", "ctrl+u", *"xyz", "backspace", "w", "home", "v")
        await until(pilot, lambda: line.value == "vxyw", "what was typed")


async def test_enter_gives_what_was_typed_before_it() -> None:
    app = OneLine()
    async with app.run_test() as pilot:
        press_at_once(pilot, *"heat", "enter", "j")
        await until(pilot, lambda: getattr(app, "given", None) is not None, "the line is given")
    assert app.given == "heat"


async def test_keys_ahead_of_the_screen_that_they_are_for_break_nothing(tmp_path: Path) -> None:
    async with opened(tmp_path / "run", fake_run.story()) as (app, pilot):
        press_at_once(pilot, "enter", "right_square_bracket", "comma", "i", "M", "n")
        await until(pilot, lambda: isinstance(app.screen, TrialScreen) and app.screen.is_mounted, "the trial is open")
        await pilot.pause()
        assert app.return_code is None
