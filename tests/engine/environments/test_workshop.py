"""Background work of environments."""

from __future__ import annotations

from typing import Any, cast

import anyio
import anyio.lowlevel
import pytest

from engine.environments.docker.workshop import Workshop


@pytest.mark.anyio
async def test_a_fault_in_background_work_is_written_down_and_ends_nothing_else(
    capfd: pytest.CaptureFixture[str],
) -> None:
    told: list[str] = []

    async def breaks(word: str) -> None:
        raise ValueError(word)

    async def works(word: str) -> None:
        await anyio.lowlevel.checkpoint()
        told.append(word)

    nothing = cast("Any", None)
    async with anyio.create_task_group() as group:
        shop = Workshop(
            engine=nothing,
            tasks=group,
            events=nothing,
            sampler=nothing,
            builds=nothing,
            images=nothing,
            starts=anyio.CapacityLimiter(1),
            neighbours=nothing,
            locality=nothing,
        )
        shop.in_background(breaks, "a fault of ours")
        shop.in_background(works, "still here")
    assert told == ["still here"]
    assert "ValueError: a fault of ours" in capfd.readouterr().err
