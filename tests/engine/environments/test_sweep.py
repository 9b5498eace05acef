"""Which objects of a daemon are a dead run's leftovers, from their labels alone."""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

import pytest

from engine.environments.docker import labels, sweep
from engine.environments.docker.engine_api import Engine
from engine.environments.docker.removal import Thing
from engine.environments.docker.sweep import find_leftovers

pytestmark = pytest.mark.anyio

DEAD = f"999999999:1:{labels.owner().rsplit(':', 1)[1]}"


class Daemon:
    """Objects by name, each of a run whose owner is dead."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._things: dict[Thing, dict[str, str]] = {}
        monkeypatch.setattr(sweep, "find", self._find)

    def add(self, kind: str, name: str, run: str, project: str = "", *, kept: bool = False) -> None:
        marks = {labels.RUN: run, labels.OWNER: DEAD, labels.HOST: labels.host()}
        marks |= {labels.PROJECT: project} if project else {}
        marks |= {labels.KEPT: "true"} if kept else {}
        self._things[Thing(kind, name, name)] = marks

    async def _find(self, engine: Engine, label: str, kinds: Iterable[str]) -> dict[Thing, dict[str, str]]:
        return self._things

    async def leftovers(self, *, kept: bool = False) -> set[str]:
        return {one.thing.name for one in await find_leftovers(cast(Engine, None), kept=kept)}


@pytest.fixture
def daemon(monkeypatch: pytest.MonkeyPatch) -> Daemon:
    found = Daemon(monkeypatch)
    for run in ("r", "s"):
        found.add("image", f"image of {run}", run)
    found.add("container", "up", "r", "p")
    found.add("network", "its network", "r", "p")
    found.add("volume", "its mark", "r", "p", kept=True)
    found.add("network", "another's network", "r", "q")
    return found


async def test_a_kept_environment_is_spared_with_the_image_that_it_runs_on(daemon: Daemon) -> None:
    """Docker would refuse to remove that one, and each sweep would end with a failure."""
    assert await daemon.leftovers() == {"image of s", "another's network"}
    everything = {"image of r", "image of s", "up", "its network", "its mark", "another's network"}
    assert await daemon.leftovers(kept=True) == everything


async def test_a_mark_without_a_container_spares_nothing(daemon: Daemon) -> None:
    """Somebody removed the kept container by hand."""
    daemon.add("volume", "mark of none", "s", "gone", kept=True)
    daemon.add("network", "network of none", "s", "gone")
    assert await daemon.leftovers() == {"image of s", "another's network", "mark of none", "network of none"}
