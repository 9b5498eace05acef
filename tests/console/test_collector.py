"""Whole garbage collections wait until nobody presses a key: each would hold one up for a fifth of a second."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path
from weakref import ref

import pytest

from console.app import TrialDeckApp
from console.collector import ENOUGH, IDLE_SEC, SETTLE_SEC, THRESHOLDS, TOO_MANY, Collector
from screens.home_screen import HomeScreen
from screens.run_screen import RunScreen
from tests.screens import fake_run
from tests.screens.deck import read_and_painted, until
from tests.screens.fake_run import at


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def counts(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """How many collections of each generation wait; a test sets them."""
    waiting = [0, 0, 0]
    monkeypatch.setattr(gc, "get_count", lambda: tuple(waiting))
    yield waiting
    gc.unfreeze()


def test_nothing_is_collected_while_keys_are_pressed_and_all_of_it_afterwards(counts: list[int]) -> None:
    clock = Clock()
    collector = Collector(clock)
    counts[2] = ENOUGH
    for _ in range(10):
        clock.now += SETTLE_SEC - 0.1
        assert collector.tick() == ""
        collector.key()
    clock.now += SETTLE_SEC
    assert collector.tick() == "settled"


def test_an_idle_console_with_nothing_to_collect_leaves_it(counts: list[int]) -> None:
    clock = Clock()
    collector = Collector(clock)
    clock.now = 1000.0
    counts[2] = ENOUGH - 1
    assert collector.tick() == ""


def test_memory_comes_before_keys_in_the_end(counts: list[int]) -> None:
    collector = Collector(Clock())
    counts[2] = TOO_MANY
    assert collector.tick() == "all"


def test_what_was_frozen_with_a_run_is_found_once_the_run_is_closed(counts: list[int]) -> None:
    class Knot:
        def __init__(self) -> None:
            self.itself = self

    clock = Clock()
    collector = Collector(clock)
    knot = Knot()
    gone = ref(knot)
    gc.freeze()
    del knot
    clock.now = IDLE_SEC
    gc.collect()
    assert gone() is not None  # frozen: no collection looks at it
    assert collector.tick() == ""
    collector.left()
    assert collector.tick() == "all"
    assert gone() is None


def test_what_was_left_waits_for_a_longer_pause_than_what_settles(counts: list[int]) -> None:
    clock = Clock()
    collector = Collector(clock)
    collector.left()
    counts[2] = ENOUGH
    clock.now = IDLE_SEC - 0.1
    assert collector.tick() == "settled"
    clock.now = IDLE_SEC
    assert collector.tick() == "all" and collector.tick() == "settled"


def test_the_thresholds_let_no_whole_collection_begin_by_itself() -> None:
    before = gc.get_threshold()
    try:
        Collector().begin()
        assert gc.get_threshold() == THRESHOLDS and THRESHOLDS[2] > 100_000
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()


@pytest.mark.anyio
async def test_the_app_tells_of_keys_and_of_runs_that_are_closed(tmp_path: Path) -> None:
    fake_run.write(tmp_path / "run", fake_run.finish(fake_run.story()))
    app = TrialDeckApp(places=[tmp_path], clock=lambda: at(1500))
    clock = Clock()
    async with app.run_test() as pilot:
        app.collector = Collector(clock)
        await until(pilot, lambda: isinstance(app.screen, HomeScreen) and bool(app.screen._known), "the runs are read")
        clock.now = 7.0
        await pilot.press("enter")
        assert app.collector._key_at == 7.0
        await until(pilot, lambda: isinstance(app.screen, RunScreen) and read_and_painted(app), "the run is read")
        await pilot.press("escape")
        await until(pilot, lambda: app.collector._left, "what the closed run left will be looked for")
