"""A job that Harbor runs on this machine, watched from outside: live, then killed, then stale."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bench.jobs import Job, environment, harbor_argv, harbor_projects, remove_what_harbor_left
from engine.readers.harbor import HARBOR
from engine.readers.harbor_reader import HarborReader
from engine.readers.open_run import recognise
from engine.readers.reader import Liveness
from engine.state import RunState
from tests.end_to_end.deck import until
from tests.harbor import require_harbor

pytestmark = pytest.mark.docker

_TASK = """
schema_version = "1.4"
[task]
name = "made/waits"
[environment]
build_timeout_sec = 600.0
[agent]
timeout_sec = 600.0
[verifier]
timeout_sec = 60.0
"""


def make_task(folder: Path) -> Path:
    for name, text in (
        ("task.toml", _TASK),
        ("instruction.md", "Wait.\n"),
        ("environment/Dockerfile", "FROM debian:bookworm-slim\nWORKDIR /app\n"),
        ("solution/solve.sh", "#!/bin/bash\necho begun\nexec sleep 600\n"),
        ("tests/test.sh", "#!/bin/bash\necho 1 > /logs/verifier/reward.txt\n"),
    ):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


@contextmanager
def harbor_runs(harbor: Path, task: Path, place: Path) -> Iterator[subprocess.Popen[bytes]]:
    """In a session of its own, killed whole at the end, its containers removed."""
    jobs = place / "jobs"
    argv = harbor_argv(harbor, Job(task=task, attempts=2, concurrency=1), jobs)
    with (place / "output.txt").open("wb") as output:
        process = subprocess.Popen(
            argv,
            cwd=place,
            env=environment(place / "home"),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        yield process
    finally:
        kill(process)
        remove_what_harbor_left(jobs)


def kill(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def job_in(jobs: Path) -> Path | None:
    found = [folder for folder in jobs.glob("*") if recognise(folder) is not None]
    return found[0] if found else None


def test_a_real_job_is_live_while_harbor_runs_and_stale_once_it_is_killed(tmp_path: Path) -> None:
    harbor = require_harbor()
    task = make_task(tmp_path / "waits")
    jobs = tmp_path / "jobs"
    with harbor_runs(harbor, task, tmp_path) as process:
        until(lambda: job_in(jobs) or ended(process), "Harbor begins a job")
        job = job_in(jobs)
        assert job is not None, said(tmp_path)
        reader, state = HarborReader(job), RunState()

        def begun() -> bool:
            state.apply_all(reader.poll())
            return any(one.state == "running" for one in state.trials.values()) and containers(jobs) > 0

        until(lambda: ended(process) or begun(), "the trial has its container", 300.0)
        assert begun(), said(tmp_path)
        assert reader.liveness() is Liveness.LIVE
        assert sorted(one.state for one in state.trials.values()) == ["queued", "running"]
        trial = next(one for one in state.trials.values() if one.state == "running")
        assert (trial.task, trial.arm, trial.attempt) == ("waits", "oracle", 1)
        assert state.plan is not None
        assert (state.plan.trials, state.plan.attempts, state.plan.engine_version) == (2, 2, "Harbor 0.26.0")
        kill(process)
        until(lambda: reader.liveness() is Liveness.STALE, "the job is stale")

        def cut_off() -> bool:
            state.apply_all(reader.poll())
            return state.trials[trial.trial].state == "interrupted"

        until(cut_off, "its trial is interrupted")
        reader.close()
    assert sorted(one.state for one in state.trials.values()) == ["interrupted", "queued"]
    assert not state.engine_running
    assert containers(jobs) == 0
    assert HARBOR.reader(job).liveness() is Liveness.STALE


def containers(jobs: Path) -> int:
    found = 0
    for project in harbor_projects(jobs):
        argv = ["docker", "ps", "--quiet", "--filter", f"label=com.docker.compose.project={project}"]
        found += len(subprocess.run(argv, capture_output=True, text=True, check=False).stdout.split())
    return found


def ended(process: subprocess.Popen[bytes]) -> bool:
    return process.poll() is not None


def said(place: Path) -> str:
    return (place / "output.txt").read_text(errors="replace")[-3000:]
