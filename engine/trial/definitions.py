"""From a task to the definitions of its environments: the agent's, and a fresh verifier's."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

from engine.environments.environment import EnvironmentSpec
from engine.tasks.digest import environment_digest
from engine.tasks.host_env import resolve_env
from engine.tasks.task import EnvironmentSettings, NetworkPolicy, first_existing
from engine.tasks.verifier_image import VerifierImage
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
        log_folder=job.folder / "logs",
    )


def verifier_environment(job: TrialJob, stage: Stage, image: VerifierImage) -> EnvironmentSpec:
    """A fresh verifier's environment. The task's health check is the agent environment's and is not run in it."""
    own = f"verifier-{stage.name}" if stage.name else "verifier"
    return _spec(
        job,
        name=f"{job.trial}-{own}",
        environment="verifier",
        settings=image.settings,
        network=stage.verifier.network or image.settings.network or NetworkPolicy(),
        folder=image.folder,
        env_key="verifier.environment.env",
        log_folder=job.folder / "logs" / own,
        with_healthcheck=False,
    )


def _spec(
    job: TrialJob,
    *,
    name: str,
    environment: str,
    settings: EnvironmentSettings,
    network: NetworkPolicy,
    folder: Path,
    env_key: str,
    log_folder: Path,
    with_healthcheck: bool = True,
) -> EnvironmentSpec:
    compose = first_existing(folder / "docker-compose.yaml", folder / "docker-compose.yml")
    context = folder if settings.docker_image is None and (folder / "Dockerfile").is_file() else None
    return EnvironmentSpec(
        run=job.run,
        trial=job.trial,
        name=name,
        environment=environment,
        log_folder=log_folder,
        trial_folder=job.folder,
        task_folder=folder,
        build_context=context,
        image=settings.docker_image,
        compose_file=compose,
        content_digest=environment_digest(folder) if context or compose else "",
        build_timeout_sec=settings.build_timeout_sec,
        start_timeout_sec=settings.build_timeout_sec,
        cpus=_capped(settings.cpus, job.cpus),
        memory_mb=_capped(settings.memory_mb, job.memory_mb),
        cpus_cap=job.cpus,
        memory_mb_cap=job.memory_mb,
        network=network,
        env=resolve_env(settings.env, job.allowed_host_env, env_key).env,
        workdir=settings.workdir,
        healthcheck=settings.healthcheck if with_healthcheck else None,
        allowed_host_env=job.allowed_host_env,
    )


_Amount = TypeVar("_Amount", int, float)


def _capped(declared: _Amount | None, cap: _Amount | None) -> _Amount | None:
    return min(declared, cap) if declared is not None and cap is not None else declared
