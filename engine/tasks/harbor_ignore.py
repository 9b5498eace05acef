"""`.harborignore`: what of a task's tests and solution stays at home.

As Harbor has it: such files count in `tests/`, `solution/` and those of steps, at any depth; their lines are those of a
`.gitignore`, the deeper file wins, and what lies in a folder that is left out is left out with it. Elsewhere (at the
task's root, in `environment/`) they say nothing.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from engine.tasks.invalid import task_invalid

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

NAME = ".harborignore"
_SCOPES = ("tests", "solution")
_MOST_BYTES = 1 << 20


class HarborIgnore:
    """The rules of one task; without any of them nothing is left out, and nothing is looked up."""

    def __init__(self, task: Path) -> None:
        """Reads all rules. Raises TaskInvalid for a file that can't be one, OSError."""
        self.task = task
        self._real = os.path.realpath(task)
        self._rules = {place: _read(task.joinpath(*place, NAME), self._real) for place in _places(task)}

    def leaves_out(self, path: Path) -> bool:
        """`path` lies in the task. A link is left out with what it points to."""
        if not self._rules:
            return False
        inside = path.relative_to(self.task).parts
        if self._matches(inside):
            return True
        real = os.path.realpath(path)
        if not real.startswith(self._real.rstrip("/") + "/"):
            return False
        parts = Path(real).relative_to(self._real).parts
        return parts != inside and self._matches(parts)

    def selected(self, folder: Path, place: Path) -> Path:
        """The folder itself, or, where something of it is left out, a copy of the rest in `place`. Raises OSError."""
        if not self._rules:
            return folder
        copy = place / folder.name

        def left_out(parent: str, names: list[str]) -> list[str]:
            return [
                name for name in names if self.leaves_out(Path(parent, name)) or not _is_kept_at_all(Path(parent, name))
            ]

        shutil.copytree(folder, copy, symlinks=True, ignore=left_out)
        return copy

    def _matches(self, inside: tuple[str, ...]) -> bool:
        scope = _depth_of_scope(inside)
        if scope is None or len(inside) <= scope:
            return False
        if inside[-1] == NAME:
            return True
        for end in range(scope + 1, len(inside) + 1):
            is_folder = end < len(inside) or self.task.joinpath(*inside).is_dir()
            excluded = False
            for start in range(scope, end):
                rules = self._rules.get(inside[:start])
                if rules is None:
                    continue
                said = rules.check_file("/".join(inside[start:end]) + ("/" if is_folder else "")).include
                excluded = excluded if said is None else said
            if excluded:
                return True
        return False


def selected(task: Path, folder: Path, place: Path) -> Path:
    """What of one of the task's folders is carried into a container; see `HarborIgnore.selected`. Raises TaskInvalid,
    OSError."""
    return HarborIgnore(task).selected(folder, place)


def unused(task: Path) -> Iterator[Path]:
    """Files of that name where they say nothing."""
    for folder in (task, task / "environment"):
        if (folder / NAME).is_file():
            yield folder / NAME


def _depth_of_scope(inside: tuple[str, ...]) -> int | None:
    """How many parts name the folder in which rules count; None outside of one."""
    if inside[:1] and inside[0] in _SCOPES:
        return 1
    return 3 if len(inside) >= 3 and inside[0] == "steps" and inside[2] in _SCOPES else None


def _places(task: Path) -> Iterator[tuple[str, ...]]:
    """Folders with rules, by their parts inside of the task."""
    steps = task / "steps"
    tops = [task, *(sorted(steps.iterdir()) if steps.is_dir() else ())]
    for top in (each / scope for each in tops for scope in _SCOPES):
        for place, folders, files in os.walk(top):
            folders.sort()
            if NAME in files or NAME in folders:
                yield Path(place).relative_to(task).parts


def _read(path: Path, task: str) -> GitIgnoreSpec:
    from pathspec import GitIgnoreSpec  # few tasks have rules, and the others needn't wait for it

    real = os.path.realpath(path)
    if not real.startswith(task.rstrip("/") + "/") or not path.is_file() or path.stat().st_size > _MOST_BYTES:
        raise task_invalid(path, "expected a file of the task with lines as in .gitignore, of at most 1 MiB")
    try:
        return GitIgnoreSpec.from_lines(path.read_text(encoding="utf-8").splitlines())
    except ValueError as error:  # no UTF-8, or no pattern
        raise task_invalid(path, f"expected lines as in .gitignore: {error}") from None


def _is_kept_at_all(path: Path) -> bool:
    return path.is_symlink() or path.is_file() or path.is_dir()
