"""Where a Unix socket of our own may lie: in a short path below a folder that only this user can enter.

Not in the user's runtime folder, which goes with the last session while a run goes on.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import psutil

LONGEST = 107
"""Bytes of a socket's path."""


def new_socket_folder(kind: str, socket: str, *, longest: int = LONGEST, mode: int = 0o700) -> Path:
    """A new folder for a socket of that name, whose path has no more than `longest` bytes. Raises OSError, whose text
    is why there is none."""
    problem = "its path would be too long for a socket"
    for parent in _parents():
        folder = parent / f"{kind}-{os.getpid()}-{secrets.token_hex(4)}"
        if len(os.fsencode(folder / socket)) > longest:
            continue
        try:
            parent.mkdir(mode=0o700, exist_ok=True)
            if not _ours(parent):
                problem = f"{parent} belongs to somebody else"
                continue
            parent.chmod(0o700)
            folder.mkdir(mode=0o700)
            folder.chmod(mode)
        except OSError as error:
            problem = f"{error.filename or parent}: {error.strerror or error}"
            continue
        return folder
    raise OSError(problem)


def sweep_socket_folders(kind: str, spared: Callable[[Path], bool] = lambda folder: False) -> None:
    """Remove what processes that are gone left behind. Raises nothing."""
    for parent in _parents():
        with suppress(OSError):
            if not _ours(parent):
                continue
            for folder in parent.glob(f"{kind}-*"):
                owner = re.fullmatch(rf"{kind}-([0-9]{{1,9}})-.*", folder.name)
                gone = owner is not None and not psutil.pid_exists(int(owner[1]))
                if gone and not folder.is_symlink() and not spared(folder):
                    shutil.rmtree(folder, ignore_errors=True)


def _ours(folder: Path) -> bool:
    return folder.lstat().st_uid == os.getuid() and not folder.is_symlink()


def _parents() -> list[Path]:
    name = f"trialdeck-{os.getuid()}"
    return list(dict.fromkeys((Path(tempfile.gettempdir()) / name, Path("/tmp") / name)))
