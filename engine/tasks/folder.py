"""A task's folder -> Task, with everything checked that can be checked without an engine."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from engine.tasks.digest import content_digest
from engine.tasks.harbor_ignore import NAME as IGNORE_FILE
from engine.tasks.harbor_ignore import HarborIgnore, unused
from engine.tasks.instruction import INSTRUCTION, without_canary
from engine.tasks.invalid import shown_path, task_invalid, valid_unicode
from engine.tasks.links import links_that_leave
from engine.tasks.steps import merged_step
from engine.tasks.task import MAIN, Artifact, CollectHook, Step, Task, TaskWarning
from engine.tasks.toml_file import TaskFile, read_task_file
from engine.tasks.verifier_image import test_script, verifier_image

TASK_FILE = "task.toml"


def read_task(folder: Path) -> Task:
    """Read and check one task. Raises TaskInvalid.

    `Task.folder` is absolute. `Task.id` is the folder's name as it is; bytes in it that are not UTF-8 are
    written `\\xff`.
    """
    place = absolute(folder)
    try:
        _check_folder(place)
        ignore = HarborIgnore(place)
        _check_links(place, ignore)
        file = read_task_file(place / TASK_FILE)
        task = _task(place, file, content_digest(place, ignore.leaves_out))
        _check(task, ignore)
    except OSError as error:
        where = Path(error.filename if isinstance(error.filename, str) else os.fsdecode(error.filename or place))
        raise task_invalid(where, f"can't be read: {error.strerror or error}") from None
    return task


def task_id(folder: Path) -> str:
    return valid_unicode(absolute(folder).name)


def absolute(folder: Path) -> Path:
    """`folder` without `.` and `..`, links kept, so that its last part is the name that a person gave it."""
    return Path(os.path.abspath(folder))  # noqa: PTH100 - Path.absolute keeps ".."


def _task(folder: Path, file: TaskFile, digest: str) -> Task:
    return Task(
        id=task_id(folder),
        folder=folder,
        digest=digest,
        schema_version=file.schema_version,
        name=file.name,
        version=file.version,
        description=file.description,
        source=file.source,
        keywords=file.keywords,
        metadata=file.metadata,
        environment=file.environment,
        agent=file.agent,
        verifier=file.verifier,
        solution_env=file.solution_env,
        artifacts=file.artifacts,
        steps=tuple(merged_step(file, step, folder) for step in file.steps),
        multi_step_reward_strategy=file.multi_step_reward_strategy,
        warnings=(*file.warnings, *_links_left_alone(folder), *_rules_without_effect(folder)),
    )


def _check_folder(folder: Path) -> None:
    if not folder.exists():
        raise task_invalid(folder, "there is no such folder")
    if not folder.is_dir():
        raise task_invalid(folder, "is not a folder", way_out=f"A task is a folder that holds {TASK_FILE}")
    if not (folder / TASK_FILE).exists():
        older = "It holds task.yaml, so it may be a Terminal-Bench 0.x task; those can't be run"
        way_out = older if (folder / "task.yaml").exists() else "Every task needs one"
        raise task_invalid(folder / TASK_FILE, "is missing", way_out=way_out)


def _check_links(folder: Path, ignore: HarborIgnore) -> None:
    for link in links_that_leave(folder):
        if _is_read(link.relative_to(folder)) and not ignore.leaves_out(link):
            raise task_invalid(
                link,
                f"is a link that leaves the task folder, to {_target(link)}",
                way_out="Copy the file into the task",
            )


def _links_left_alone(folder: Path) -> Iterable[TaskWarning]:
    for link in links_that_leave(folder):
        yield TaskWarning(
            file=valid_unicode(str(link.relative_to(folder))),
            key="",
            message=f"a link that leaves the task folder, to {_target(link)}: what it points to is no part of the task",
        )


def _rules_without_effect(folder: Path) -> Iterable[TaskWarning]:
    for path in unused(folder):
        yield TaskWarning(
            file=str(path.relative_to(folder)), key="", message="has no effect: its rules count in tests/ and solution/"
        )


def _is_read(inside: Path) -> bool:
    """Whether what lies there is read or uploaded. In environment/ the builder keeps links as links."""
    first, *rest = inside.parts
    if first == "environment":
        return not rest or rest in (["Dockerfile"], ["docker-compose.yaml"], ["docker-compose.yml"])
    return first in (TASK_FILE, INSTRUCTION, "tests", "solution", "steps")


def _target(link: Path) -> str:
    return valid_unicode(os.readlink(link))  # noqa: PTH115 - a str, as written


def _check(task: Task, ignore: HarborIgnore) -> None:
    _check_environment(task)
    for step in task.steps:
        if not step.folder.is_dir():
            raise task_invalid(step.folder, "is missing", way_out=f'{TASK_FILE} lists the step "{step.name}"')
        _check_instruction(step.folder / INSTRUCTION)
        _check_tests(task, step, ignore)
        _check_services(task, step.artifacts, step.verifier.collect)
    if not task.steps:
        _check_instruction(task.folder / INSTRUCTION)
        _check_tests(task, None, ignore)
        _check_services(task, task.artifacts, task.verifier.collect)


def _check_environment(task: Task) -> None:
    if not (task.dockerfile or task.compose_file or task.environment.docker_image):
        raise task_invalid(
            task.environment_folder,
            "no environment: neither a Dockerfile nor a docker-compose.yaml",
            way_out=f"Add one, or name a docker_image under [environment] in {TASK_FILE}",
        )


def _check_instruction(file: Path) -> None:
    if not file.is_file():
        raise task_invalid(file, "is missing", way_out="The agent is told nothing without it")
    if not without_canary(file.read_bytes()).strip():
        raise task_invalid(file, "is empty", way_out="The agent is told nothing without it")


def _check_tests(task: Task, step: Step | None, ignore: HarborIgnore) -> None:
    """test.sh is needed wherever it is uploaded: not where an image of the verifier's own has it."""
    image = verifier_image(task, step)
    if (image and image.tests_baked) or task.environment.os == "windows":
        return
    if (script := test_script(task, step)) is not None:
        if ignore.leaves_out(script):
            raise task_invalid(script, f"is left out by {IGNORE_FILE}", way_out="It is the verifier")
        return
    raise task_invalid(
        (step.folder if step else task.folder) / "tests" / "test.sh",
        "is missing",
        way_out="It is the verifier"
        + (f" (so would be {shown_path(task.folder / 'tests' / 'test.sh')})" if step else ""),
    )


def _check_services(task: Task, artifacts: Iterable[Artifact], hooks: Iterable[CollectHook]) -> None:
    """Services beside `main` exist only by a Compose file."""
    entries: list[Artifact | CollectHook] = [*artifacts, *hooks]
    sidecars = [entry.service for entry in entries if entry.service != MAIN]
    if sidecars and task.compose_file is None:
        raise task_invalid(
            task.folder / TASK_FILE,
            f'service "{sidecars[0]}" is collected from, but there is no environment/docker-compose.yaml',
        )
