"""What a trial takes of the host, from what its services declare."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.tasks.compose_limits import declared_limits
from engine.tasks.task import EnvironmentSettings

DECLARED = EnvironmentSettings(cpus=1.5, memory_mb=512)


def compose(folder: Path, text: str) -> Path:
    path = folder / "docker-compose.yaml"
    path.write_text(text)
    return path


def test_a_task_without_a_compose_file_takes_what_it_declares() -> None:
    assert declared_limits(DECLARED, None) == (1.5, 512)
    assert declared_limits(EnvironmentSettings(), None) == (0, 0)


def test_all_services_add_up_and_the_compose_file_wins_for_main(tmp_path: Path) -> None:
    path = compose(
        tmp_path,
        "services:\n"
        "  main: {cpus: 0.5, mem_limit: 1g}\n"
        "  db: {image: x, deploy: {resources: {limits: {cpus: '0.25', memory: 256M}}}}\n"
        "  seed: {image: y}\n",
    )
    assert declared_limits(DECLARED, path) == (0.75, 1024 + 256)


def test_a_sidecar_adds_to_what_main_declares_in_the_task(tmp_path: Path) -> None:
    assert declared_limits(DECLARED, compose(tmp_path, "services: {db: {cpus: 1, mem_limit: 134217728}}")) == (2.5, 640)


@pytest.mark.parametrize(
    "text", ["services: [", "services: 3", "- a", "services: {db: 5}", "services: {db: {cpus: many}}"]
)
def test_a_file_that_says_nothing_understandable_adds_nothing(tmp_path: Path, text: str) -> None:
    assert declared_limits(DECLARED, compose(tmp_path, text)) == (1.5, 512)
