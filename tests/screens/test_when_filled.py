"""What waits for a view's parts is not called for a view that goes before they are of use."""

from __future__ import annotations

import pytest
from textual.app import App, ComposeResult
from textual.containers import Vertical
from textual.widgets import Static

from screens.when_filled import when_filled

pytestmark = pytest.mark.anyio


class _View(Vertical):
    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static("a part", id="part")

    def look(self, seen: list[str]) -> None:
        seen.append(str(self.query_one("#part").id))


async def test_a_view_that_stays_is_called_once_its_parts_are_there() -> None:
    seen: list[str] = []
    app: App[None] = App()
    async with app.run_test() as pilot:
        view = _View()
        app.screen.mount(view)
        when_filled(view, view.look, seen)
        await pilot.pause()
        await pilot.pause()
        assert seen == ["part"]


async def test_a_view_that_is_taken_away_at_once_is_left_alone() -> None:
    """Keys typed faster than a screen is laid out: the next trial's log replaces this one's."""
    seen: list[str] = []
    app: App[None] = App()
    async with app.run_test() as pilot:
        for _ in range(20):
            view = _View()
            app.screen.mount(view)
            when_filled(view, view.look, seen)
            view.remove()
            await app.screen.mount(Static("the next one"))
        await pilot.pause()
        await pilot.pause()
        assert seen == []
