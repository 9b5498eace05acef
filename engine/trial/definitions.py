"""From a task to the definitions of its environments: the agent's, and a fresh verifier's."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

import msgspec

from engine.environments.environment import EnvironmentSpec
from engine.tasks.digest import environment_digest
from engine.tasks.host_env import resolve_env
from engine.tasks.task import EnvironmentSettings, NetworkPolicy, first_existing
from engine.trial.job import Stage, TrialJob


def agent_environment(job: TrialJob) -> EnvironmentSpec:
    """The environment that the agent works in."""
    settings = job.task.environment
    return _spec(
        job,
        name=job.trial,
        environment="agent",
        settings=settings,
        network=settings.network or NetworkPolicy(),
        folder=job.task.environment_folder,
        env_key="environment.env",
    )


def tests_folder(job: TrialJob, stage: Stage) -> Path:
    """`tests/` of the step where it has one with a script or an image of its own, else the task's."""
    if stage.folder is not None:
        own = stage.folder / "tests"
        if first_existing(own / "test.sh", own / "Dockerfile", *_compose_files(own)):
            return own
    return job.task.folder / "tests"


def tests_are_baked(job: TrialJob, stage: Stage) -> bool:
    """Does the fresh verifier's image own its tests, so that nothing is uploaded?"""
    declared = stage.verifier.environment
    if declared is not None and declared.docker_image:
        return True
    tests = tests_folder(job, stage)
    return first_existing(tests / "Dockerfile", *_compose_files(tests)) is not None


def verifier_environment(job: TrialJob, stage: Stage) -> EnvironmentSpec:
    """A fresh verifier's environment: its own image, its own tests folder's, else a fresh copy of the task's."""
    declared = stage.verifier.environment
    settings = declared or job.task.environment
    if tests_are_baked(job, stage):
        folder = tests_folder(job, stage)
        image_only = declared is not None and declared.docker_image is not None
        if not image_only:
            settings = msgspec.structs.replace(settings, docker_image=None)
    else:
        folder, image_only = job.task.environment_folder, False
        if declared is not None and declared.docker_image is None:
            settings = msgspec.structs.replace(declared, docker_image=job.task.environment.docker_image)
    return _spec(
        job,
        name=f"{job.trial}-verifier{f'-{stage.name}' if stage.name else ''}",
        environment="verifier",
        settings=settings,
        network=stage.verifier.network or settings.network or NetworkPolicy(),
        folder=None if image_only else folder,
        env_key="verifier.environment.env" if declared is not None else "environment.env",
        with_healthcheck=False,
    )


def _spec(
    job: TrialJob,
    *,
    name: str,
    environment: str,
    settings: EnvironmentSettings,
    network: NetworkPolicy,
    folder: Path | None,
    env_key: str,
    with_healthcheck: bool = True,
) -> EnvironmentSpec:
    dockerfile = first_existing(folder / "Dockerfile") if folder else None
    compose = first_existing(*_compose_files(folder)) if folder else None
    context = folder if dockerfile is not None and settings.docker_image is None else None
    return EnvironmentSpec(
        run=job.run,
        trial=job.trial,
        name=name,
        environment=environment,
        log_folder=job.folder / "logs" if environment == "agent" else job.folder / "logs" / name.removeprefix(job.trial + "-"),
        task_folder=folder or job.task.folder,
        build_context=context,
        image=settings.docker_image,
        compose_file=compose,
        content_digest=environment_digest(folder) if folder is not None and (context or compose) else "",
        build_timeout_sec=settings.build_timeout_sec,
        start_timeout_sec=settings.build_timeout_sec,
        cpus=_capped(settings.cpus, job.cpus),
        memory_mb=_capped(settings.memory_mb, job.memory_mb),
        network=network,
        env=resolve_env(settings.env, job.allowed_host_env, env_key).env,
        workdir=settings.workdir,
        healthcheck=settings.healthcheck if with_healthcheck else None,
        allowed_host_env=job.allowed_host_env,
    )


_Amount = TypeVar("_Amount", int, float)


def _capped(declared: _Amount | None, cap: _Amount | None) -> _Amount | None:
    return min(declared, cap) if declared is not None and cap is not None else declared


def _compose_files(folder: Path) -> tuple[Path, Path]:
    return folder / "docker-compose.yaml", folder / "docker-compose.yml"
