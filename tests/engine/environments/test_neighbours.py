"""Waiting for room until another environment has gone."""

from __future__ import annotations

import anyio
import pytest

from engine.environments.docker.neighbours import Neighbours

pytestmark = pytest.mark.anyio

NEVER_SEC, SOON_SEC = 0.02, 30.0


async def test_one_that_is_alone_or_beside_kept_ones_waits_for_nobody() -> None:
    """Case 16."""
    neighbours = Neighbours()
    neighbours.comes("a")
    neighbours.comes("kept")
    neighbours.stays("kept")
    assert not await neighbours.another_goes("a", 0, SOON_SEC)


async def test_it_waits_until_another_one_has_gone() -> None:
    """Case 16."""
    neighbours = Neighbours()
    for name in ("a", "b"):
        neighbours.comes(name)
    assert not await neighbours.another_goes("a", 0, NEVER_SEC)
    async with anyio.create_task_group() as group:
        group.start_soon(anyio.lowlevel.checkpoint)
        group.start_soon(_goes, neighbours, "b")
        assert await neighbours.another_goes("a", 0, SOON_SEC)


async def test_one_that_went_while_the_refusal_came_back_is_not_missed() -> None:
    """Case 16."""
    neighbours = Neighbours()
    neighbours.comes("b")
    neighbours.goes("b")
    neighbours.goes("b")
    assert neighbours.departures == 1
    assert await neighbours.another_goes("a", 0, NEVER_SEC)
    assert not await neighbours.another_goes("a", 1, NEVER_SEC)


async def _goes(neighbours: Neighbours, name: str) -> None:
    neighbours.goes(name)
