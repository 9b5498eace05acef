"""What a container's layers record as added, changed and deleted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import PurePosixPath

import anyio.to_thread
import msgspec

from engine.environments.docker.containers import Container
from engine.environments.docker.engine_api import Engine
from engine.environments.docker.layers import Layers, LayersUnreadable, touched
from engine.environments.environment import FileChange

OURS = ("/logs", "/tests", "/solution", "/opt/trialdeck", "/sbin/docker-init", "/usr/sbin/docker-init", "/.dockerenv")
KINDS = {0: "changed", 1: "added", 2: "deleted"}


class _Entry(msgspec.Struct, frozen=True, gc=False):
    path: str = msgspec.field(name="Path")
    kind: int = msgspec.field(name="Kind")


_decoder = msgspec.json.Decoder(list[_Entry] | None)


async def changes_of(engine: Engine, container: Container, *, here: bool) -> list[FileChange]:
    """`here`: its layers are on this host. Raises EngineCallFailed."""
    places = (*container.mounted, *container.hidden)
    if container.layers is not None and here:
        with suppress(LayersUnreadable):
            return await anyio.to_thread.run_sync(layer_changes, container.layers, places)
    answer = await engine.raw("GET", f"containers/{container.id}/changes")
    return await anyio.to_thread.run_sync(read_changes, answer, places)


def read_changes(answer: bytes, left_out: Iterable[str] = ()) -> list[FileChange]:
    """The daemon's answer, as `worth_telling`."""
    entries = _decoder.decode(answer) or []
    return worth_telling([FileChange(entry.path, KINDS.get(entry.kind, "changed")) for entry in entries], left_out)


def layer_changes(layers: Layers, left_out: Iterable[str] = ()) -> list[FileChange]:
    """The same from the layers themselves. Raises LayersUnreadable."""
    return worth_telling([FileChange(path, kind) for path, kind in touched(layers)], left_out)


def unseen(places: Iterable[str]) -> tuple[str, ...]:
    """Those of a container's places beside its layers in which an agent's work may lie: not our own."""
    return tuple(place for place in places if not any(place == own or place.startswith(own + "/") for own in OURS))


def worth_telling(entries: Sequence[FileChange], left_out: Iterable[str]) -> list[FileChange]:
    """Sorted by path, without our own places, mounts, folders that are there only for their sake, and folders that
    changed only through what is in them."""
    places = (*OURS, *left_out)
    on_the_way = {str(parent) for place in places for parent in PurePosixPath(place).parents}
    kept = [entry for entry in entries if not any(entry.path == p or entry.path.startswith(p + "/") for p in places)]
    told = {str(p) for entry in kept if entry.path not in on_the_way for p in PurePosixPath(entry.path).parents}
    parents = {entry.path.rpartition("/")[0] for entry in entries}
    for parent in list(parents):
        while parent:
            parent = parent.rpartition("/")[0]
            parents.add(parent)
    changes = [
        entry
        for entry in kept
        if not (entry.kind == "changed" and entry.path in parents)
        and not (entry.kind == "added" and entry.path in on_the_way and entry.path not in told)
    ]
    return sorted(changes, key=lambda change: change.path)
