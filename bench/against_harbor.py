"""The same job by trialdeck and by Harbor, in turns, on the same daemon."""

from __future__ import annotations

import functools
import subprocess
import tempfile
from pathlib import Path

import msgspec

from bench.figures import Check, Result, Say, Series, Unmeasurable, ratio
from bench.harbor_venv import HARBOR_VERSION, HarborUnavailable, harbor_command
from bench.jobs import SAMPLE_TASKS, TASKS, Job, environment, run_harbor, run_trialdeck

VERSION_TIMEOUT_SEC = 60.0


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    title: str
    job: Job
    target: float
    aim: float | None
    repetitions: int
    quick_repetitions: int


COMPARISONS = (
    Comparison(
        name="hello",
        title="one hello task, oracle; wall time against Harbor's",
        job=Job(task=SAMPLE_TASKS / "hello"),
        target=1 / 5,
        aim=1 / 7,
        repetitions=5,
        quick_repetitions=3,
    ),
    Comparison(
        name="eight",
        title="8 attempts of hello at concurrency 4; wall time against Harbor's",
        job=Job(task=SAMPLE_TASKS / "hello", attempts=8, concurrency=4),
        target=1 / 5,
        aim=None,
        repetitions=3,
        quick_repetitions=1,
    ),
    Comparison(
        name="fresh",
        title="fresh verifier, one sidecar, two failing hooks; wall time against Harbor's",
        job=Job(task=TASKS / "fresh-hooks"),
        target=1 / 6,
        aim=None,
        repetitions=3,
        quick_repetitions=1,
    ),
)


def compare(comparison: Comparison, *, quick: bool, say: Say) -> Result:
    harbor = _harbor(say)
    job = comparison.job
    repetitions = comparison.quick_repetitions if quick else comparison.repetitions
    ours: list[float] = []
    theirs: list[float] = []
    with tempfile.TemporaryDirectory(prefix="trialdeck-bench-") as place:
        _warm_up(harbor, job.task, say)
        for number in range(1, repetitions + 1):
            for name, seconds, run in (
                ("trialdeck", ours, run_trialdeck),
                ("harbor", theirs, functools.partial(run_harbor, harbor)),
            ):
                seconds.append(run(job, Path(place) / f"{name}-{number}"))
                say(f"{comparison.name} {number}/{repetitions}: {name} {seconds[-1]:.2f} s")
    our_series = Series(name="trialdeck", unit="s", values=tuple(ours))
    their_series = Series(name="harbor", unit="s", values=tuple(theirs))
    value = ratio(our_series, their_series)
    return Result(
        benchmark=comparison.name,
        title=comparison.title,
        checks=(Check(name="wall time, ours / Harbor's", value=value, target=comparison.target, aim=comparison.aim),),
        series=(our_series, their_series),
        notes=(f"Harbor {_version(harbor)} takes {1 / value:.1f} times as long (medians)",),
    )


@functools.cache
def _warm_up(harbor: Path, task: Path, say: Say) -> None:
    """Once uncounted for both: image layers in the daemon's cache, bytecode on disk."""
    say(f"warm-up: {task.name}, not counted")
    with tempfile.TemporaryDirectory(prefix="trialdeck-bench-") as place:
        run_trialdeck(Job(task=task), Path(place) / "trialdeck")
        run_harbor(harbor, Job(task=task), Path(place) / "harbor")


@functools.cache
def _harbor(say: Say) -> Path:
    say(f"looking for Harbor {HARBOR_VERSION}; its environment is made at the first use, which takes a minute")
    try:
        return harbor_command()
    except HarborUnavailable as error:
        raise Unmeasurable(str(error)) from None


@functools.cache
def _version(harbor: Path) -> str:
    with tempfile.TemporaryDirectory(prefix="trialdeck-bench-") as home:
        answer = subprocess.run(
            [str(harbor), "--version"],
            capture_output=True,
            text=True,
            env=environment(Path(home)),
            timeout=VERSION_TIMEOUT_SEC,
            check=False,
        )
    return answer.stdout.strip() or HARBOR_VERSION
