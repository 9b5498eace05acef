"""A run folder as a stream: live, finished, left behind."""

from __future__ import annotations

import os
import time
from pathlib import Path

import msgspec

from engine import events as ev
from engine.layout import ENGINE, EVENTS, HOST_SAMPLES, SAMPLES
from engine.owner import SILENT_SEC, this_process
from engine.readers.reader import Liveness
from engine.readers.run_folder import RunFolderReader
from tests.engine.descriptors import open_descriptors
from tests.engine.run_events import finished, planned, started


def write(folder: Path, *events: ev.Event, name: str = EVENTS) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / name).open("ab") as file:
        file.write(b"".join(ev.encode(event) for event in events))


def owned(folder: Path, **changes: object) -> None:
    owner = msgspec.structs.replace(this_process(), **changes)
    (folder / ENGINE).write_bytes(msgspec.json.encode(owner))


def sample(trial: str, percent: float) -> ev.ResourceSampled:
    return ev.ResourceSampled(trial=trial, service="main", cpu_percent=percent)


ENGINE_STARTED = ev.EngineStarted(pid=1, host="h", session=1)


def test_samples_of_running_trials_come_after_the_events(tmp_path: Path) -> None:
    write(tmp_path, *planned("t1", "t2"), ENGINE_STARTED, started("t1"))
    write(tmp_path / "t1", sample("t1", 7), name=SAMPLES)
    write(tmp_path / "t2", sample("t2", 9), name=SAMPLES)
    write(tmp_path, ev.HostSampled(disk_free=5), name=HOST_SAMPLES)
    reader = RunFolderReader(tmp_path, samples_sec=0)
    found = reader.poll()
    assert [type(event) for event in found[-3:]] == [ev.TrialStarted, ev.ResourceSampled, ev.HostSampled]
    write(tmp_path / "t1", sample("t1", 8), name=SAMPLES)
    assert [event.cpu_percent for event in reader.poll() if isinstance(event, ev.ResourceSampled)] == [8]
    assert reader.poll() == []
    reader.close()


def test_no_descriptor_grows_per_finished_trial_case_73(tmp_path: Path) -> None:
    names = [f"t{number}" for number in range(40)]
    write(tmp_path, *planned(*names), ENGINE_STARTED)
    reader = RunFolderReader(tmp_path)
    reader.poll()
    before = open_descriptors()
    for name in names:
        write(tmp_path / name, sample(name, 1), name=SAMPLES)
        write(tmp_path, started(name))
        reader.poll()
        write(tmp_path, started(name, run_number=2))  # its first run's end got lost
        reader.poll()
        write(tmp_path, finished(name, 1.0))
        reader.poll()
    assert open_descriptors() == before
    reader.close()


def test_a_run_that_no_engine_has_taken_up_is_starting(tmp_path: Path) -> None:
    write(tmp_path, *planned("t1"))
    reader = RunFolderReader(tmp_path)
    reader.poll()
    assert reader.liveness() is Liveness.STARTING
    reader.close()


def test_live_finished_and_live_again_when_resumed(tmp_path: Path) -> None:
    write(tmp_path, *planned("t1"), ENGINE_STARTED)
    owned(tmp_path)
    reader = RunFolderReader(tmp_path)
    reader.poll()
    assert reader.liveness() is Liveness.LIVE
    write(tmp_path, ev.RunFinished(exit_code=0, seconds=1), ev.EngineStopped())
    reader.poll()
    assert reader.liveness() is Liveness.FINISHED
    write(tmp_path, ev.EngineStarted(pid=1, host="h", session=2))
    reader.poll()
    assert reader.liveness() is Liveness.LIVE
    reader.close()


def test_killed_hard_it_is_stale_also_when_its_pid_lives_again_case_76(tmp_path: Path) -> None:
    write(tmp_path, *planned("t1"), ENGINE_STARTED, started("t1"))
    owned(tmp_path, started=1.0)
    reader = RunFolderReader(tmp_path)
    reader.poll()
    assert reader.liveness() is Liveness.STALE
    reader.close()


def test_on_another_host_it_lives_as_long_as_it_writes_case_76(tmp_path: Path) -> None:
    write(tmp_path, *planned("t1"), ENGINE_STARTED, started("t1"))
    owned(tmp_path, host="elsewhere.invalid")
    reader = RunFolderReader(tmp_path)
    reader.poll()
    assert reader.liveness() is Liveness.LIVE
    long_ago = time.time() - SILENT_SEC - 10
    os.utime(tmp_path / EVENTS, (long_ago, long_ago))
    assert reader.liveness() is Liveness.STALE
    reader.close()


def test_lines_of_a_newer_version_and_cut_ones_are_passed_over_case_80(tmp_path: Path) -> None:
    write(tmp_path, *planned("t1"))
    with (tmp_path / EVENTS).open("ab") as file:
        file.write(b'{"type":"news"}\nrubbish\n{"type":"trial_fin')
    reader = RunFolderReader(tmp_path)
    assert [type(event) for event in reader.poll()] == [ev.RunPlanned, ev.TrialPlanned]
    reader.close()
