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

from bench.figures import Check, Result, Say, Series, Unmeasurable, ratio
from bench.jobs import SAMPLE_TASKS, Job, only_folder, run_trialdeck
from engine.environments.docker import labels
from engine.environments.docker.endpoint import find_endpoint
from engine.events import PhaseFinished, TrialFinished, decode_lines
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
    phases: dict[str, list[float]] = {}
    for number in range(1, (QUICK_TURNS if quick else TURNS) + 1):
        floor += asyncio.run(_rounds(ROUNDS))
        with tempfile.TemporaryDirectory(prefix="trialdeck-bench-") as place:
            run_trialdeck(Job(task=SAMPLE_TASKS / "hello", attempts=TRIALS + 1, concurrency=1), Path(place))
            seconds, by_phase = trial_seconds(only_folder(Path(place) / "runs") / EVENTS)
        ours += seconds
        for phase, values in by_phase.items():
            phases.setdefault(phase, []).extend(values)
        for name, values in (("floor", [sum(steps) for steps in floor[-ROUNDS:]]), ("trials", seconds)):
            say(f"floor {number}: {name} {', '.join(f'{value:.2f}' for value in values)} s")
    total = Series(name="floor", unit="s", values=tuple(sum(steps) for steps in floor))
    trial = Series(name="trial (hello, image built)", unit="s", values=tuple(ours))
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
        ),
        series=(trial, *shares, total, *steps),
        notes=("the floor runs one command, a hello trial its solution, its tests and the folders they need",),
    )


def trial_seconds(events: Path) -> tuple[list[float], dict[str, list[float]]]:
    """Seconds of every trial but the first, which builds the image for all; and the same by phase."""
    finished: list[TrialFinished] = []
    phases: dict[str, dict[str, list[float]]] = {}
    for event in decode_lines(events.read_bytes().splitlines()):
        if isinstance(event, TrialFinished):
            finished.append(event)
        elif isinstance(event, PhaseFinished):
            phases.setdefault(event.trial, {}).setdefault(str(event.phase), []).append(event.seconds)
    later = finished[1:]
    by_phase: dict[str, list[float]] = {}
    for trial in later:
        for phase, seconds in phases.get(trial.trial, {}).items():
            by_phase.setdefault(phase, []).append(sum(seconds))
    return [trial.seconds for trial in later], by_phase


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
