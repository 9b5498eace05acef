"""The source keeps up with a folder; threads are waited for, never slept on."""

from __future__ import annotations

import errno
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from engine import events as ev
from engine.readers.harbor_reader import HarborReader
from engine.readers.reader import Liveness
from engine.readers.run_folder import RunFolderReader
from screens.source import RunSource
from tests.engine.readers.harbor_samples import Job
from tests.screens import fake_run

BOUND_SEC = 30.0


class Woken:
    """Waits until the source has said that something came."""

    def __init__(self, source: RunSource) -> None:
        self._event = threading.Event()
        self.source = source
        source.on_events = self._event.set

    def until(self, true: Callable[[], bool]) -> set[str]:
        dirty = self.source.pump()
        while not true():
            if not self.source.pending:
                assert self._event.wait(BOUND_SEC), "nothing came"
                self._event.clear()
            dirty |= self.source.pump()
        return dirty


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return fake_run.write(tmp_path / "run", fake_run.story())


def test_a_run_is_read_whole_and_its_owner_found_alive(folder: Path) -> None:
    source = RunSource(folder)
    woken = Woken(source)
    source.start()
    dirty = woken.until(lambda: source.caught_up and source.live)
    assert "" in dirty and fake_run.trial_id(0, "sonnet-5.5", 1) in dirty
    assert source.state.done == 10
    assert source.state.host is not None
    source.close()


def test_a_fault_in_a_reader_is_said_and_what_was_read_stays(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = RunSource(folder)
    read = RunFolderReader.poll

    def trip(reader: RunFolderReader) -> list[ev.AnyEvent]:
        found = read(reader)
        if not found:
            raise ValueError("\x1b[2Jtripped")
        return found

    monkeypatch.setattr(RunFolderReader, "poll", trip)
    woken = Woken(source)
    source.start()
    woken.until(lambda: source.caught_up and bool(source.problem))
    assert source.problem == (
        "a fault in trialdeck ended the reading (ValueError: tripped); what was read before is shown"
    )
    assert source.state.done == 10
    source.close()


def test_what_is_appended_arrives_and_only_that_is_dirty(folder: Path) -> None:
    source = RunSource(folder)
    woken = Woken(source)
    source.start()
    woken.until(lambda: source.caught_up and source.live)
    trial = fake_run.trial_id(1, "sol-6.1", 1)
    fake_run.write(folder, [ev.ActivityChanged(trial=trial, activity="new")])
    assert woken.until(lambda: source.state.trials[trial].activity == "new") == {trial}
    source.close()


def test_a_slice_ends_in_time_and_the_rest_waits(tmp_path: Path) -> None:
    trial = fake_run.trial_id(0, "sol-6.1", 1)
    many = [ev.ActivityChanged(trial=trial, activity=str(number)) for number in range(3000)]
    folder = fake_run.write(tmp_path / "run", [*fake_run.plan(), *many])
    source = RunSource(folder)
    came = threading.Event()
    source.on_events = came.set
    source.start()
    assert came.wait(BOUND_SEC)
    source.pump(budget_sec=0.0)
    assert source.pending > 2000
    Woken(source).until(lambda: source.caught_up)
    assert source.state.trials[trial].activity == "2999"
    source.close()


def test_case_76_a_run_whose_owner_is_gone_is_stale_and_its_clock_stands(tmp_path: Path) -> None:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    folder = fake_run.write(tmp_path / "run", fake_run.story(), alive=False)
    (folder / "engine.json").write_text(f'{{"pid": {process.pid}, "started": 1.0, "host": "{_host()}", "boot": ""}}')
    source = RunSource(folder)
    woken = Woken(source)
    source.start()
    woken.until(lambda: source.liveness is Liveness.STALE)
    assert source.now() == source.state.last_event_at
    source.close()


def _host() -> str:
    import socket

    return socket.gethostname()


def test_a_finished_run(tmp_path: Path) -> None:
    folder = fake_run.write(tmp_path / "run", fake_run.finish(fake_run.story()))
    source = RunSource(folder)
    Woken(source).until(lambda: True)
    woken = Woken(source)
    source.start()
    woken.until(lambda: source.liveness is Liveness.FINISHED)
    assert source.state.finished is not None
    source.close()


def test_a_folder_that_does_not_exist_yet(tmp_path: Path) -> None:
    source = RunSource(tmp_path / "later")
    woken = Woken(source)
    source.start()
    woken.until(lambda: source.caught_up)
    assert source.liveness is Liveness.STARTING
    fake_run.write(tmp_path / "later", fake_run.story())
    woken.until(lambda: source.state.plan is not None and source.live)
    source.close()


def test_a_run_folder_that_is_taken_away_is_said(tmp_path: Path) -> None:
    folder = fake_run.write(tmp_path / "run", fake_run.finish(fake_run.story()))
    source = RunSource(folder)
    woken = Woken(source)
    source.start()
    woken.until(lambda: source.liveness is Liveness.FINISHED)
    shutil.rmtree(folder)
    woken.until(lambda: source.problem == "the run folder is gone")
    assert source.state.finished is not None, "what was read stays"
    source.close()


def test_a_disk_that_is_away_for_a_while_ends_no_reading(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As one in the network is, on which even the folder can't be looked for."""
    folder = fake_run.write(tmp_path / "run", fake_run.finish(fake_run.story()))
    source = RunSource(folder)
    woken = Woken(source)
    source.start()
    woken.until(lambda: source.liveness is Liveness.FINISHED)
    exists = Path.exists

    def away(path: Path) -> bool:
        if path == folder:
            raise OSError(errno.ESTALE, "Stale file handle")
        return exists(path)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "exists", away)
        woken.until(lambda: source.problem == "can't read the run: Stale file handle")
    woken.until(lambda: source.problem == "")
    source.close()


def test_trials_of_a_run_that_is_moved_away_stay_as_they_were(tmp_path: Path) -> None:
    folder = tmp_path / "jobs" / "job"
    job = Job(folder, attempts=2)
    job.end("one__aaaaaaa")
    job.end("one__bbbbbbb", start=30, reward=0.0)
    job.says(60, finished=True)
    source = RunSource(folder)
    woken = Woken(source)
    source.start()
    woken.until(lambda: source.liveness is Liveness.FINISHED and source.caught_up)
    before = {name: trial.state for name, trial in source.state.trials.items()}
    assert sorted(before.values()) == ["failed", "passed"]
    reader = HarborReader(folder)
    folder.rename(tmp_path / "elsewhere")
    assert source._poll(reader) == []
    reader.close()
    woken.until(lambda: source.problem == "the run folder is gone")
    assert {name: trial.state for name, trial in source.state.trials.items()} == before
    source.close()


def test_the_engine_and_its_readers_load_no_textual() -> None:
    code = (
        "import sys, engine.state, engine.readers.run_folder, engine.issues, engine.layout\n"
        "assert not [name for name in sys.modules if name.split('.')[0] in ('textual', 'rich')]"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_model_behind_the_screens_loads_no_textual_app() -> None:
    code = "import sys, screens.source, screens.trial_filter, screens.format\nassert 'textual' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
