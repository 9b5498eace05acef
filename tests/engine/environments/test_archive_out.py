"""What a download makes of the daemon's answers, without a container."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import pytest

from engine.environments.docker import archive_out
from engine.environments.docker.archive_in import TransferFailed
from engine.environments.docker.archive_out import Download
from engine.environments.docker.containers import Container
from engine.environments.docker.engine_api import Engine, EngineCallFailed
from tests.engine.environments.test_readiness import container

pytestmark = pytest.mark.anyio


class WithoutTheFile:
    """An engine that finds no such file in a container."""

    @asynccontextmanager
    async def stream(self, *told: Any, **more: Any) -> AsyncIterator[None]:
        raise EngineCallFailed(404, "Could not find the file /app in container abc")
        yield


@pytest.fixture
def download(tmp_path: Path) -> Download:
    return Download(cast(Engine, WithoutTheFile()), container(), None, "/app", tmp_path / "app")


def now(state: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async def inspect(engine: object, identity: str) -> Container:
        return container(state=state)

    monkeypatch.setattr(archive_out, "inspect", inspect)


@pytest.mark.parametrize("state", ["running", "exited", "paused"])
async def test_what_a_container_has_not_is_missing(
    download: Download, monkeypatch: pytest.MonkeyPatch, state: str
) -> None:
    now(state, monkeypatch)
    assert (await download.fetch()).status == "missing"


@pytest.mark.parametrize("state", ["removing", "dead"])
async def test_nothing_is_missing_in_a_container_that_is_being_removed(
    download: Download, monkeypatch: pytest.MonkeyPatch, state: str
) -> None:
    """Cases 25 and 41: the daemon finds none of its files any more, which the agent may well have made."""
    now(state, monkeypatch)
    with pytest.raises(TransferFailed, match="being removed"):
        await download.fetch()
