"""Signs of life of an owner that wrote down no name."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from engine.readers import owner_process
from engine.readers.owner_process import Pulse, worked_on_here

_HOLD = "import sys; held = open(sys.argv[1]); print('held', flush=True); sys.stdin.read()"


def _hold(script: Path, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, str(script), *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def test_a_process_of_that_name_with_a_file_open_in_the_folder_works_on_it(tmp_path: Path) -> None:
    job, other = tmp_path / "job", tmp_path / "job-2"
    for folder in (job, other):
        folder.mkdir()
        (folder / "job.log").touch()
    script = tmp_path / "someharness"
    script.write_text(_HOLD)
    shutil.copy(script, tmp_path / "tail")
    with _hold(script, str(job / "job.log")) as owner, _hold(tmp_path / "tail", str(other / "job.log")) as reader:
        assert owner.stdout is not None
        assert reader.stdout is not None
        assert owner.stdout.readline() == reader.stdout.readline() == "held\n"
        assert worked_on_here(job, ["someharness"])
        assert not worked_on_here(other, ["someharness"])
        assert not worked_on_here(job, ["someharness"], ignored=[str(job / "job.log")])
        owner.kill()
        owner.wait()
        assert not worked_on_here(job, ["someharness"])
        reader.kill()


def test_a_process_that_only_is_given_a_path_of_that_name_is_not_the_owner_case_76(tmp_path: Path) -> None:
    job = tmp_path / "someharness-jobs"
    job.mkdir()
    (job / "job.log").touch()
    script = tmp_path / "reader.py"
    script.write_text(_HOLD)
    with _hold(script, str(job / "job.log")) as reader:
        assert reader.stdout is not None
        assert reader.stdout.readline() == "held\n"
        assert not worked_on_here(job, ["someharness"])
        assert worked_on_here(job, ["reader"])
        reader.kill()


def test_a_thousand_folders_ask_for_each_processs_command_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A list of jobs that nobody works on any more asks for each of them."""
    asked: list[int] = []

    class Counted(psutil.Process):
        def cmdline(self) -> list[str]:
            asked.append(self.pid)
            return super().cmdline()

    monkeypatch.setattr(owner_process, "_known", {})
    monkeypatch.setattr(owner_process, "_REREAD_SEC", 1e9)
    monkeypatch.setattr(psutil, "Process", Counted)
    for number in range(1_000):
        assert not worked_on_here(tmp_path / str(number), ["someharness"])
    assert asked
    assert len(asked) == len(set(asked))


def test_a_pulse_beats_while_what_a_folder_says_moves_on() -> None:
    now = [100.0]
    pulse = Pulse(silent_sec=10.0, clock=lambda: now[0])
    pulse.look("a")
    assert not pulse.beats
    pulse.look("a")
    assert not pulse.beats
    pulse.look("b")
    assert pulse.beats
    now[0] += 9.0
    assert pulse.beats
    now[0] += 2.0
    assert not pulse.beats
    pulse.look("c")
    pulse.stop()
    assert not pulse.beats
