"""Every sample task is complete, small, and says nothing about the machine that it was written on."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from engine.tasks.verifier_image import verifier_image
from tests.sample_runs.places import SAMPLES, TASK_IDS, TASKS, files, services, task, tasks

MACHINE = re.compile(r"/(?:work|home|root|Users)/|deb\.debian\.org|docker\.io|ghcr\.io|localhost:\d+/")


def test_there_are_at_least_twelve_tasks() -> None:
    assert len(TASK_IDS) >= 12


@pytest.mark.parametrize("task_id", TASK_IDS)
def test_a_task_reads_without_a_warning_and_names_itself(task_id: str) -> None:
    found = task(task_id)
    assert found.warnings == ()
    assert found.name == f"trialdeck/{task_id}"
    assert found.description
    assert found.category and found.difficulty and found.metadata["tags"]


@pytest.mark.parametrize("task_id", TASK_IDS)
def test_a_task_has_all_of_its_files(task_id: str) -> None:
    found = task(task_id)
    places = [TASKS / task_id / "steps" / step.name for step in found.steps] or [found.folder]
    for place in places:
        assert (place / "instruction.md").read_text(encoding="utf-8").strip()
        assert (place / "solution" / "solve.sh").is_file()
        assert (place / "tests" / "test.sh").is_file()
    assert found.dockerfile or found.environment.docker_image


@pytest.mark.parametrize("path", files("solve.sh", "test.sh"), ids=lambda path: str(path.relative_to(TASKS)))
def test_a_script_names_bash_and_may_be_executed(path: Path) -> None:
    assert "#!/bin/bash" in path.read_text(encoding="utf-8").splitlines()[:3]
    assert path.stat().st_mode & 0o111


def test_the_small_test_runner_is_the_same_everywhere() -> None:
    assert len({path.read_bytes() for path in files("checks.sh")}) == 1


@pytest.mark.parametrize("path", files("Dockerfile"), ids=lambda path: str(path.relative_to(TASKS)))
def test_a_dockerfile_needs_one_public_image_and_debian_packages(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    assert lines[0] == "FROM debian:bookworm-slim"
    assert not [line for line in lines[1:] if re.match(r"(?i)from|add\b|.*(curl -|wget|pip )", line)]


def test_packages_are_installed_by_equal_lines_so_that_their_layers_are_shared() -> None:
    """An install is the second line of its file, and each combination of packages is built once for all images."""
    installs: dict[str, int] = {}
    for path in files("Dockerfile"):
        lines = path.read_text(encoding="utf-8").splitlines()
        for place, line in enumerate(lines):
            if "apt-get" in line:
                assert place == 1, path
                installs[line] = installs.get(line, 0) + 1
    assert len(installs) == 3
    assert all(count > 1 for count in installs.values())


@pytest.mark.parametrize("task_id", TASK_IDS)
def test_a_task_is_small(task_id: str) -> None:
    environment = task(task_id).environment
    assert environment.cpus is not None and 0 < environment.cpus <= 1
    assert environment.memory_mb is not None and environment.memory_mb <= 512
    assert sum(path.stat().st_size for path in (TASKS / task_id).rglob("*") if path.is_file()) < 64 * 1024


@pytest.mark.parametrize("task_id", TASK_IDS)
def test_every_sidecar_declares_its_limits(task_id: str) -> None:
    for name, service in services(task_id).items():
        if name != "main":
            limits = service.get("deploy", {}).get("resources", {}).get("limits", {})
            assert service.get("cpus") or limits.get("cpus"), name
            assert service.get("mem_limit") or limits.get("memory"), name


def test_a_baked_verifier_copies_its_tests() -> None:
    for found in tasks():
        image = verifier_image(found)
        if image is not None and image.tests_baked:
            assert image.dockerfile is not None
            assert "COPY . /tests/" in image.dockerfile.read_text(encoding="utf-8"), found.id


@pytest.mark.parametrize("path", files(), ids=lambda path: str(path.relative_to(SAMPLES)))
def test_no_file_names_a_machine_or_a_registry(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert MACHINE.search(text) is None
    if path.suffix == ".json":
        json.loads(text)
