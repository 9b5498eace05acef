"""Between them the sample tasks use every part of the task format, so a run of them exercises all of it."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from engine.tasks.task import Artifact, CollectHook, NetworkMode, Task, VerifierMode
from engine.tasks.verifier_image import verifier_image
from tests.sample_runs.places import TASK_IDS, TASKS, files, services, tasks, toml_text


def artifacts(task: Task) -> list[Artifact]:
    return [*task.artifacts, *(artifact for step in task.steps for artifact in step.artifacts)]


def hooks(task: Task) -> list[CollectHook]:
    return [*task.verifier.collect, *(hook for step in task.steps for hook in step.verifier.collect)]


def baked(task: Task) -> bool:
    image = verifier_image(task)
    return image is not None and image.tests_baked


def uploaded_into_a_fresh_copy(task: Task) -> bool:
    image = verifier_image(task)
    return image is not None and not image.tests_baked


def templated(values: dict[str, str]) -> bool:
    return any(value.startswith("${") and ":-" in value for value in values.values())


TASK_FEATURES: dict[str, Callable[[Task], object]] = {
    "one container": lambda task: task.compose_file is None,
    "several containers": lambda task: task.compose_file is not None,
    "shared verifier": lambda task: task.verifier_mode() is VerifierMode.SHARED,
    "fresh verifier with baked tests": baked,
    "fresh copy of the task's environment with uploaded tests": uploaded_into_a_fresh_copy,
    "verifier environment of its own": lambda task: task.verifier.environment and task.verifier.environment.env,
    "public image, nothing to build": lambda task: task.environment.docker_image and not task.dockerfile,
    "working directory": lambda task: task.environment.workdir,
    "skills": lambda task: task.environment.skills_dir,
    "MCP server": lambda task: task.environment.mcp_servers,
    "storage": lambda task: task.environment.storage_mb,
    "variables with a default": lambda task: templated(task.environment.env),
    "variables of the verifier with a default": lambda task: templated(task.verifier.env),
    "variables of the solution": lambda task: task.solution_env,
    "the task's health check": lambda task: task.environment.healthcheck,
    "no network": lambda task: task.environment.network and task.environment.network.mode is NetworkMode.NO_NETWORK,
    "agent's user by name": lambda task: task.agent.user and not task.agent.user.isdecimal(),
    "agent's user by number": lambda task: task.agent.user and task.agent.user.isdecimal(),
    "verifier's user": lambda task: task.verifier.user,
    "little memory": lambda task: task.environment.memory_mb and task.environment.memory_mb <= 64,
    "little time": lambda task: task.agent.timeout_sec and task.agent.timeout_sec <= 6,
    "hook in main": lambda task: any(hook.service == "main" for hook in hooks(task)),
    "hook in a sidecar": lambda task: any(hook.service != "main" for hook in hooks(task)),
    "hook with a user": lambda task: any(hook.user for hook in hooks(task)),
    "hook with a short time limit": lambda task: any(hook.timeout_sec <= 2 for hook in hooks(task)),
    "artifact of a sidecar": lambda task: any(artifact.service != "main" for artifact in artifacts(task)),
    "artifact with a destination": lambda task: any(artifact.destination for artifact in artifacts(task)),
    "artifact with exclusions": lambda task: any(artifact.exclude for artifact in artifacts(task)),
    "several steps": lambda task: len(task.steps) > 1,
    "step with a health check": lambda task: any(step.healthcheck for step in task.steps),
    "step with a least reward": lambda task: any(isinstance(step.min_reward, float) for step in task.steps),
    "step with a table of least rewards": lambda task: any(isinstance(step.min_reward, dict) for step in task.steps),
    "step with artifacts": lambda task: any(step.artifacts for step in task.steps),
    "step with a hook": lambda task: any(step.verifier.collect for step in task.steps),
    "step with a user": lambda task: any(step.agent.user for step in task.steps),
    "step that brings files": lambda task: any((step.folder / "workdir").is_dir() for step in task.steps),
    "step that sets up": lambda task: any((step.folder / "workdir" / "setup.sh").is_file() for step in task.steps),
    "source": lambda task: task.source,
    "keywords": lambda task: task.keywords,
    "schema 1.0": lambda task: task.schema_version == "1.0",
    "schema 1.4": lambda task: task.schema_version == "1.4",
}


@pytest.mark.parametrize("feature", TASK_FEATURES)
def test_some_task_has(feature: str) -> None:
    assert [task.id for task in tasks() if TASK_FEATURES[feature](task)]


def tables(value: object, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Every key of a task.toml with the tables it is in."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield (*path, key)
            yield from tables(inner, (*path, key))
    elif isinstance(value, list):
        for inner in value:
            yield from tables(inner, path)


@pytest.mark.parametrize(
    "key",
    [
        "version",
        "schema_version",
        "environment.memory",
        "environment.storage",
        "environment.memory_mb",
        "environment.build_timeout_sec",
        "environment.os",
        "environment.network_mode",
        "environment.mcp_servers.transport",
        "environment.healthcheck.start_period_sec",
        "environment.healthcheck.start_interval_sec",
        "verifier.environment_mode",
        "verifier.environment",
        "verifier.collect.service",
        "multi_step_reward_strategy",
        "task.authors",
        "task.version",
        "steps.verifier.collect",
    ],
)
def test_some_task_file_has_the_key(key: str) -> None:
    written = {".".join(path) for task_id in TASK_IDS for path in tables(tomllib.loads(toml_text(task_id)))}
    assert key in written


def all_services() -> list[tuple[str, dict[str, Any]]]:
    return [(name, service) for task_id in TASK_IDS for name, service in services(task_id).items()]


@pytest.mark.parametrize("condition", ["service_healthy", "service_completed_successfully"])
def test_some_service_waits_for(condition: str) -> None:
    conditions = {
        waited["condition"] for _, service in all_services() for waited in service.get("depends_on", {}).values()
    }
    assert condition in conditions


@pytest.mark.parametrize(
    "key", ["build", "healthcheck", "user", "command", "volumes", "init", "stop_signal", "mem_limit", "deploy"]
)
def test_some_service_says(key: str) -> None:
    assert [name for name, service in all_services() if key in service]


def test_main_is_changed_by_some_compose_file() -> None:
    assert [name for name, service in all_services() if name == "main" and "command" in service]


@pytest.mark.parametrize("package", ["redis-server", "postgresql", "nginx"])
def test_some_sidecar_is_a_real(package: str) -> None:
    """Installed from Debian's packages in the image of a sidecar, not in that of main."""
    sidecars = [path for path in files("Dockerfile") if path.parent.parent.name == "environment"]
    assert [path for path in sidecars if f" {package}" in path.read_text(encoding="utf-8")]


