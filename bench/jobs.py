"""One job, by Harbor or by trialdeck, timed from outside: from the start of the command to its exit.

Both get the same tasks, the same daemon, no terminal, a working folder of their own, and are believed only if their
`result.json` (trialdeck writes Harbor's shape) says that every trial passed.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import msgspec

from bench.figures import Unmeasurable

PROJECT = Path(__file__).resolve().parent.parent
TASKS = Path(__file__).resolve().parent / "tasks"
SAMPLE_TASKS = PROJECT / "sample_runs" / "tasks"
JOB_TIMEOUT_SEC = 900.0
END_SEC = 30.0


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """`trials` = attempts of one task by the oracle agent."""

    task: Path
    attempts: int = 1
    concurrency: int = 4


def harbor_argv(harbor: Path, job: Job, jobs_dir: Path) -> list[str]:
    return [
        str(harbor),
        "run",
        *("--path", str(job.task)),
        *("--agent", "oracle"),
        *("--n-attempts", str(job.attempts)),
        *("--n-concurrent", str(job.concurrency)),
        *("--jobs-dir", str(jobs_dir)),
        "--quiet",
        "--yes",
    ]


def trialdeck_argv(job: Job, runs_dir: Path) -> list[str]:
    return [
        str(trialdeck_command()),
        "run",
        str(job.task),
        *("--agent", "oracle"),
        *("--attempts", str(job.attempts)),
        *("--concurrency", str(job.concurrency)),
        *("--runs-dir", str(runs_dir)),
        "--plain",
    ]


def trialdeck_command() -> Path:
    """The installed command of the environment that runs the benchmark."""
    command = Path(sys.executable).with_name("trialdeck")
    if not command.exists():
        raise Unmeasurable(f"there is no `trialdeck` beside {Path(sys.executable).name}; `./dev setup` installs it")
    return command


def environment(home: Path) -> dict[str, str]:
    """For both: the caller's, with a home folder of its own, but with the caller's Docker configuration."""
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}
    docker = kept.get("DOCKER_CONFIG") or str(Path.home() / ".docker")
    home.mkdir(exist_ok=True)
    found = kept | {"HOME": str(home), "HARBOR_TELEMETRY": "off", "NO_COLOR": "1"}
    return found | {"DOCKER_CONFIG": docker} if Path(docker).is_dir() else found


def run_harbor(harbor: Path, job: Job, folder: Path) -> float:
    """Seconds of a whole `harbor run`. `folder` is an empty one of this call's own."""
    jobs = folder / "jobs"
    try:
        seconds = timed(harbor_argv(harbor, job, jobs), folder, "harbor run")
    except BaseException:
        remove_what_harbor_left(jobs)
        raise
    expect_all_passed(jobs, job.attempts, "Harbor")
    return seconds


def harbor_projects(jobs: Path) -> list[str]:
    """The Compose projects of a job's trials: a folder in it is named after each."""
    trials = [folder.name for folder in jobs.glob("*/*") if folder.is_dir()]
    return sorted(re.sub(r"[^a-z0-9_-]", "-", f"{trial}__env".lower()) for trial in trials)


def remove_what_harbor_left(jobs: Path) -> None:
    """An interrupted Harbor leaves its containers running."""
    for project in harbor_projects(jobs):
        argv = ["docker", "compose", "--project-name", project, "down", "--timeout", "0", "--volumes", "--rmi", "local"]
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            subprocess.run(argv, cwd=jobs, capture_output=True, timeout=END_SEC, check=False)


def run_trialdeck(job: Job, folder: Path) -> float:
    """Seconds of a whole `trialdeck run`."""
    runs = folder / "runs"
    seconds = timed(trialdeck_argv(job, runs), folder, "trialdeck run")
    expect_all_passed(runs, job.attempts, "trialdeck")
    return seconds


def timed(argv: list[str], folder: Path, name: str) -> float:
    """Raises Unmeasurable with the end of the output where the command fails or doesn't end."""
    folder.mkdir(parents=True, exist_ok=True)
    log = folder / "output.txt"
    with log.open("wb") as output:
        began = time.perf_counter()
        process = start(argv, folder, output.fileno())
        try:
            code = process.wait(JOB_TIMEOUT_SEC)
        except subprocess.TimeoutExpired:
            raise Unmeasurable(f"{name}: no end after {JOB_TIMEOUT_SEC:.0f} s\n{end_of(log)}") from None
        finally:
            stop(process)
        seconds = time.perf_counter() - began
    if code != 0:
        raise Unmeasurable(f"{name}: exit code {code}\n{end_of(log)}")
    return seconds


def start(argv: list[str], folder: Path, output: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        argv,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
        env=environment(folder / "home"),
        start_new_session=True,  # a Ctrl-C is for us, and `stop` passes it on, once
    )


def stop(process: subprocess.Popen[bytes]) -> None:
    """Interrupted as a person would, so that it cleans up; by force only if that takes too long."""
    if process.poll() is not None:
        return
    process.send_signal(signal.SIGINT)
    try:
        process.wait(END_SEC)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


class _Eval(msgspec.Struct):
    n_trials: int = 0
    reward_stats: dict[str, dict[str, list[str]]] = {}


class _Stats(msgspec.Struct):
    n_completed_trials: int = 0
    n_errored_trials: int = 0
    evals: dict[str, _Eval] = {}


class _JobResult(msgspec.Struct):
    n_total_trials: int
    stats: _Stats


def only_folder(parent: Path) -> Path:
    found = [child for child in parent.iterdir() if child.is_dir()] if parent.is_dir() else []
    if len(found) != 1:
        raise Unmeasurable(f"{parent.name}: expected the folder of one run, found {len(found)}")
    return found[0]


def expect_all_passed(parent: Path, trials: int, name: str) -> None:
    result = msgspec.json.decode((only_folder(parent) / "result.json").read_bytes(), type=_JobResult)
    passed = sum(
        len(names)
        for figures in result.stats.evals.values()
        for value, names in figures.reward_stats.get("reward", {}).items()
        if float(value) == 1.0
    )
    if (result.n_total_trials, passed, result.stats.n_errored_trials) != (trials, trials, 0):
        raise Unmeasurable(
            f"{name}: {passed} of {result.n_total_trials} trials passed, {result.stats.n_errored_trials} with an "
            f"error; expected {trials} of {trials}, so the times mean nothing"
        )


def end_of(log: Path, count: int = 12) -> str:
    return "\n".join(log.read_text(errors="replace").strip().splitlines()[-count:])
