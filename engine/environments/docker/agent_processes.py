"""Ends everything that an agent started in a container, and nothing that ran before it."""

from __future__ import annotations

import anyio

from engine.environments.docker.containers import Container
from engine.environments.docker.engine_api import Engine
from engine.environments.docker.exec import list_inside, signal_inside
from engine.environments.docker.host_view import HostView
from engine.environments.docker.processes import KnownProcesses, environ_of, has_mark, know, started_by_agent

STOP_SEC = 15.0
PAUSE_SEC = 0.005
INSIDE_INIT = 1


class AgentNotStopped(Exception):
    """Something survived the time for killing it."""

    def __init__(self, survivors: int) -> None:
        super().__init__(f"{survivors} processes of the agent could not be ended")
        self.survivors = survivors


async def note_processes(engine: Engine, container: Container, view: HostView | None) -> KnownProcesses:
    if view is not None and view.may_kill:
        return know(view.processes())
    return know(process for process, _ in await list_inside(engine, container, "="))


async def kill_agent(
    engine: Engine, container: Container, view: HostView | None, known: KnownProcesses, mark: str
) -> int:
    """Dead on return: the last pass over the container's processes found none. Returns how many were killed.

    The container is frozen while a pass looks and kills, so that nothing forks away between the two. Raises
    AgentNotStopped after `STOP_SEC`.
    """
    killed: set[tuple[int, int]] = set()
    left = 0
    with anyio.move_on_after(STOP_SEC):
        while True:
            if view is not None and view.may_kill:
                left = await _pass_from_host(view, known, mark, killed)
            else:
                left = await _pass_from_inside(engine, container, known, mark, killed)
            if not left:
                return len(killed)
            await anyio.sleep(PAUSE_SEC)
    raise AgentNotStopped(left)


async def _pass_from_host(view: HostView, known: KnownProcesses, mark: str, killed: set[tuple[int, int]]) -> int:
    async with view.frozen():
        victims = started_by_agent(view.processes(), known, view.init, lambda pid: has_mark(environ_of(pid), mark))
        view.kill(victims)
    killed.update(victim.key for victim in victims)
    return len(victims)


async def _pass_from_inside(
    engine: Engine, container: Container, known: KnownProcesses, mark: str, killed: set[tuple[int, int]]
) -> int:
    listed = await list_inside(engine, container, mark, stop=True)
    marked = {process.pid for process, bears in listed if bears}
    victims = started_by_agent((process for process, _ in listed), known, INSIDE_INIT, marked.__contains__)
    await signal_inside(engine, container, "KILL", [victim.pid for victim in victims])
    killed.update(victim.key for victim in victims)
    return len(victims)
