"""Finds and removes what dead runs left on the daemon; never what has no label of ours, or whose owner lives."""

from __future__ import annotations

import msgspec

from engine.environments.docker import labels
from engine.environments.docker.engine_api import Engine
from engine.environments.docker.removal import KINDS, Thing, find, remove_all


class Leftover(msgspec.Struct, frozen=True, kw_only=True):
    """`here` is False for an object of another host, whose owner can't be asked for from here; `kept` ones were left up
    on purpose. `folder` and `container` are said by the mark of a kept environment: whose run is to be told that it
    went, by one of its containers."""

    thing: Thing
    run: str = ""
    trial: str = ""
    environment: str = ""
    project: str = ""
    owner: str = ""
    host: str = ""
    kept: bool = False
    folder: str = ""
    container: str = ""

    @property
    def here(self) -> bool:
        return self.host == labels.host()


async def find_leftovers(engine: Engine, *, kept: bool = False, elsewhere: bool = False) -> list[Leftover]:
    """Objects whose owner is dead. `kept` adds those that somebody kept, `elsewhere` those of other hosts. What is left
    of a kept environment whose containers somebody removed by hand is of no use to anybody: it counts as not kept. The
    images of a run are kept as long as one of its environments is."""
    everything = [_leftover(*one) for one in (await find(engine, labels.OWNER, KINDS)).items()]
    standing = {found.project for found in everything if found.thing.kind == "container"}
    marked = {found.project for found in everything if found.kept} & standing - {""}
    of_runs = {found.run for found in everything if found.project in marked}
    leftovers: list[Leftover] = []
    for found in everything:
        is_kept = found.project in marked or (found.thing.kind == "image" and found.run in of_runs)
        if is_kept and not kept:
            continue
        if not found.here and not elsewhere:
            continue
        if found.here and labels.owner_alive(found.owner) and not is_kept:
            continue
        leftovers.append(msgspec.structs.replace(found, kept=is_kept))
    return sorted(leftovers, key=lambda one: (one.run, one.project, KINDS.index(one.thing.kind), one.thing.name))


async def remove_leftovers(engine: Engine, leftovers: list[Leftover]) -> dict[Thing, str]:
    """What could not be removed, and why."""
    return await remove_all(engine, [leftover.thing for leftover in leftovers])


def _leftover(thing: Thing, marks: dict[str, str]) -> Leftover:
    return Leftover(
        thing=thing,
        run=marks.get(labels.RUN, ""),
        trial=marks.get(labels.TRIAL, ""),
        environment=marks.get(labels.ENVIRONMENT, ""),
        project=marks.get(labels.PROJECT, ""),
        owner=marks.get(labels.OWNER, ""),
        host=marks.get(labels.HOST, ""),
        kept=labels.KEPT in marks,
        folder=marks.get(labels.RUN_FOLDER, ""),
        container=marks.get(labels.KEPT_CONTAINER, ""),
    )
