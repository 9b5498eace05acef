"""Real environments for container tests."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import anyio
import pytest

from engine.environments.docker.environment import DockerEnvironment
from engine.environments.docker.provider import DockerProvider
from tests.engine.environments.rig import Rig


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def provider(anyio_backend: str) -> AsyncIterator[DockerProvider]:
    async with DockerProvider.open() as provider:
        yield provider


@pytest.fixture
async def rig(provider: DockerProvider, tmp_path: Path) -> AsyncIterator[Rig]:
    rig = Rig(provider, tmp_path)
    yield rig
    with anyio.CancelScope(shield=True):
        assert await provider.remove_run(rig.run) == []


@pytest.fixture(scope="module")
async def box(provider: DockerProvider, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[DockerEnvironment]:
    """One plain container that the tests of a module share."""
    rig = Rig(provider, tmp_path_factory.mktemp("box"))
    async with rig.up(memory_mb=256) as environment:
        yield environment


@pytest.fixture
def shell(box: DockerEnvironment) -> Callable[[str], Awaitable[str]]:
    """Runs a script in the shared box and gives its output; a script that fails fails the test."""

    async def run(script: str) -> str:
        result = await box.execute(["bash", "-ec", script], timeout_sec=30)
        assert result.exit_code == 0, result.tail
        return result.tail

    return run


@pytest.fixture
def output() -> dict[str, bytearray]:
    """A place for a sink: `sink=lambda stream, data: output[stream].extend(data)`."""
    return {"stdout": bytearray(), "stderr": bytearray()}
