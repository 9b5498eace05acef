"""Where a Unix socket of our own may lie: a short path in a folder that only this user can enter."""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

import psutil

NAME = "docker.sock"
_PREFIX = "docker-"
_MAX_SOCKET_PATH = 100
"""Of the 107 bytes that there are, since ssh puts a few of its own behind a name while it makes the socket."""


def new_place() -> Path:
    """A new folder for one socket called `NAME`; removed by `remove_place`. Raises OSError."""
    problem = "its path would be too long for a socket"
    for parent in _parents():
        folder = parent / f"{_PREFIX}{os.getpid()}-{secrets.token_hex(4)}"
        if len(os.fsencode(folder / NAME)) > _MAX_SOCKET_PATH:
            continue
        try:
            parent.mkdir(mode=0o700, exist_ok=True)
            if parent.lstat().st_uid != os.getuid() or parent.is_symlink():
                problem = f"{parent} belongs to somebody else"
                continue
            parent.chmod(0o700)
            _sweep(parent)
            folder.mkdir(mode=0o700)
        except OSError as error:
            problem = f"{error.filename or parent}: {error.strerror or error}"
            continue
        return folder
    raise OSError(f"no folder for a socket that leads to the Docker engine: {problem}; point TMPDIR at one of your own")


def remove_place(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)


def _sweep(parent: Path) -> None:
    """What processes that are gone left behind."""
    with suppress(OSError):
        for folder in parent.glob(f"{_PREFIX}*"):
            owner = folder.name.removeprefix(_PREFIX).partition("-")[0]
            if owner.isdigit() and not psutil.pid_exists(int(owner)) and not folder.is_symlink():
                remove_place(folder)


def _parents() -> list[Path]:
    name = f"trialdeck-{os.getuid()}"
    return list(dict.fromkeys((Path(tempfile.gettempdir()) / name, Path("/tmp") / name)))
