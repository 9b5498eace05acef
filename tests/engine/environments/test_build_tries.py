"""A build is tried again where a registry is to blame, and only there."""

from __future__ import annotations

import pytest

from engine.environments.docker import build
from engine.environments.docker.host_tools import ToolResult

pytestmark = pytest.mark.anyio

BUSY = 'ERROR: failed to solve: x:1: failed to do request: Head "https://r/v2/x": dial tcp: connection refused\n'
NONE = "ERROR: failed to solve: x:1: failed to resolve source metadata for x:1: x:1: not found\n"
STEP = 'ERROR: failed to solve: process "/bin/sh -c get https://r/: 429 too many" did not complete successfully: 1\n'


def ended(exit_code: int | None, tail: str = "") -> ToolResult:
    return ToolResult(exit_code=exit_code, seconds=0.0, tail=tail)


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "BACK_OFF_SEC", (0.001, 0.002))


@pytest.mark.parametrize(
    ("results", "tries"),
    [
        ([ended(0)], 1),
        ([ended(1, BUSY), ended(0)], 2),
        ([ended(1, BUSY)] * 5, 3),
        ([ended(1, NONE)] * 5, 1),  # nothing that waiting would change
        ([ended(1, STEP)] * 5, 1),  # the task's own command, whatever it says
        ([ended(None, BUSY)] * 5, 1),  # the time was up
    ],
)
async def test_a_base_image_is_asked_for_again(results: list[ToolResult], tries: int) -> None:
    """Case 5."""
    lefts: list[float] = []

    async def once(left: float) -> ToolResult:
        lefts.append(left)
        return results[len(lefts) - 1]

    assert await build.patiently(once, 10.0) is results[tries - 1]
    assert len(lefts) == tries and lefts == sorted(lefts, reverse=True) and lefts[0] <= 10.0


async def test_the_tries_share_one_limit() -> None:
    """Case 10."""
    lefts: list[float] = []

    async def once(left: float) -> ToolResult:
        lefts.append(left)
        return ended(1, BUSY)

    await build.patiently(once, 0.0005)
    assert len(lefts) == 1
