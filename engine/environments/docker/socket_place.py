"""Where the socket lies through which a daemon far away is reached."""

from __future__ import annotations

import shutil
from pathlib import Path

from engine.socket_folder import new_socket_folder, sweep_socket_folders

NAME = "docker.sock"
_KIND = "docker"
_LONGEST = 100
"""Of a socket's path, since ssh puts a few bytes of its own behind a name while it makes the socket."""


def new_place() -> Path:
    """A new folder for one socket called `NAME`; removed by `remove_place`. Raises OSError."""
    sweep_socket_folders(_KIND)
    try:
        return new_socket_folder(_KIND, NAME, longest=_LONGEST)
    except OSError as error:
        raise OSError(
            f"no folder for a socket that leads to the Docker engine: {error}; point TMPDIR at one of your own"
        ) from None


def remove_place(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
