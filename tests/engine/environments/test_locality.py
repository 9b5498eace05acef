"""Where the daemon is, and what that means for folders of this host."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any, cast

import pytest

from engine.environments.docker.endpoint import Endpoint
from engine.environments.docker.engine_api import Engine
from engine.environments.docker.locality import Locality
from engine.environments.environment import EnvironmentSpec

pytestmark = pytest.mark.anyio

SPEC = EnvironmentSpec(
    run="r",
    trial="t",
    name="t",
    environment="agent",
    log_folder=Path("/l"),
    task_folder=Path("/t"),
    bind={Path("/a"): "/a"},
    bind_read_only={Path("/b"): "/b"},
    brings_in=True,
)


class Daemon:
    def __init__(self, host: str, name: str) -> None:
        self.endpoint = Endpoint(host=host)
        self.name = name
        self.asked = 0

    async def get(self, path: str) -> dict[str, Any]:
        assert path == "info"
        self.asked += 1
        return {"Name": self.name}


@pytest.mark.parametrize(
    ("host", "name", "here"),
    [
        ("unix:///var/run/docker.sock", socket.gethostname(), True),
        ("unix:///tmp/forwarded.sock", "another-host", False),
        ("tcp://10.0.0.1:2376", socket.gethostname(), False),
    ],
)
async def test_folders_are_mounted_only_where_the_daemon_finds_them(host: str, name: str, here: bool) -> None:
    daemon = Daemon(host, name)
    locality = Locality(cast("Engine", daemon))
    fit = await locality.fit(SPEC)
    assert (bool(fit.bind), bool(fit.bind_read_only)) == (here, here)
    assert fit.brings_in, "what isn't mounted is unpacked"
    assert await locality.here() is here
    assert daemon.asked == 1


async def test_a_spec_without_mounts_asks_nobody() -> None:
    daemon = Daemon("tcp://10.0.0.1:2376", "x")
    plain = EnvironmentSpec(
        run="r", trial="t", name="t", environment="agent", log_folder=Path("/l"), task_folder=Path("/t")
    )
    assert await Locality(cast("Engine", daemon)).fit(plain) is plain
    assert daemon.asked == 0
