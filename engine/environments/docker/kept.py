"""Environments that were kept for a person: their mark, and which of them goes where Docker has no room for another."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

from engine.environments.docker import labels
from engine.environments.docker.containers import Container
from engine.environments.docker.engine_api import Engine, EngineCallFailed, filters
from engine.environments.docker.removal import of_project, remove_project
from engine.environments.environment import EnvironmentSpec
from engine.events import EnvironmentGone
from engine.tasks.task import MAIN


async def mark(engine: Engine, spec: EnvironmentSpec, project: str, services: Mapping[str, Container]) -> None:
    """A volume that says so, for a sweep and for `make_room`, with what they need to tell the run that it went. Raises
    EngineCallFailed."""
    marks = labels.of_environment(spec.run, spec.trial, spec.environment, project)
    container = services.get(MAIN) or next(iter(services.values()), None)
    marks |= {labels.KEPT: "true", labels.KEPT_CONTAINER: container.id[:12] if container is not None else ""}
    if spec.trial_folder is not None:
        marks[labels.RUN_FOLDER] = str(spec.trial_folder.absolute().parent)
    await engine.post("volumes/create", {"Name": f"{project}-kept", "Labels": marks})


async def make_room(engine: Engine, run: str) -> EnvironmentGone | None:
    """Removes what this run has kept longest, unless a person has a shell in it; what the run is to be told of it. None
    where nothing could go: a run must not end without verdicts for the sake of what it left up for looking at."""
    with suppress(EngineCallFailed):
        chosen = filters(label=[f"{labels.RUN}={run}", labels.KEPT])
        marks = (await engine.get("volumes", filters=chosen)).get("Volumes") or []
        for each in sorted(marks, key=lambda told: str(told.get("CreatedAt") or "")):
            told = each.get("Labels") or {}
            project = told.get(labels.PROJECT, "")
            if project and not await _used(engine, project) and not await remove_project(engine, project):
                trial, container = (str(told.get(name) or "") for name in (labels.TRIAL, labels.KEPT_CONTAINER))
                return EnvironmentGone(trial=trial, container=container, reason="it made room for another")
    return None


async def _used(engine: Engine, project: str) -> bool:
    """Whether something runs in it that has a terminal."""
    for thing in await of_project(engine, project):
        if thing.kind != "container":
            continue
        for identity in (await engine.get(f"containers/{thing.id}/json")).get("ExecIDs") or ():
            told = await engine.get(f"exec/{identity}/json")
            if told.get("Running") and (told.get("ProcessConfig") or {}).get("tty"):
                return True
    return False
