"""One subscription to the daemon's events for all environments of a provider, handed out by project."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import anyio
import msgspec

from engine.environments.docker import labels
from engine.environments.docker.engine_api import Engine, EngineCallFailed, filters

RECONNECT_SEC = 0.5
ACTIONS = ["create", "start", "die", "oom", "pause", "unpause", "health_status", "destroy"]


class ContainerEvent(msgspec.Struct, frozen=True, kw_only=True):
    """`action`: create, start, die, oom, pause, unpause, healthy, unhealthy, starting, destroy. `at`: the daemon's own
    time, in nanoseconds."""

    container: str
    name: str
    service: str
    project: str
    action: str
    exit_code: int | None = None
    at: int = 0


Listener = Callable[[ContainerEvent], None]


class DaemonEvents:
    """Listeners are called in the order in which the daemon tells; they must return at once."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._listeners: dict[str, Listener] = {}
        self._last = 0

    def listen(self, project: str, listener: Listener) -> None:
        self._listeners[project] = listener

    def forget(self, project: str) -> None:
        self._listeners.pop(project, None)

    async def follow(self, *, task_status: anyio.abc.TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Runs until cancelled; connects again after a broken connection, without a gap and without repeats."""
        wanted = filters(type=["container"], label=[f"{labels.OWNER}={labels.owner()}"], event=ACTIONS)
        started = False
        while True:
            params: dict[str, str | int | bool] = {"filters": wanted}
            if self._last:
                params["since"] = f"{self._last // 10**9}.{self._last % 10**9 + 1:09d}"
            try:
                async with self._engine.stream("GET", "events", params=params) as response:
                    if not started:
                        started = True
                        task_status.started()
                    rest = b""
                    async for chunk in response.content.iter_any():
                        *lines, rest = (rest + chunk).split(b"\n")
                        for line in lines:
                            self._dispatch(line)
            except EngineCallFailed:
                if not started:
                    raise
            if not self._last:
                self._last = time.time_ns()
            await anyio.sleep(RECONNECT_SEC)

    def _dispatch(self, line: bytes) -> None:
        try:
            told: dict[str, Any] = msgspec.json.decode(line)
        except msgspec.DecodeError:
            return
        event = read_event(told)
        stamp = int(told.get("timeNano", 0))
        if event is None or stamp < self._last:
            return
        self._last = stamp
        listener = self._listeners.get(event.project)
        if listener is not None:
            listener(event)


def read_event(told: dict[str, Any]) -> ContainerEvent | None:
    """None for an event of something that is not ours."""
    actor = told.get("Actor") or {}
    attributes = actor.get("Attributes") or {}
    project = attributes.get(labels.PROJECT)
    if not project:
        return None
    action = str(told.get("Action", ""))
    if action.startswith("health_status"):
        action = action.partition(":")[2].strip()
    code = attributes.get("exitCode")
    return ContainerEvent(
        container=str(actor.get("ID", "")),
        name=str(attributes.get("name", "")),
        service=str(attributes.get(labels.SERVICE) or attributes.get(labels.COMPOSE_SERVICE) or ""),
        project=project,
        action=action,
        exit_code=int(code) if code is not None and str(code).lstrip("-").isdigit() else None,
        at=int(told.get("timeNano", 0)),
    )
