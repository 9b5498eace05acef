"""Environments that were kept for a person: their mark, and which of them goes where Docker has no room for another."""

from __future__ import annotations

from contextlib import suppress

from engine.environments.docker import labels
from engine.environments.docker.engine_api import Engine, EngineCallFailed, filters
from engine.environments.docker.removal import of_project, remove_project
from engine.environments.environment import EnvironmentSpec


async def mark(engine: Engine, spec: EnvironmentSpec, project: str) -> None:
    """A volume that says so, for a sweep and for `make_room`. Raises EngineCallFailed."""
    marks = labels.of_environment(spec.run, spec.trial, spec.environment, project)
    await engine.post("volumes/create", {"Name": f"{project}-kept", "Labels": {**marks, labels.KEPT: "true"}})


async def make_room(engine: Engine, run: str) -> str:
    """Removes what this run has kept longest, unless a person has a shell in it; says whose it was. "" where nothing
    could go: a run must not end without verdicts for the sake of what it left up for looking at."""
    with suppress(EngineCallFailed):
        chosen = filters(label=[f"{labels.RUN}={run}", labels.KEPT])
        marks = (await engine.get("volumes", filters=chosen)).get("Volumes") or []
        for each in sorted(marks, key=lambda told: str(told.get("CreatedAt") or "")):
            told = each.get("Labels") or {}
            project = told.get(labels.PROJECT, "")
            if project and not await _used(engine, project) and not await remove_project(engine, project):
                return str(told.get(labels.TRIAL) or project)
    return ""


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
