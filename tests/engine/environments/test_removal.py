"""How long is waited for what can't be removed."""

from __future__ import annotations

import anyio
import pytest

from engine.environments.docker import removal
from engine.environments.docker.engine_api import Engine
from engine.environments.docker.removal import Thing, remove_project

pytestmark = pytest.mark.anyio

VOLUME, CONTAINER = Thing("volume", "v", "v"), Thing("container", "c", "c")


@pytest.mark.parametrize(
    ("left", "refused", "soon"),
    [
        ([VOLUME], {VOLUME: "volume is in use"}, True),
        ([VOLUME], {}, False),  # not refused, only not gone yet
        ([VOLUME, CONTAINER], {VOLUME: "volume is in use", CONTAINER: "removal is in progress"}, False),
    ],
)
async def test_what_somebody_else_holds_is_not_waited_for_to_the_end(
    monkeypatch: pytest.MonkeyPatch, left: list[Thing], refused: dict[Thing, str], soon: bool
) -> None:
    """Case 31: it is reported by its name."""
    monkeypatch.setattr(removal, "HELD_SEC", 0.0)
    monkeypatch.setattr(removal, "DOWN_SEC", 60.0 if soon else 0.3)
    monkeypatch.setattr(removal, "PAUSE_SEC", 0.001)

    async def remove_all(*_: object) -> dict[Thing, str]:
        await anyio.sleep(0.001)
        return refused

    async def of_project(*_: object) -> list[Thing]:
        return left

    monkeypatch.setattr(removal, "remove_all", remove_all)
    monkeypatch.setattr(removal, "of_project", of_project)
    with anyio.fail_after(30):
        told = await remove_project(Engine.__new__(Engine), "p")
    assert told == sorted(f"{thing}: {refused.get(thing, 'still there')}" for thing in left)
