"""Paths that a person names -> the tasks of a run, broken ones included: one broken task never stops the
others.
"""

from __future__ import annotations

import difflib
import os
import unicodedata
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

import msgspec

from engine.issues import Code, Issue, Severity
from engine.tasks.digest import combined_digest
from engine.tasks.folder import TASK_FILE, absolute, read_task, task_id
from engine.tasks.git_version import git_version
from engine.tasks.invalid import TaskInvalid, shown_path, valid_unicode
from engine.tasks.task import Task

DEEPEST = 3  # levels below a given path: set/task, set/tasks/task, sets/set/tasks/task
_PLAIN_FOLDERS = frozenset({"tasks", "task", "datasets", "dataset"})  # names that say nothing of a set


class TaskSetInvalid(Exception):
    """No run can come of what was named: a path without tasks, a pattern that matches nothing, one id
    twice.
    """

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.issue = Issue(severity=Severity.FATAL, phase=None, code=Code.TASK_INVALID, message=message)


class BrokenTask(msgspec.Struct, frozen=True, kw_only=True):
    """A task that can't be read, with the issue that says why. It stays in the run, unscored."""

    id: str
    folder: Path
    issue: Issue


class TaskSet(msgspec.Struct, frozen=True, kw_only=True):
    """The chosen tasks, in order of their ids.

    `version` is the git commit of the folders, with `-dirty` where they differ from it, "" where they are in
    none or in different ones. `digest` covers ids and content of `tasks`.
    """

    name: str
    version: str
    digest: str
    tasks: tuple[Task, ...]
    broken: tuple[BrokenTask, ...] = ()


def find_tasks(paths: Sequence[Path], include: Sequence[str] = (), exclude: Sequence[str] = ()) -> TaskSet:
    """Read the tasks at `paths`, each a task's folder or a folder of tasks. Raises TaskSetInvalid.

    `include` and `exclude` are globs (`*`, `?`, `[…]`) over a task's id or its name "org/name"; without
    `include` all are in. Every include has to match something, since a run that silently lacks tasks is worse
    than none.
    """
    folders = list(_task_folders(paths))
    found = [_read(folder) for folder in folders]
    chosen = _chosen(found, include, exclude)
    _check_ids(chosen)
    tasks = tuple(entry for entry in chosen if isinstance(entry, Task))
    return TaskSet(
        name=_set_name(paths),
        version=_version(paths),
        digest=combined_digest({task.id: task.digest for task in tasks}),
        tasks=tasks,
        broken=tuple(entry for entry in chosen if isinstance(entry, BrokenTask)),
    )


def _task_folders(paths: Sequence[Path]) -> Iterator[Path]:
    """Each folder once, however often and by whatever link it was named."""
    if not paths:
        raise TaskSetInvalid("no path to a task or to a folder of tasks was given")
    seen: set[str] = set()
    for path in paths:
        for folder in _folders_at(path):
            real = os.path.realpath(folder)
            if real not in seen:
                seen.add(real)
                yield folder


def _folders_at(path: Path) -> list[Path]:
    place = absolute(path)
    if place.name == TASK_FILE and place.is_file():
        place = place.parent
    if not place.exists():
        raise TaskSetInvalid(f"{shown_path(path)}: there is no such file or folder")
    if not place.is_dir():
        raise TaskSetInvalid(f"{shown_path(path)}: is a file; name a task's folder or a folder of tasks")
    if (place / TASK_FILE).exists():
        return [place]
    try:
        folders = list(_below(place, DEEPEST))
    except OSError as error:
        raise TaskSetInvalid(f"{shown_path(Path(error.filename))}: can't be read: {error.strerror}") from None
    if any((folder / TASK_FILE).exists() for folder in folders):
        return folders
    if _looks_like_task(place):
        return [place]
    if folders:
        return folders
    raise TaskSetInvalid(f"{shown_path(path)}: holds no task: no {TASK_FILE} there, nor up to {DEEPEST} levels below")


def _below(folder: Path, levels: int) -> Iterator[Path]:
    for child in sorted(folder.iterdir()):
        if child.name.startswith(".") or not child.is_dir():
            continue
        if (child / TASK_FILE).exists() or _looks_like_task(child):
            yield child
        elif levels > 1 and not child.is_symlink():
            yield from _below(child, levels - 1)


def _looks_like_task(folder: Path) -> bool:
    """A folder that has a task's other parts: its missing task.toml should be told, not passed over."""
    if (folder / "environment").is_dir() and (folder / "tests").is_dir():
        return True
    return (folder / "instruction.md").is_file() or (folder / "task.yaml").is_file()


def _read(folder: Path) -> Task | BrokenTask:
    try:
        return read_task(folder)
    except TaskInvalid as invalid:
        return BrokenTask(id=task_id(folder), folder=folder, issue=invalid.issue)


def _chosen(
    found: Sequence[Task | BrokenTask], include: Sequence[str], exclude: Sequence[str]
) -> list[Task | BrokenTask]:
    for pattern in include:
        if not any(_matches(entry, pattern) for entry in found):
            raise TaskSetInvalid(_no_match(pattern, found))
    chosen = [
        entry
        for entry in found
        if (not include or any(_matches(entry, pattern) for pattern in include))
        and not any(_matches(entry, pattern) for pattern in exclude)
    ]
    if not chosen:
        raise TaskSetInvalid(f"all of {len(found)} tasks are excluded by {' '.join(exclude)}")
    return sorted(chosen, key=lambda entry: entry.id)


def _matches(entry: Task | BrokenTask, pattern: str) -> bool:
    wanted = unicodedata.normalize("NFC", pattern)
    names = [entry.id, entry.name if isinstance(entry, Task) else None]
    for name in (unicodedata.normalize("NFC", name) for name in names if name):
        if name == wanted or fnmatchcase(name, wanted):
            return True
    return False


def _no_match(pattern: str, found: Sequence[Task | BrokenTask]) -> str:
    ids = sorted(entry.id for entry in found)
    near = difflib.get_close_matches(pattern, ids, n=3, cutoff=0.5)
    shown = near or ids[:3]
    more = "" if len(shown) == len(ids) else f", … ({len(ids)} tasks)"
    return f'no task matches "{pattern}"; there {"is" if len(ids) == 1 else "are"} {", ".join(shown)}{more}'


def _check_ids(chosen: Sequence[Task | BrokenTask]) -> None:
    seen: dict[str, Path] = {}
    for entry in chosen:
        if entry.id in seen:
            raise TaskSetInvalid(
                f'two tasks have the id "{entry.id}": {shown_path(seen[entry.id])} and '
                f"{shown_path(entry.folder)}. Run them apart, or leave one out"
            )
        seen[entry.id] = entry.folder


def _set_name(paths: Sequence[Path]) -> str:
    names = []
    for path in paths:
        place = absolute(path)
        if place.name in _PLAIN_FOLDERS and place.parent.name:
            place = place.parent
        names.append(valid_unicode(place.parent.name if place.name == TASK_FILE else place.name))
    unique = list(dict.fromkeys(names))
    return " + ".join(unique[:3]) + (f" + {len(unique) - 3} more" if len(unique) > 3 else "")


def _version(paths: Sequence[Path]) -> str:
    places = [absolute(path) for path in paths]
    versions = {git_version(place if place.is_dir() else place.parent) for place in places}
    if len({version.removesuffix("-dirty") for version in versions}) > 1:
        return ""
    return max(versions, key=len)
