"""Starts that are tried again, since what they lacked can be had: an address range, or images that somebody removed."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable

import anyio

from engine.environments.docker.neighbours import Neighbours
from engine.environments.docker.watching import Watch
from engine.issues import Code, TrialFailed

ROOM_SEC = 600.0
OTHERS_MAKE_ROOM_SEC = (1.0, 2.0, 4.0)

Start = Callable[[], Awaitable[None]]


async def start_with_images(start: Start, get_images: Start, project: str, watch: Watch, others: Neighbours) -> float:
    """Returns when the start that went well began. Images that somebody removed since they were made, as a nightly
    `docker image prune` does, are made once more: no further trial of theirs could start."""
    try:
        return await start_where_there_is_room(start, project, watch, others)
    except TrialFailed as error:
        if error.issue.code is not Code.PULL_FAILED:
            raise
    await get_images()
    return await start_where_there_is_room(start, project, watch, others)


async def start_where_there_is_room(start: Start, project: str, watch: Watch, others: Neighbours) -> float:
    """Returns when the start that went well began. Where Docker has no address range left, the start is tried again
    each time another environment of ours has gone (a kept one first), and a few times where none is up and others
    are to make room; waiting is not on the clock of the start."""
    patience = time.monotonic() + ROOM_SEC
    pauses = iter(OTHERS_MAKE_ROOM_SEC)
    while True:
        began = time.monotonic()
        seen = others.departures
        watch.activity("start")
        others.comes(project)
        try:
            await start()
            return began
        except TrialFailed as error:
            if error.issue.code is not Code.ADDRESS_POOL_EXHAUSTED:
                raise
            others.stays(project)  # it has no room, so nobody need wait for it
            watch.activity("wait for an address range")
            if await watch.kept_made_room():
                continue
            if not await others.another_goes(project, seen, patience - time.monotonic()):
                pause = next(pauses, None)
                if pause is None:
                    raise
                await anyio.sleep(pause)
