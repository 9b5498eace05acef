"""What is told of an environment while it is up: deaths, memory, logs, samples."""

from __future__ import annotations

import anyio
import pytest

from engine.environments.docker.definition import MOST_PROCESSES
from engine.events import ResourcePeaked
from engine.issues import Code
from engine.log_streams import Stream, read_ranges
from tests.engine.environments.rig import IDLE, Rig, facts

pytestmark = [pytest.mark.anyio, pytest.mark.docker]


async def test_a_sidecar_that_dies_later_is_told(rig: Rig) -> None:
    """Case 8: die events of all containers are watched during the agent's run. Case 17: a restart hides nothing."""
    compose = f"""
        services:
          main: {IDLE}
          side: {{image: debian:bookworm-slim, command: [sh, -c, "echo going down; sleep 1; exit 3"]}}
          phoenix: {{image: debian:bookworm-slim, restart: always, command: [sh, -c, "sleep 1; exit 5"]}}
    """
    async with rig.up(compose=compose) as environment:
        await rig.recorder.wait(lambda: len({i.service for i in rig.recorder.issues(Code.SERVICE_DIED)}) == 2)
        told = {issue.service: facts(issue) for issue in rig.recorder.issues(Code.SERVICE_DIED)}
        assert told["side"]["exit code"] == "3"
        assert "going down" in told["side"]["log"]
        assert "restart policy" in told["phoenix"]
        assert (await environment.execute(["true"])).environment_alive


async def test_a_memory_hit_is_told_once_while_the_service_lives(rig: Rig) -> None:
    """Case 17: the engine's own event, for a child that dies while PID 1 lives on."""
    async with rig.up(memory_mb=48) as environment:
        for _ in range(2):
            await environment.execute(["tail", "/dev/zero"])
        await rig.recorder.wait(lambda: rig.recorder.issues(Code.OUT_OF_MEMORY))
        await anyio.sleep(0.3)
        assert len(rig.recorder.issues(Code.OUT_OF_MEMORY)) == 1
        assert facts(rig.recorder.issues(Code.OUT_OF_MEMORY)[0])["limit"] == "48 MiB"


async def test_samples_logs_and_peaks_are_told(rig: Rig) -> None:
    compose = f"""
        services:
          main: {IDLE}
          talker: {{image: debian:bookworm-slim, command: [sh, -c, "echo out; sleep 0.3; echo err >&2; sleep 60"]}}
    """
    async with rig.up(compose=compose, memory_mb=64) as environment:
        log = environment.spec.log_folder / "services" / "talker.log"
        await rig.recorder.wait(lambda: log.exists() and log.read_bytes() == b"out\nerr\n")
        assert read_ranges(log).changes() == [(4, Stream.STDERR)]
        await environment.execute(["perl", "-e", "$x = 'y' x 20_000_000; sleep 1 for 1 .. 2"])
    peaks = {peak.service: peak for peak in rig.recorder.of(ResourcePeaked)}
    assert set(peaks) == {"main", "talker"}
    assert peaks["main"].memory_bytes > 20_000_000
    assert peaks["main"].memory_limit == 64 * 1024 * 1024
    assert peaks["main"].pids >= 3


@pytest.mark.parametrize("compose", [None, f"services: {{main: {IDLE}}}"], ids=["alone", "with a Compose file"])
async def test_a_fork_bomb_meets_a_bound_of_its_own(rig: Rig, compose: str | None) -> None:
    """Without one it takes every process number of the host, the engine's own included."""
    async with rig.up(compose=compose) as environment:
        told = await rig.provider.engine.get(f"containers/{environment.project}-main-1/json")
        assert told["HostConfig"]["PidsLimit"] == MOST_PROCESSES
