"""Where the samples are, and their tasks, read once."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import yaml

from engine.tasks.folder import read_task
from engine.tasks.task import Task

SAMPLES = Path(__file__).resolve().parents[2] / "sample_runs"
TASKS = SAMPLES / "tasks"
SESSIONS = SAMPLES / "sessions"
RECORDED = SAMPLES / "recorded"

TASK_IDS = sorted(path.name for path in TASKS.iterdir() if path.is_dir())


@functools.cache
def task(task_id: str) -> Task:
    return read_task(TASKS / task_id)


def tasks() -> list[Task]:
    return [task(task_id) for task_id in TASK_IDS]


def toml_text(task_id: str) -> str:
    return (TASKS / task_id / "task.toml").read_text(encoding="utf-8")


def services(task_id: str) -> dict[str, dict[str, Any]]:
    """The services of the task's Compose file by name, empty where it has none."""
    path = task(task_id).compose_file
    if path is None:
        return {}
    found: dict[str, dict[str, Any]] = yaml.safe_load(path.read_text(encoding="utf-8"))["services"]
    return found


def files(*names: str) -> list[Path]:
    """Every file of tasks and sessions whose name is one of `names`; all of them where none is given."""
    return [
        path
        for path in sorted(SAMPLES.rglob("*"))
        if path.is_file() and RECORDED not in path.parents and (not names or path.name in names)
    ]
