"""Where a separate verifier's environment comes from, and whether the tests are already in its image."""

from __future__ import annotations

from pathlib import Path

import msgspec

from engine.tasks.task import EnvironmentSettings, Step, Task, VerifierMode, first_existing

DEFINITIONS = ("Dockerfile", "docker-compose.yaml")


class VerifierImage(msgspec.Struct, frozen=True, kw_only=True):
    """The definition of a separate verifier's environment.

    `settings.docker_image` is the image of `main`, None where it is built. `folder` holds the Dockerfile and
    the Compose file, if there are any. With `tests_baked` the image owns `/tests/test.sh` and nothing is
    uploaded.
    """

    settings: EnvironmentSettings
    folder: Path
    tests_baked: bool

    @property
    def dockerfile(self) -> Path | None:
        return first_existing(self.folder / "Dockerfile")

    @property
    def compose_file(self) -> Path | None:
        return first_existing(self.folder / "docker-compose.yaml", self.folder / "docker-compose.yml")


def verifier_image(task: Task, step: Step | None = None) -> VerifierImage | None:
    """None for a shared verifier. In order: a declared image, a definition beside the tests, a copy of the
    task's own.

    For a step, its own image and `steps/NAME/tests` come before the task's and `tests/`.
    """
    verifier = step.verifier if step else task.verifier
    if task.verifier_mode(verifier) is not VerifierMode.SEPARATE:
        return None
    settings = verifier.environment or task.verifier.environment or task.environment
    candidates = [(task.verifier.environment, task.folder / "tests")]
    if step:
        candidates.insert(0, (_own(step, task), step.folder / "tests"))
    for declared, folder in candidates:
        if declared is not None and declared.docker_image:
            return _image(settings, declared.docker_image, folder, tests_baked=True)
        if has_definition(folder):
            return _image(settings, None, folder, tests_baked=True)
    return _image(settings, task.environment.docker_image, task.environment_folder, tests_baked=False)


def _own(step: Step, task: Task) -> EnvironmentSettings | None:
    """The step's verifier environment, None where it is the task's, merged in (`engine.tasks.steps`)."""
    inherited = step.verifier.environment == task.verifier.environment
    return None if inherited and not has_definition(step.folder / "tests") else step.verifier.environment


def test_script(task: Task, step: Step | None = None) -> Path | None:
    """The test.sh to upload: the step's own, else the task's."""
    folders = [step.folder / "tests"] if step else []
    return first_existing(*(folder / "test.sh" for folder in [*folders, task.folder / "tests"]))


def has_definition(folder: Path) -> bool:
    return any((folder / name).is_file() for name in DEFINITIONS)


def _image(settings: EnvironmentSettings, image: str | None, folder: Path, *, tests_baked: bool) -> VerifierImage:
    chosen = msgspec.structs.replace(settings, docker_image=image)
    return VerifierImage(settings=chosen, folder=folder, tests_baked=tests_baked)
