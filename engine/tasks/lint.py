"""What a plan should tell of a task before it runs: things that are allowed, and that have surprised
people.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from engine.issues import Code, Evidence, Issue, Severity
from engine.tasks.compose_names import ComposeUnreadable, GlobalName, global_names, read_compose, service_names
from engine.tasks.host_env import asked_by, requests_inside_text
from engine.tasks.invalid import valid_unicode
from engine.tasks.task import MAIN, Step, Task
from engine.tasks.verifier_image import VerifierImage, verifier_image


def plan_warnings(task: Task, allowed: Mapping[str, str] | None = None) -> tuple[Issue, ...]:
    """Warnings in the order a person reads them. `allowed` as in `resolve_env`.

    Host variables without a value are not here: they refuse the task (`missing_for`).
    """
    return (
        *(_of_reading(task)),
        *(_of_handing_over(task)),
        *(_of_compose_files(task)),
        *(_of_host_variables(task, allowed or {})),
    )


def _of_reading(task: Task) -> Iterator[Issue]:
    for warning in task.warnings:
        place = ": ".join(part for part in (warning.file, warning.key) if part)
        yield _warning(Code.TASK_WARNING, f"{place}: {warning.message}")


def _of_handing_over(task: Task) -> Iterator[Issue]:
    for step in task.steps or (None,):
        image = verifier_image(task, step)
        if image is None:
            continue
        name = step.name if step else ""
        artifacts, hooks = (step.artifacts, step.verifier.collect) if step else (task.artifacts, task.verifier.collect)
        if not artifacts and not hooks:
            yield _warning(
                Code.NOTHING_HANDED_OVER,
                "the verifier is separate, but the task declares no artifacts and no collect hooks: "
                "only what the agent leaves in /logs/artifacts reaches it",
                step=name,
            )
        if image.tests_baked and image.settings.docker_image is None and (problem := _without_tests(image)):
            yield _warning(Code.TASK_WARNING, f"{_inside(task, image.folder)}: {problem}", step=name)


def _without_tests(image: VerifierImage) -> str:
    """Why an image that has to own /tests/test.sh may not have it. Only what is evident from the folder."""
    if not (image.folder / "test.sh").exists():
        return "the verifier's image is built here, but there is no test.sh to go into it"
    if image.dockerfile is None:
        return ""
    try:
        text = image.dockerfile.read_bytes()
    except OSError as error:
        return f"the Dockerfile can't be read: {error.strerror}"
    if not re.search(rb"^\s*(COPY|ADD)\b|/tests\b|test\.sh", text, re.IGNORECASE | re.MULTILINE):
        return "the Dockerfile copies nothing, and tests are not uploaded into an image of the verifier's own"
    return ""


def _of_compose_files(task: Task) -> Iterator[Issue]:
    images = [verifier_image(task, step) for step in task.steps or (None,)]
    files = [task.compose_file, *(image.compose_file for image in images if image)]
    for file in dict.fromkeys(file for file in files if file):
        place = _inside(task, file)
        try:
            compose = read_compose(file)
        except OSError as error:
            yield _warning(Code.COMPOSE_INVALID, f"{place}: can't be read: {error.strerror}")
            continue
        except ComposeUnreadable as error:
            where = f"{place}, line {error.line}" if error.line else place
            evidence = Evidence(label=place, text=str(error), line=error.line)
            yield _warning(Code.COMPOSE_INVALID, f"{where}: {error}", evidence)
            continue
        names = global_names(compose)
        yield from _of_global_names(
            [name for name in names if not name.kept],
            Code.TASK_WARNING,
            f"{place}: fixes what only one project on the host can have; set aside, so that its trials can overlap",
        )
        yield from _of_global_names(
            [name for name in names if name.kept],
            Code.TASK_SERIALISED,
            f"{place}: has fixed addresses in a range that only one network can have; its trials run one after another",
        )
        if file == task.compose_file:
            yield from _of_services(task, service_names(compose), place)


def _of_global_names(names: Sequence[GlobalName], code: Code, what: str) -> Iterator[Issue]:
    if names:
        shown = ", ".join(f"{name.where} {name.value}" for name in names)
        yield _warning(code, f"{what}: {shown}", *(Evidence(label=name.where, text=name.value) for name in names))


def _of_services(task: Task, services: frozenset[str] | None, place: str) -> Iterator[Issue]:
    passes: tuple[Task | Step, ...] = task.steps or (task,)
    wanted = {entry.service for one in passes for entry in one.artifacts}
    wanted |= {hook.service for one in passes for hook in one.verifier.collect}
    for name in sorted(wanted - {MAIN} - (services if services is not None else wanted)):
        yield _warning(Code.TASK_WARNING, f'task.toml collects from service "{name}", which {place} doesn\'t have')


def _of_host_variables(task: Task, allowed: Mapping[str, str]) -> Iterator[Issue]:
    for asked in asked_by(task):
        if asked.name not in allowed and asked.default is not None:
            yield _warning(
                Code.TASK_WARNING,
                f"task.toml: {asked.key}: asks for the host's {asked.name}, which isn't allowed or not set: "
                f"its default is used (--allow-host-env {asked.name} allows it)",
            )
        elif asked.name in allowed:
            yield _warning(Code.TASK_WARNING, f"task.toml: {asked.key}: is filled with the host's {asked.name}")
    for key, name in requests_inside_text(task):
        yield _warning(
            Code.TASK_WARNING,
            f"task.toml: {key}: ${{{name}}} is only a part of the value and arrives as text",
        )


def _inside(task: Task, path: Path) -> str:
    return valid_unicode(str(path.relative_to(task.folder)))


def _warning(code: Code, message: str, *evidence: Evidence, step: str = "") -> Issue:
    return Issue(severity=Severity.WARNING, phase=None, code=code, message=message, evidence=evidence, step=step)
