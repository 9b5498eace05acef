"""Files of a folder that somebody else wrote: read only where they really lie inside it, and never without a bound."""

from __future__ import annotations

import os
import stat
from pathlib import Path

MOST_BYTES = 32 << 20
"""A larger file is not read whole; no file that these systems write for machines comes near it."""


def is_inside(root: Path, path: Path) -> bool:
    """Whether `path`, links followed, lies in `root`. Never raises."""
    try:
        real, top = os.path.realpath(path), os.path.realpath(root)
    except (OSError, ValueError):
        return False
    return real == top or real.startswith(top.rstrip(os.sep) + os.sep)


def open_inside(root: Path, path: Path) -> int | None:
    """A descriptor of a regular file inside `root`, to be closed by the caller. None for what is missing, is no file
    (a pipe would block) or leads out of the folder."""
    if not is_inside(root, path):
        return None
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except (OSError, ValueError):
        return None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        return None
    return descriptor


def read_inside(root: Path, path: Path, most: int = MOST_BYTES) -> bytes | None:
    """At most `most` bytes from the start of a file, as `open_inside` finds it."""
    descriptor = open_inside(root, path)
    if descriptor is None:
        return None
    try:
        parts = []
        left = most
        while left > 0:
            part = os.read(descriptor, min(left, 1 << 20))
            if not part:
                break
            parts.append(part)
            left -= len(part)
        return b"".join(parts)
    except OSError:
        return None
    finally:
        os.close(descriptor)


def folders_in(folder: Path, most: int = 200_000) -> list[Path]:
    """Real sub-folders (no links), by name; empty where there is nothing to read. Never raises."""
    found: list[str] = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                try:
                    if entry.is_dir(follow_symlinks=False):
                        found.append(entry.name)
                except OSError:
                    continue
                if len(found) >= most:
                    break
    except (OSError, ValueError):
        return []
    return [folder / name for name in sorted(found)]


def files_in(root: Path, folder: Path, most: int = 1_000) -> list[Path]:
    """Regular files directly in `folder` that lie inside `root`, by name. Never raises."""
    found: list[Path] = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                try:
                    whole = entry.is_file(follow_symlinks=False) or (
                        entry.is_file() and is_inside(root, Path(entry.path))
                    )
                except OSError:
                    continue
                if whole:
                    found.append(folder / entry.name)
                if len(found) >= most:
                    break
    except (OSError, ValueError):
        return []
    return sorted(found) if is_inside(root, folder) else []
