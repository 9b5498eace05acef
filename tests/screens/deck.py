"""Driving the app in a test: a run folder, a frozen clock, and what stands on the screen as text."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from textual import events
from textual.app import App
from textual.pilot import Pilot

from console.app import TrialDeckApp
from engine import events as ev
from screens.run_screen import RunScreen
from screens.widgets.filter_bar import FilterBar
from screens.widgets.trials_table import TrialsTable
from tests.screens import fake_run

BOUND_SEC = 60.0
"""How long a test waits for something at most."""


def screen_lines(app: App[Any]) -> list[str]:
    """The whole screen as it is painted, without colours."""
    return ["".join(segment.text for segment in strip).rstrip() for strip in app.screen._compositor.render_strips()]


def screen_text(app: App[Any]) -> str:
    return "\n".join(screen_lines(app))


async def until(pilot: Pilot[Any], true: Callable[[], bool], what: str = "") -> None:
    ends = time.monotonic() + BOUND_SEC
    while not true():
        assert time.monotonic() < ends, f"never happened: {what or true}\n{screen_text(pilot.app)}"
        await pilot.pause(0.01)


async def pasted(pilot: Pilot[Any], text: str) -> None:
    """Text into what has the focus, as a terminal pastes it: a long path key by key takes seconds."""
    pilot.app.post_message(events.Paste(text))
    await pilot.pause()


@asynccontextmanager
async def opened(
    folder: Path,
    events: Iterable[ev.Event],
    size: tuple[int, int] = (120, 40),
    **given: Any,
) -> AsyncIterator[tuple[TrialDeckApp, Pilot[Any]]]:
    """The app on a run, all of which has been read and painted."""
    fake_run.write(folder, events)
    app = TrialDeckApp(folder, clock=lambda: fake_run.at(1500), **given)
    async with app.run_test(size=size, notifications=True) as pilot:
        await until(pilot, lambda: read_and_painted(app), "the run is read")
        yield app, pilot


def read_and_painted(app: TrialDeckApp) -> bool:
    source = app.source
    if source is None or not source.caught_up or source.liveness == "starting":
        return False
    found = source._news or source._called or source.pending  # by the reading thread, and not taken in
    waits = app._pump_waits or app._dirty or app._paint_waits
    return not (found and not source.held) and not waits and "reading" not in screen_text(app)


def run_screen(app: TrialDeckApp) -> RunScreen:
    assert isinstance(app.screen, RunScreen)
    return app.screen


def trials_table(app: TrialDeckApp) -> TrialsTable:
    return app.screen.query_one(TrialsTable)


async def type_filter(app: TrialDeckApp, pilot: Pilot[Any], text: str) -> None:
    await pilot.press("slash")
    app.screen.query_one(FilterBar).entry.value = text
    await pilot.pause()
    await pilot.press("enter")
    await pilot.pause()


async def append(app: TrialDeckApp, pilot: Pilot[Any], events: list[ev.Event]) -> None:
    """Append to the run that is shown and wait until it is on the screen."""
    assert app.source is not None
    source = app.source
    wanted = source.state.events + len(events)
    fake_run.write(source.folder, events)
    await until(pilot, lambda: source.state.events >= wanted and not app._dirty, "the new events are painted")
    await pilot.pause()
