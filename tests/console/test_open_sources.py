"""Several runs open at once: each read once, folded in turns, closed when nobody shows them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from console.open_sources import MOST_OPEN, OpenSources, TooManyOpen
from engine import events as ev
from screens.source import RunSource
from tests.screens import fake_run

WAIT_SEC = 20.0


class Opened:
    """Sources whose reading threads are waited for, not slept for."""

    def __init__(self) -> None:
        self.came = threading.Event()
        self.sources = OpenSources(lambda: fake_run.at(1500), self.came.set)

    def pump_until(self, true: Callable[[], bool]) -> dict[RunSource, set[str]]:
        changed: dict[RunSource, set[str]] = {}
        while not true():
            for source, dirty in self.sources.pump().items():
                changed.setdefault(source, set()).update(dirty)
            if true():
                break
            if not self.sources.pending:
                assert self.came.wait(WAIT_SEC), "nothing came"
                self.came.clear()
        return changed


@pytest.fixture
def opened() -> Iterator[Opened]:
    held = Opened()
    yield held
    held.sources.close()


class Desk:
    def __init__(self, source: RunSource) -> None:
        self.source = source
        self.closed = 0

    def close(self) -> None:
        self.closed += 1


def test_two_runs_are_read_side_by_side_and_say_what_changed_in_each(tmp_path: Path, opened: Opened) -> None:
    one = opened.sources.open(fake_run.write(tmp_path / "one", fake_run.story()))
    two = opened.sources.open(fake_run.write(tmp_path / "two", fake_run.plan(3)))
    changed = opened.pump_until(lambda: one.caught_up and two.caught_up)
    assert len(one.state.trials) == 24 and len(two.state.trials) == 6
    assert changed[two] == {*two.state.trials, ""} and set(one.state.trials) <= changed[one]
    fake_run.write(tmp_path / "two", [ev.RunPaused()])
    changed = opened.pump_until(lambda: two.state.paused)
    assert two in changed and changed.get(one, set()) <= {""}, "that its owner is gone may be seen only now"


def test_a_folder_is_opened_once_however_it_is_written(tmp_path: Path, opened: Opened) -> None:
    folder = fake_run.write(tmp_path / "run", fake_run.plan(1))
    (tmp_path / "link").symlink_to(folder)
    source = opened.sources.open(folder)
    assert opened.sources.open(tmp_path / "." / "run") is source
    assert opened.sources.open(tmp_path / "link") is source
    assert opened.sources.all == [source]


def test_what_nobody_shows_is_closed_but_not_what_is_pinned(tmp_path: Path, opened: Opened) -> None:
    shown, left, own = (opened.sources.open(fake_run.write(tmp_path / name, fake_run.plan(1))) for name in "abc")
    opened.sources.pinned = own
    opened.sources.keep_only([shown])
    assert opened.sources.all == [shown, own]
    left.close()  # waits for the thread that was told to end
    assert left._thread is not None and not left._thread.is_alive()
    assert opened.sources.open(left.folder) is not left


def test_no_more_runs_than_the_bound(tmp_path: Path, opened: Opened) -> None:
    for number in range(MOST_OPEN):
        opened.sources.open(tmp_path / str(number))
    with pytest.raises(TooManyOpen, match="32 runs are open"):
        opened.sources.open(tmp_path / "one more")
    assert opened.sources.open(tmp_path / "0") is opened.sources.all[0]


def test_a_long_backlog_of_one_run_keeps_no_other_waiting(tmp_path: Path, opened: Opened) -> None:
    """Each pump gives every run that has something its turn, within one slice."""
    long = opened.sources.open(fake_run.write(tmp_path / "long", fake_run.plan(2000)))
    short = opened.sources.open(fake_run.write(tmp_path / "short", fake_run.plan(2)))
    for source, least in ((long, 3000), (short, 4)):
        while source.pending < least:
            assert opened.came.wait(WAIT_SEC)
    opened.sources.pump(0.0)
    opened.sources.pump(0.0)
    assert long.pending, "the long one is not through"
    opened.sources.pump()
    assert len(short.state.trials) == 4


def test_a_run_has_one_desk_which_is_closed_with_it(tmp_path: Path, opened: Opened) -> None:
    source = opened.sources.open(fake_run.write(tmp_path / "run", fake_run.plan(1)))
    desk = opened.sources.desk(source, Desk)
    assert isinstance(desk, Desk) and desk.source is source
    assert opened.sources.desk(source, Desk) is desk
    opened.sources.keep_only([source])
    assert desk.closed == 0
    opened.sources.keep_only([])
    assert desk.closed == 1
