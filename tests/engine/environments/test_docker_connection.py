"""The way to the daemon: over TCP, lost in the middle, or not there at all."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from socket import AddressFamily

import anyio
import anyio.abc
import anyio.lowlevel
import pytest

from engine.agents.capsules.build import find_or_build
from engine.agents.capsules.carry_in import carry_in
from engine.environments.docker.provider import DockerProvider
from engine.events import ServiceChanged
from engine.issues import Code, TrialFailed
from tests.engine.environments.rig import Rig

pytestmark = [pytest.mark.anyio, pytest.mark.docker]

SOCKET = "/var/run/docker.sock"


class Line:
    """A TCP line to the daemon's socket that can be cut and mended."""

    def __init__(self, group: anyio.abc.TaskGroup) -> None:
        self.port = 0
        self._group = group
        self._scope = anyio.CancelScope()
        self._closed: anyio.Event | None = None

    async def mend(self) -> None:
        if self._closed is not None:
            await self._closed.wait()
        listener = await anyio.create_tcp_listener(
            local_host="127.0.0.1", local_port=self.port, family=AddressFamily.AF_INET
        )
        self.port = listener.extra(anyio.abc.SocketAttribute.local_port)
        self._scope = anyio.CancelScope()
        self._closed = anyio.Event()
        self._group.start_soon(self._serve, listener, self._scope, self._closed)

    def cut(self) -> None:
        self._scope.cancel()

    async def _serve(
        self, listener: anyio.abc.Listener[anyio.abc.SocketStream], scope: anyio.CancelScope, closed: anyio.Event
    ) -> None:
        with scope:
            async with listener:
                await listener.serve(self._connect)
        closed.set()

    async def _connect(self, near: anyio.abc.SocketStream) -> None:
        async with near, await anyio.connect_unix(SOCKET) as far, anyio.create_task_group() as group:
            group.start_soon(self._carry, near, far)
            group.start_soon(self._carry, far, near)

    async def _carry(self, source: anyio.abc.SocketStream, target: anyio.abc.SocketStream) -> None:
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            async for data in source:
                await target.send(data)
            await target.send_eof()


@pytest.fixture
async def line(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Line]:
    async with anyio.create_task_group() as group:
        line = Line(group)
        await line.mend()
        monkeypatch.setenv("DOCKER_HOST", f"tcp://127.0.0.1:{line.port}")
        yield line
        line.cut()


async def test_far_away_an_agents_own_files_are_unpacked_also_into_a_read_only_root(line: Line, tmp_path: Path) -> None:
    """Case 38."""
    capsule = find_or_build("tmux-v1", lambda words: None)
    mounts = {capsule.folder: capsule.place}
    compose = "services: {main: {image: 'debian:bookworm-slim', read_only: true, tmpfs: [/logs]}}"
    async with DockerProvider.open() as provider:
        assert not await provider.mounts_host_folders()
        rig = Rig(provider, tmp_path)
        async with rig.up(compose=compose, bind_read_only=mounts, brings_in=True) as environment:
            await carry_in(capsule, environment)
            said = await environment.execute([capsule.programs["tmux"], "-V"], env=capsule.env, user="nobody")
            outside = await environment.execute(["touch", "/opt/file"])
        assert await provider.remove_run(rig.run) == []
    assert (said.exit_code, said.tail[:5]) == (0, "tmux ")
    assert outside.exit_code != 0 and "Read-only file system" in outside.tail


async def test_a_daemon_over_tcp_serves_all_the_same(line: Line, tmp_path: Path) -> None:
    """Docker's own tools are led to it too; an end of stdin arrives, and so do archives both ways."""
    async with DockerProvider.open() as provider:
        rig = Rig(provider, tmp_path)
        compose = "services: {main: {image: 'debian:bookworm-slim'}}"
        async with rig.up(compose=compose) as environment:
            result = await environment.execute(["sh", "-c", "wc -c; exit 7"], stdin=b"x" * 500_000)
            assert (result.exit_code, result.tail.strip()) == (7, "500000")
            await environment.upload_bytes(b"hello", "/x/y")
            assert (await environment.download("/x", tmp_path / "x")).files == 1
            late = await environment.execute(["sleep", "100"], timeout_sec=0.3)
            assert late.timed_out
        assert (await provider.facts()).compose


LIVES_SEC = 6
"""So long does a container live after its command has begun: time to cut the line."""


async def test_a_line_that_breaks_is_no_exit_code_and_no_death(
    line: Line, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Case 25: neither 0 nor the command's failure nor main's death, of which nobody knows; and what happened meanwhile
    is heard of when the line is back."""
    monkeypatch.setattr("engine.environments.docker.exec.EXIT_CODE_SEC", 1.0)
    failures: list[TrialFailed] = []
    begun = anyio.Event()
    async with DockerProvider.open() as provider:
        rig = Rig(provider, tmp_path)
        async with rig.up() as environment:
            async with anyio.create_task_group() as group:

                async def run() -> None:
                    with pytest.raises(TrialFailed) as failure:
                        script = f"echo begun; sleep {LIVES_SEC}; kill -TERM 1"
                        await environment.execute(["sh", "-c", script], sink=lambda *_: begun.set())
                    failures.append(failure.value)

                group.start_soon(run)
                await begun.wait()
                began = time.monotonic()
                line.cut()
            assert time.monotonic() - began < 60
            assert failures[0].issue.code is Code.DAEMON_UNREACHABLE
            assert f"tcp://127.0.0.1:{line.port} (from DOCKER_HOST)" in failures[0].issue.evidence[0].text
            await anyio.sleep(max(0.0, LIVES_SEC - (time.monotonic() - began)))
            await line.mend()
            await rig.recorder.wait(lambda: any(event.state == "exited" for event in rig.recorder.of(ServiceChanged)))


async def test_what_a_start_made_goes_although_the_line_was_cut_while_it_was_removed(
    line: Line, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A tunnel or a daemon that is back within the time of a clean-up leaves nothing behind."""
    monkeypatch.setattr("engine.environments.docker.removal.PAUSE_MOST_SEC", 0.05)
    async with DockerProvider.open() as provider:
        rig = Rig(provider, tmp_path)
        async with rig.up() as environment:
            line.cut()
            async with anyio.create_task_group() as group:
                left: list[list[str]] = []

                async def down() -> None:
                    left.append(await environment.down())

                group.start_soon(down)
                while not await provider.answers():
                    await anyio.lowlevel.checkpoint()
                await line.mend()
            assert left == [[]]
            assert await provider.answers() == ""


async def test_no_daemon_is_said_in_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for host in (f"unix://{tmp_path}/nothing.sock", "tcp://127.0.0.1:1"):
        monkeypatch.setenv("DOCKER_HOST", host)
        with pytest.raises(TrialFailed) as failure:
            await DockerProvider.connect()
        assert failure.value.issue.code is Code.DAEMON_UNREACHABLE
        assert "\n" not in failure.value.issue.message


async def test_a_failure_inside_the_block_comes_out_as_itself() -> None:
    with pytest.raises(KeyError, match="mine"):
        async with DockerProvider.open():
            raise KeyError("mine")