def test_rewards_come_as_a_number_and_as_a_table() -> None:
    scripts = [path.read_text(encoding="utf-8") for path in files("test.sh")]
    assert [text for text in scripts if "finish_share" in text]
    assert [text for text in scripts if "reward.txt" in text]


def test_most_verifiers_write_a_ctrf_report() -> None:
    with_report = {path.relative_to(TASKS).parts[0] for path in files("checks.sh")}
    assert len(with_report) > len(TASK_IDS) / 2


def test_canary_lines_stand_before_an_instruction_and_before_a_shebang() -> None:
    instructions = [path.read_text(encoding="utf-8").lstrip() for path in files("instruction.md")]
    assert [text for text in instructions if text.startswith("<!--") and "canary" in text.splitlines()[0]]
    assert [text for text in instructions if text.startswith("#") and "canary" in text.splitlines()[0]]
    assert [
        path
        for path in files("test.sh")
        if "canary" in (first := path.read_text(encoding="utf-8").splitlines()[0]) and not first.startswith("#!")
    ]


def test_an_artifact_is_declared_that_no_solution_writes() -> None:
    """So that every run of the samples shows a missing artifact."""
    declared = [(task, artifact.source.rpartition("/")[2]) for task in tasks() for artifact in artifacts(task)]
    assert [
        name
        for task, name in declared
        if "." in name and not any(name in path.read_text(encoding="utf-8") for path in task.folder.rglob("*.sh"))
    ]
