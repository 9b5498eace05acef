"""Resident memory of the engine's process while four trials run."""

from __future__ import annotations

import contextlib
import tempfile
import time
from pathlib import Path

import psutil

from bench.figures import Check, Result, Say, Series, Unmeasurable
from bench.jobs import JOB_TIMEOUT_SEC, TASKS, Job, end_of, expect_all_passed, start, stop, trialdeck_argv
from engine.events import decode_lines
from engine.layout import EVENTS, find_runs
from engine.owner import read_owner
from engine.readers.followed_file import FollowedFile
from engine.state import RunState
from engine.trial_state import RUNNING

TRIALS = 4
TARGET_MB = 85.0
SAMPLE_SEC = 0.05
START_SEC = 60.0
MB = 1e6


def measure_memory(*, quick: bool, say: Say) -> Result:
    job = Job(task=TASKS / "steady", attempts=TRIALS, concurrency=TRIALS)
    rounds = 1 if quick else 2
    engine: list[float] = []
    peaks: list[float] = []
    beside: list[float] = []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory(prefix="trialdeck-bench-") as place:
            samples, peak, others = _watch(job, Path(place))
        engine += samples
        peaks.append(peak)
        beside.append(others)
        say(f"memory: {len(samples)} samples with {TRIALS} trials running, peak {peak:.1f} MB")
    return Result(
        benchmark="memory",
        title=f"resident memory of the engine's process with {TRIALS} trials running",
        checks=(Check(name="peak", value=max(peaks), unit="MB", target=TARGET_MB, below=True),),
        series=(
            Series(name="engine, sampled", unit="MB", values=tuple(engine)),
            Series(name="engine, the kernel's own peak", unit="MB", values=tuple(peaks)),
            Series(name="docker tools that it starts, peak", unit="MB", values=tuple(beside)),
        ),
        notes=("MB = 10^6 bytes; the peak is VmHWM, so nothing between two samples is missed",),
    )


def _watch(job: Job, place: Path) -> tuple[list[float], float, float]:
    """Samples while all trials run, the peak of the process's whole life, and the peak of its children."""
    runs = place / "runs"
    log = place / "output.txt"
    samples: list[float] = []
    peak = beside = 0.0
    with log.open("wb") as output:
        process = start(trialdeck_argv(job, runs), place, output.fileno())
        try:
            folder, engine = _engine(runs, log)
            events, state = FollowedFile(folder / EVENTS), RunState()
            until = time.monotonic() + JOB_TIMEOUT_SEC
            while process.poll() is None and time.monotonic() < until:
                state.apply_all(decode_lines(events.new_lines()))
                try:
                    peak = max(peak, status_mb(engine.pid, "VmHWM"))
                    if state.count(RUNNING) == job.attempts:
                        samples.append(status_mb(engine.pid, "VmRSS"))
                    beside = max(beside, _children(engine))
                except OSError:
                    break
                time.sleep(SAMPLE_SEC)
            events.close()
            if process.wait(JOB_TIMEOUT_SEC) != 0:
                raise Unmeasurable(f"trialdeck run: exit code {process.returncode}\n{end_of(log)}")
        finally:
            stop(process)
    expect_all_passed(runs, job.attempts, "trialdeck")
    if not samples:
        raise Unmeasurable(f"never did all {job.attempts} trials run at once")
    return samples, peak, beside


def _engine(runs: Path, log: Path) -> tuple[Path, psutil.Process]:
    until = time.monotonic() + START_SEC
    while time.monotonic() < until:
        for folder in find_runs(runs):
            owner = read_owner(folder)
            if owner is not None:
                return folder, psutil.Process(owner.pid)
        time.sleep(0.02)
    raise Unmeasurable(f"trialdeck run started no engine within {START_SEC:.0f} s\n{end_of(log)}")


def status_mb(pid: int, field: str) -> float:
    """A memory figure of /proc/PID/status. Raises OSError once the process is gone."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        name, _, value = line.partition(":")
        if name == field:
            return int(value.split()[0]) * 1024 / MB
    raise ProcessLookupError(pid)


def _children(engine: psutil.Process) -> float:
    total = 0.0
    with contextlib.suppress(psutil.Error):
        for child in engine.children(recursive=True):
            with contextlib.suppress(OSError):
                total += status_mb(child.pid, "VmRSS")
    return total
