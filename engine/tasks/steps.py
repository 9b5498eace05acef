"""`[[steps]]` as written -> steps with the task's settings merged in."""

from __future__ import annotations

from pathlib import Path

import msgspec

from engine.tasks.task import AgentSettings, EnvironmentSettings, Step, VerifierMode, VerifierSettings
from engine.tasks.toml_file import StepFile, TaskFile
from engine.tasks.verifier_image import has_definition


def merged_step(task: TaskFile, step: StepFile, task_folder: Path) -> Step:
    """The step as it runs. Looks into `steps/NAME/tests`: a definition there replaces the task's image."""
    folder = task_folder / "steps" / step.name
    return Step(
        name=step.name,
        folder=folder,
        agent=AgentSettings(
            timeout_sec=task.agent.timeout_sec if step.agent.timeout_sec is None else step.agent.timeout_sec,
            user=step.agent.user or task.agent.user,
            network=step.agent.network or task.agent.network,
        ),
        verifier=_merged_verifier(task.verifier, step.verifier, folder / "tests"),
        min_reward=step.min_reward,
        healthcheck=step.healthcheck,
        artifacts=(*task.artifacts, *step.artifacts),
    )


def _merged_verifier(task: VerifierSettings, step: VerifierSettings, tests: Path) -> VerifierSettings:
    mode = _mode(step) or _mode(task) or VerifierMode.SHARED
    return VerifierSettings(
        timeout_sec=step.timeout_sec,
        env={**task.env, **step.env},
        user=step.user or task.user,
        network=step.network or task.network,
        environment_mode=mode,
        environment=_merged_environment(task, step, tests) if mode is VerifierMode.SEPARATE else None,
        collect=(*task.collect, *step.collect),
    )


def _mode(verifier: VerifierSettings) -> VerifierMode | None:
    if verifier.environment_mode is None and verifier.environment is not None:
        return VerifierMode.SEPARATE
    return verifier.environment_mode


def _merged_environment(task: VerifierSettings, step: VerifierSettings, tests: Path) -> EnvironmentSettings | None:
    if step.environment is not None or task.environment is None:
        return step.environment
    if has_definition(tests):  # the step's own image comes before the one that the task declares
        return msgspec.structs.replace(task.environment, docker_image=None)
    return task.environment
