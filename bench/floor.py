"""The floor under a trial: one network, one container, one command and their removal, straight through the Engine API.

No engine can be quicker than that without leaving something out; ours adds the task's uploads, a second command, the
logs, collection and the verdict.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import secrets
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiodocker
import aiohttp
import msgspec

from bench.figures import Check, Result, Say, Series, Unmeasurable, ratio
from bench.jobs import SAMPLE_TASKS, Job, only_folder, run_trialdeck
from engine.environments.docker import labels
from engine.environments.docker.endpoint import find_endpoint
from engine.events import PhaseFinished, TrialFinished, TrialStarted, decode_lines
from engine.layout import EVENTS

IMAGE = "debian:bookworm-slim"
TURNS, QUICK_TURNS = 4, 2
ROUNDS = TRIALS = 3
"""In each turn."""
AIM = 1.5
ROUND_TIMEOUT_SEC = 120.0
STEPS = ("network create", "container create", "start", "exec", "remove", "network remove")


def measure_floor(*, quick: bool, say: Say) -> Result:
    """In turns, so that a load that comes or goes meets both: rounds of the floor, some trials, and so on."""
    floor: list[tuple[float, ...]] = []
    ours: list[float] = []
    apart: list[float] = []
    phases: dict[str, list[float]] = {}
    for number in range(1, (QUICK_TURNS if quick else TURNS) + 1):
        floor += asyncio.run(_rounds(ROUNDS))
        with tempfile.TemporaryDirectory(prefix="trialdeck-bench-") as place:
            run_trialdeck(Job(task=SAMPLE_TASKS / "hello", attempts=TRIALS + 1, concurrency=1), Path(place))
            trials = read_trials(only_folder(Path(place) / "runs") / EVENTS)
        ours += trials.seconds
        apart += trials.apart
        for phase, values in trials.phases.items():
            phases.setdefault(phase, []).extend(values)
        for name, values in (("floor", [sum(steps) for steps in floor[-ROUNDS:]]), ("trials", trials.seconds)):
            say(f"floor {number}: {name} {', '.join(f'{value:.2f}' for value in values)} s")
    total = Series(name="floor", unit="s", values=tuple(sum(steps) for steps in floor))
    trial = Series(name="trial (hello, image built)", unit="s", values=tuple(ours))
    period = Series(name="from one trial's start to the next", unit="s", values=tuple(apart))
    steps = [
        Series(name=f"  floor: {name}", unit="ms", values=tuple(1000 * round_[number] for round_ in floor))
        for number, name in enumerate(STEPS)
    ]
    shares = [
        Series(name=f"  trial: {phase}", unit="ms", values=tuple(1000 * value for value in values))
        for phase, values in phases.items()
    ]
    return Result(
        benchmark="floor",
        title="engine time of a trial against network, container, start, exec and remove by the Engine API alone",
        checks=(
            Check(name="trial / floor (medians)", value=ratio(trial, total), aim=AIM),
            Check(name="trial / floor (minima)", value=min(trial.values) / min(total.values), aim=AIM),
            Check(name="from trial to trial / floor (medians)", value=ratio(period, total), aim=AIM),
        ),
        series=(trial, *shares, period, total, *steps),
        notes=(
            "the floor runs one command, a hello trial its solution, its tests and the folders they need",
            "one trial's clean-up and the next one's start share the daemon: both take longer, the run doesn't",
        ),
    )


class Trials(msgspec.Struct, frozen=True, kw_only=True):
    """Of every trial but the first, which builds the image for all: its seconds, the same by phase, and the seconds
    from its start to the next one's."""

    seconds: list[float]
    phases: dict[str, list[float]]
    apart: list[float]


def read_trials(events: Path) -> Trials:
    started: dict[str, float] = {}
    seconds: dict[str, float] = {}
    phases: dict[str, dict[str, float]] = {}
    for event in decode_lines(events.read_bytes().splitlines()):
        if isinstance(event, TrialStarted):
            started[event.trial] = event.at.timestamp()
        elif isinstance(event, TrialFinished) and event.seconds is not None:
            seconds[event.trial] = event.seconds
        elif isinstance(event, PhaseFinished):
            of_trial = phases.setdefault(str(event.phase), {})
            of_trial[event.trial] = of_trial.get(event.trial, 0.0) + event.seconds
    later = list(started)[1:]
    times = [started[trial] for trial in later]
    return Trials(
        seconds=[seconds[trial] for trial in later],
        phases={phase: [found[trial] for trial in later if trial in found] for phase, found in phases.items()},
        apart=[after - before for before, after in itertools.pairwise(times)],
    )


async def _rounds(count: int) -> list[tuple[float, ...]]:
    async with _docker() as docker:
        try:
            await docker.images.inspect(IMAGE)
        except aiodocker.DockerError as error:
            raise Unmeasurable(f"the image {IMAGE} is needed: {error.message}") from None
        found = []
        for number in range(count + 1):
            async with asyncio.timeout(ROUND_TIMEOUT_SEC):
                steps = await _round(docker)
            if number:  # the first pays for connections and caches
                found.append(steps)
    return found


async def _round(docker: aiodocker.Docker) -> tuple[float, ...]:
    """Seconds of each step. What a failure leaves bears our labels, so a sweep finds it."""
    name = f"{labels.PREFIX}bench-{secrets.token_hex(4)}"
    marks = labels.of_run(name)
    clock = [time.perf_counter()]
    network = await docker.networks.create({"Name": name, "Labels": marks})
    clock.append(time.perf_counter())
    try:
        container = await docker.containers.create(_container(name, marks), name=name)
        clock.append(time.perf_counter())
        try:
            await container.start()
            clock.append(time.perf_counter())
            await _execute(container)
            clock.append(time.perf_counter())
        finally:
            await container.delete(force=True, v=True)
        clock.append(time.perf_counter())
    finally:
        await network.delete()
    clock.append(time.perf_counter())
    return tuple(after - before for before, after in itertools.pairwise(clock))


def _container(network: str, marks: dict[str, str]) -> dict[str, Any]:
    """With the limits of the hello task and an init, as a trial's container has them."""
    return {
        "Image": IMAGE,
        "Cmd": ["sh", "-c", "sleep infinity"],
        "Labels": marks,
        "HostConfig": {"NetworkMode": network, "Init": True, "NanoCpus": 500_000_000, "Memory": 128 << 20},
    }


async def _execute(container: Any) -> None:
    execution = await container.exec(cmd=["true"])
    async with execution.start(detach=False) as stream:
        while await stream.read_out() is not None:
            pass
    code = (await execution.inspect())["ExitCode"]
    if code != 0:
        raise Unmeasurable(f"the command in the container ended with exit code {code}")


@asynccontextmanager
async def _docker() -> AsyncIterator[aiodocker.Docker]:
    host = find_endpoint(os.environ).host
    if not host.startswith("unix://"):
        raise Unmeasurable(f"the floor is measured on a local daemon only, and this one is {host}")
    connector = aiohttp.UnixConnector(host.removeprefix("unix://"), limit=0)
    docker = aiodocker.Docker(url="unix://localhost", connector=connector)
    try:
        yield docker
    except (aiodocker.DockerError, aiohttp.ClientError, TimeoutError) as error:
        raise Unmeasurable(f"the daemon: {error}") from error
    finally:
        await docker.close()
        await connector.close()
