"""A replay gives each event at its time on a clock that can be stopped, sped up and put forward."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from engine import events as ev
from engine.readers.open_run import OpenedRun
from engine.readers.reader import Liveness
from engine.readers.replayed import Replay, ReplayedReader
from engine.readers.run_folder import TRIALDECK
from tests.screens import fake_run
from tests.screens.fake_run import at


class Ticks:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def played(folder: Path, speed: float = 1.0) -> tuple[ReplayedReader, Replay, Ticks, OpenedRun]:
    begun = [*fake_run.plan(tasks=2), ev.EngineStarted(at=at(0), pid=1, host="bench", session=1)]
    for number in range(4):
        trial = fake_run.trial_id(number // 2, ("sonnet-5.5", "sol-6.1")[number % 2], 1)
        begun += [*fake_run.begun(trial, 100 * number), *fake_run.ended(trial, 100 * number + 90, True, 90.0)]
    begun.append(ev.RunFinished(at=at(400), exit_code=0, seconds=400.0))
    fake_run.write(folder, begun, alive=False)
    ticks = Ticks()
    replay = Replay(speed, ticks)
    run = replay.of(OpenedRun(folder, TRIALDECK))
    reader = run.reader()
    assert isinstance(reader, ReplayedReader)
    return reader, replay, ticks, run


def ends(found: list[ev.AnyEvent]) -> int:
    return sum(isinstance(event, ev.TrialFinished) for event in found)


def test_the_plan_is_there_at_once_and_nothing_has_ended(tmp_path: Path) -> None:
    reader, replay, _, _ = played(tmp_path / "run")
    found = reader.poll()
    assert sum(isinstance(event, ev.TrialPlanned) for event in found) == 4
    assert ends(found) == 0 and reader.liveness() is Liveness.LIVE
    assert replay.now() == at(0)


def test_events_come_at_the_pace_of_the_run_times_the_speed(tmp_path: Path) -> None:
    reader, replay, ticks, _ = played(tmp_path / "run", speed=10)
    reader.poll()
    ticks.now += 9.5
    assert ends(reader.poll()) == 1 and replay.now() == at(95)
    ticks.now += 10
    assert ends(reader.poll()) == 1 and replay.now() == at(195)
    assert reader.poll() == []


def test_a_paused_replay_stands_still_and_goes_on_from_there(tmp_path: Path) -> None:
    reader, replay, ticks, _ = played(tmp_path / "run")
    reader.poll()
    ticks.now += 95
    replay.pause_or_go_on()
    assert ends(reader.poll()) == 1
    ticks.now += 1000
    assert reader.poll() == [] and replay.now() == at(95)
    replay.pause_or_go_on()
    ticks.now += 100
    assert ends(reader.poll()) == 1 and replay.now() == at(195)


def test_faster_and_slower_change_the_pace_and_not_the_moment(tmp_path: Path) -> None:
    reader, replay, ticks, _ = played(tmp_path / "run")
    reader.poll()
    ticks.now += 50
    replay.faster(2)
    assert replay.speed == 4 and replay.now() == at(50)
    ticks.now += 10
    assert replay.now() == at(90)
    replay.faster(-1)
    ticks.now += 10
    assert replay.speed == 2 and replay.now() == at(110)


def test_to_the_end_gives_all_and_the_clock_stays_at_the_last_event(tmp_path: Path) -> None:
    reader, replay, ticks, run = played(tmp_path / "run")
    reader.poll()
    replay.to_end()
    assert ends(reader.poll()) == 4
    assert reader.poll() == [] and reader.liveness() is Liveness.FINISHED
    ticks.now += 10_000
    assert replay.now() == at(400)
    assert not run.ours, "a replay writes nothing into the run"


def test_a_run_whose_end_nobody_wrote_ends_as_stale(tmp_path: Path) -> None:
    folder = fake_run.write(tmp_path / "run", fake_run.story(), alive=True)
    replay = Replay(1.0, Ticks())
    reader = replay.of(OpenedRun(folder, TRIALDECK)).reader()
    reader.poll()
    replay.to_end()
    while reader.poll():
        pass
    assert reader.liveness() is Liveness.STALE


def test_times_that_go_back_hold_nothing_up(tmp_path: Path) -> None:
    """Clocks of hosts differ: an event that says it is earlier comes right after the one before it."""
    folder = tmp_path / "run"
    trial = fake_run.trial_id(0, "sonnet-5.5", 1)
    fake_run.write(
        folder,
        [
            *fake_run.plan(tasks=1),
            ev.TrialStarted(at=at(100), trial=trial),
            ev.ActivityChanged(at=at(100) - timedelta(hours=1), trial=trial, activity="bash"),
        ],
        alive=False,
    )
    replay = Replay(1.0, Ticks())
    reader = replay.of(OpenedRun(folder, TRIALDECK)).reader()
    assert [type(event).__name__ for event in reader.poll()[-2:]] == ["TrialStarted", "ActivityChanged"]
