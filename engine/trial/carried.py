"""What an agent's environment is made with beside the task's own: its capsules, and the way to its model."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import anyio.to_thread

from engine.agents.capsules.capsule import Capsule, CapsuleUnusable
from engine.agents.capsules.store import find


async def capsule_mounts(tags: Iterable[str]) -> dict[Path, str]:
    """Folder of the host -> place in `main`, of those that are built. Of one that isn't, or isn't sound, the agent's
    set-up tells: it builds what it needs."""
    found = await anyio.to_thread.run_sync(_found, tuple(tags))
    return {capsule.folder: capsule.place for capsule in found}


def _found(tags: Iterable[str]) -> list[Capsule]:
    capsules = []
    for tag in tags:
        try:
            capsule = find(tag)
        except CapsuleUnusable:
            continue
        if capsule is not None:
            capsules.append(capsule)
    return capsules
