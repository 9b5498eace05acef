"""Files written for a person, beside runs: never into another system's folder, and whole files or none."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.readers.open_run import OpenedRun

Render = Callable[[Sequence[str]], Mapping[str, bytes]]
"""What stands in the file of each ending that is asked for. May raise ValueError."""


@dataclass(frozen=True)
class Wanted:
    """Files `folder/name.<format>`. `replacing`: also where there are some of that name."""

    folder: Path
    name: str
    formats: tuple[str, ...]
    replacing: bool = False


class AlreadyThere(Exception):
    """Nothing was written. The message names the files that would be replaced."""


def default_folder(runs: Sequence[OpenedRun]) -> Path:
    """The folder of the one run, if it is ours; no byte is written into a folder of another system."""
    return runs[0].folder if len(runs) == 1 and runs[0].ours else Path.cwd()


def write_files(wanted: Wanted, foreign: Sequence[Path], render: Render) -> list[Path]:
    """Call it in a thread. Raises OSError, AlreadyThere, and ValueError for a folder inside of another system's run."""
    folder = wanted.folder.expanduser()
    refuse_foreign(folder, foreign)
    paths = {ending: folder / f"{wanted.name}.{ending}" for ending in wanted.formats}
    there = [path.name for path in paths.values() if path.exists()]
    if there and not wanted.replacing:
        raise AlreadyThere(", ".join(there))
    written = []
    for ending, content in render(wanted.formats).items():
        path = paths[ending]
        replace(path, content)
        written.append(path)
    return written


def refuse_foreign(folder: Path, foreign: Sequence[Path]) -> None:
    """Raises ValueError where `folder` lies in one of the foreign run folders, links followed."""
    inside = folder.resolve()
    for run in foreign:
        if inside.is_relative_to(run.resolve()):
            raise ValueError(f"{run.name} is another system's run: nothing is written into it; give another folder")


def replace(path: Path, content: bytes) -> None:
    """Under a temporary name, then renamed. Raises OSError and leaves the old file as it was."""
    descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except OSError:
        Path(temporary).unlink(missing_ok=True)
        raise
