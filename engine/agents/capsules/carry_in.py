"""Getting a capsule into `main`: it is mounted there already, or it is unpacked."""

from __future__ import annotations

import tempfile
from pathlib import Path

import anyio

from engine.agents.capsules.capsule import Capsule
from engine.agents.capsules.store import MANIFEST, MOST_MANIFEST
from engine.environments.environment import Environment

_LOOK_SEC = 60.0


async def carry_in(capsule: Capsule, environment: Environment) -> None:
    """Afterwards the capsule stands at its place in `main`. Where it is mounted (or was unpacked before) that is found
    out by its manifest, without any program of the image; nothing is copied then.

    Unpacked files belong to root. Raises TrialFailed where the environment fails.
    """
    if not await _is_there(capsule, environment):
        await environment.upload(capsule.folder, capsule.place)


async def _is_there(capsule: Capsule, environment: Environment) -> bool:
    wanted = await anyio.Path(capsule.folder / MANIFEST).read_bytes()
    with tempfile.TemporaryDirectory(prefix="trialdeck-") as folder:
        target = Path(folder) / MANIFEST
        found = await environment.download(
            f"{capsule.place}/{MANIFEST}", target, max_bytes=MOST_MANIFEST, timeout_sec=_LOOK_SEC
        )
        return found.status == "collected" and await anyio.Path(target).read_bytes() == wanted
