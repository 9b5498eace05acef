"""Folders of the host in `main`, that it may only read."""

from __future__ import annotations

import socket
import tempfile
from pathlib import Path

import anyio
import pytest

from engine.environments.docker.provider import DockerProvider
from tests.engine.environments.rig import Rig

pytestmark = [pytest.mark.anyio, pytest.mark.docker]

PLACE = "/opt/trialdeck/capsules/some-v1"
COMPOSE = "services: {main: {volumes: ['./mine:/mine']}}"


@pytest.mark.parametrize("compose", [None, COMPOSE], ids=["single", "compose"])
async def test_main_reads_it_cannot_write_it_and_it_is_no_change(rig: Rig, tmp_path: Path, compose: str | None) -> None:
    folder = tmp_path / "capsule"
    folder.mkdir()
    (folder / "tool").write_text("from the host")
    async with rig.up(compose=compose, bind_read_only={folder: PLACE}) as environment:
        read = await environment.execute(["cat", f"{PLACE}/tool"])
        written = await environment.execute(["sh", "-c", f"echo x >{PLACE}/more"])
        changed = await environment.execute(["sh", "-c", f"rm {PLACE}/tool"])
        changes = [change.path for change in await environment.changes()]
    assert read.tail == "from the host"
    assert written.exit_code != 0 and "Read-only file system" in written.tail
    assert changed.exit_code != 0
    assert [change for change in changes if not change.startswith("/mine")] == []
    assert sorted(path.name for path in folder.iterdir()) == ["tool"]


async def test_an_agents_own_files_have_a_place_in_a_read_only_root(rig: Rig, tmp_path: Path) -> None:
    """Case 38."""
    (tmp_path / "tool").write_text("from the host")
    compose = "services: {main: {read_only: true, tmpfs: [/logs]}}"
    async with rig.up(compose=compose, bind_read_only={tmp_path: PLACE}) as environment:
        await environment.upload_bytes(b"#!/bin/sh\ncat $1\n", "/opt/trialdeck/forward/run", mode=0o755)
        ran = await environment.execute(["/opt/trialdeck/forward/run", f"{PLACE}/tool"])
        outside = await environment.execute(["touch", "/opt/file"])
        changes = await environment.changes()
    assert (ran.exit_code, ran.tail) == (0, "from the host")
    assert outside.exit_code != 0
    assert changes == []


async def test_places_beside_the_layers_are_told_since_no_list_of_changes_has_them_case_52(
    rig: Rig, tmp_path: Path
) -> None:
    dockerfile = """
        FROM debian:bookworm-slim
        VOLUME /anonymous
    """
    compose = """
        services:
          main:
            build: .
            tmpfs: [/in-memory, "/fixed:ro"]
            volumes: ["named:/named", "named:/read:ro", "logs:/logs/agent"]
        volumes: {named: {}, logs: {}}
    """
    async with rig.up(dockerfile=dockerfile, compose=compose, bind_read_only={tmp_path: PLACE}) as environment:
        touched = " ".join(f"{place}/file" for place in ("/in-memory", "/named", "/anonymous"))
        assert (await environment.execute(["touch", *touched.split()])).exit_code == 0
        assert await environment.changes() == []
        assert environment.unseen == ("/anonymous", "/in-memory", "/named")
    async with rig.up() as environment:
        assert environment.unseen == ()


PERL = (
    "use Socket; socket(S, PF_UNIX, SOCK_STREAM, 0) or die; "
    "connect(S, sockaddr_un('/opt/trialdeck/model/socket')) or die \"no: $!\"; print <S>"
)


async def test_a_socket_in_it_can_be_connected_to_by_any_user(rig: Rig) -> None:
    with tempfile.TemporaryDirectory(prefix="td-") as private:
        folder = Path(private) / "model"
        folder.mkdir()
        folder.chmod(0o755)
        listener = await anyio.create_unix_listener(folder / "socket", mode=0o666)

        async def greet(stream: anyio.abc.SocketStream) -> None:
            async with stream:
                await stream.send(b"hello\n")

        async with anyio.create_task_group() as group:
            group.start_soon(listener.serve, greet)
            async with rig.up(bind_read_only={folder: "/opt/trialdeck/model"}) as environment:
                answer = await environment.execute(["perl", "-e", PERL], user="65534")
            group.cancel_scope.cancel()
        await listener.aclose()
    assert (answer.exit_code, answer.tail) == (0, "hello\n")


async def test_this_daemon_knows_where_it_is(provider: DockerProvider) -> None:
    facts = await provider.facts()
    assert await provider.mounts_host_folders() is facts.local
    assert facts.local is (facts.host_name == socket.gethostname())
