"""Removes a project: everything that bears its label, in parallel, and then looks whether anything is left."""

from __future__ import annotations

import time
from collections.abc import Iterable
from contextlib import suppress

import anyio
import msgspec

from engine.environments.docker import labels
from engine.environments.docker.engine_api import Engine, EngineCallFailed, filters
from engine.environments.docker.together import together

DOWN_SEC = 60.0
HELD_SEC = 10.0
"""For what somebody else still holds once our containers are gone, such as a volume."""
PAUSE_SEC = 0.1
PAUSE_MOST_SEC = 1.0


class Thing(msgspec.Struct, frozen=True):
    """An object of the daemon's. `kind`: container, network, volume, image."""

    kind: str
    id: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"


KINDS = ("container", "network", "volume", "image")
OF_A_PROJECT = KINDS[:3]


async def find(engine: Engine, label: str, kinds: Iterable[str] = OF_A_PROJECT) -> dict[Thing, dict[str, str]]:
    """Everything with a label (`name=value` or `name`) and all its labels, stopped containers included."""
    found: dict[Thing, dict[str, str]] = {}

    async def look(kind: str) -> None:
        chosen = filters(label=[label])
        if kind == "container":
            told = await engine.get("containers/json", all=True, filters=chosen)
            named = [(one["Id"], [name.lstrip("/") for name in one.get("Names") or ()], one) for one in told]
        elif kind == "network":
            told = await engine.get("networks", filters=chosen)
            named = [(one["Id"], [one["Name"]], one) for one in told]
        elif kind == "volume":
            told = (await engine.get("volumes", filters=chosen)).get("Volumes") or []
            named = [(one["Name"], [one["Name"]], one) for one in told]
        else:
            told = await engine.get("images/json", filters=chosen)
            tags = [[tag for tag in one.get("RepoTags") or () if "<none>" not in tag] for one in told]
            named = [(tag, [tag], one) for one, names in zip(told, tags, strict=True) for tag in names or [one["Id"]]]
        for identity, names, one in named:
            found[Thing(kind, identity, names[0] if names else identity)] = one.get("Labels") or {}

    async with together() as group:
        for kind in kinds:
            group.start_soon(look, kind)
    return found


async def remove(engine: Engine, thing: Thing) -> str:
    """Empty when it is gone, else what the daemon said."""
    try:
        if thing.kind == "container":
            await engine.delete(f"containers/{thing.id}", force=True, v=True)
        elif thing.kind == "network":
            await _remove_network(engine, thing)
        elif thing.kind == "volume":
            await engine.delete(f"volumes/{thing.id}", force=True)
        else:
            await engine.delete(f"images/{thing.id}", force=True)
    except EngineCallFailed as error:
        return "" if error.not_found else error.message
    return ""


async def _remove_network(engine: Engine, thing: Thing) -> None:
    try:
        await engine.delete(f"networks/{thing.id}")
    except EngineCallFailed as error:
        if "active endpoints" not in error.message:
            raise
        await disconnect_all(engine, thing)
        await engine.delete(f"networks/{thing.id}")


async def disconnect_all(engine: Engine, network: Thing) -> None:
    """For a container of somebody else's that somebody connected to a network of ours."""
    with suppress(EngineCallFailed):
        told = await engine.get(f"networks/{network.id}")
        for container in told.get("Containers") or ():
            await engine.post(f"networks/{network.id}/disconnect", {"Container": container, "Force": True})


async def remove_all(engine: Engine, things: Iterable[Thing]) -> dict[Thing, str]:
    """Containers first, then what they held. What is left, and why."""
    left: dict[Thing, str] = {}

    async def one(thing: Thing) -> None:
        said = await remove(engine, thing)
        if said:
            left[thing] = said

    chosen = list(things)
    for kinds in (("container",), ("network", "volume", "image")):
        async with together() as group:
            for thing in chosen:
                if thing.kind in kinds:
                    group.start_soon(one, thing)
    return left


async def remove_project(
    engine: Engine, project: str, known: Iterable[Thing] = (), *, linger_sec: float = 0.0
) -> list[str]:
    """All of a project, whether its start came to an end or not; `known` saves the first look.

    After a start that was cut off, `linger_sec` looks again for what the daemon was still making. Returns what could
    not be removed, each with the daemon's reason. Bounded by `DOWN_SEC`, within which a daemon may be away for a while,
    and by `HELD_SEC` where others are in the way.
    """
    reasons: dict[Thing, str] = {}
    left: list[Thing] = list(known)
    began = time.monotonic()
    until = began + linger_sec
    pause = PAUSE_SEC
    lost = ""
    with anyio.move_on_after(DOWN_SEC):
        while True:
            reasons = await remove_all(engine, left)
            try:
                left = await of_project(engine, project)
            except EngineCallFailed as error:
                if not error.unreachable:
                    raise
                lost = error.message
                await anyio.sleep(PAUSE_MOST_SEC)
                continue
            lost = ""
            if not left and time.monotonic() >= until:
                return []
            held = bool(left) and all(thing.kind != "container" and thing in reasons for thing in left)
            if held and time.monotonic() - began > HELD_SEC:
                break
            if reasons or not left:
                await anyio.sleep(pause)
                pause = min(pause * 2, PAUSE_MOST_SEC)
    if lost and not left:
        return [f"project {project}: {lost}"]
    return sorted(f"{thing}: {reasons.get(thing, lost or 'still there')}" for thing in left)


async def of_project(engine: Engine, project: str) -> list[Thing]:
    """By our label; containers by Compose's too, which also marks what somebody added to the project."""
    found: set[Thing] = set()

    async def look(label: str, kinds: Iterable[str]) -> None:
        found.update(await find(engine, label, kinds))

    async with together() as group:
        group.start_soon(look, f"{labels.PROJECT}={project}", OF_A_PROJECT)
        group.start_soon(look, f"{labels.COMPOSE_PROJECT}={project}", OF_A_PROJECT[:1])
    return list(found)
