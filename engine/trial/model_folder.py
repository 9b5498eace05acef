"""A short folder of the host in which a trial's gateway listens, and that its `main` is given to see."""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

from engine.issues import Code, Evidence, Issue, Phase, Severity, TrialFailed

SOCKET = "socket"
KEPT = "kept"
_PREFIX = "model-"
_MAX_SOCKET_PATH = 107


class ModelFolder:
    """`path` can be entered by any user of `main`, and on the host by nobody but its owner, since nobody else can enter
    the folder above it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._kept = False

    def keep(self) -> None:
        """An environment that is kept can't be started again without the folder that is mounted in it."""
        self._kept = True


@contextmanager
def model_folder() -> Iterator[ModelFolder]:
    """Not in the user's runtime folder, which goes with the last session while a run goes on. Raises TrialFailed."""
    made = ModelFolder(_make())
    try:
        yield made
    finally:
        with suppress(OSError):
            if made._kept:
                (made.path / KEPT).touch()
            else:
                shutil.rmtree(made.path)


def sweep_model_folders() -> None:
    """Remove those of engines that are gone. Raises nothing."""
    for place in _places():
        with suppress(OSError):
            for folder in place.glob(f"{_PREFIX}*"):
                owner = folder.name.removeprefix(_PREFIX).partition("-")[0]
                gone = owner.isdigit() and not psutil.pid_exists(int(owner))
                if gone and not folder.is_symlink() and not (folder / KEPT).exists():
                    shutil.rmtree(folder, ignore_errors=True)


def _make() -> Path:
    name = f"{_PREFIX}{os.getpid()}-{secrets.token_hex(4)}"
    why = "its path would be too long for a socket"
    for place in _places():
        path = place / name
        if len(os.fsencode(path / SOCKET)) > _MAX_SOCKET_PATH:
            continue
        try:
            place.mkdir(mode=0o700, exist_ok=True)
            if place.lstat().st_uid != os.getuid() or place.is_symlink():
                why = f"{place} belongs to somebody else"
                continue
            place.chmod(0o700)
            path.mkdir()
            path.chmod(0o755)
        except OSError as error:
            why = f"{error.filename or place}: {error.strerror or error}"
            continue
        return path
    raise TrialFailed(
        Issue(
            Severity.FATAL,
            Phase.PREPARE,
            Code.SETUP_FAILED,
            f"no folder for the socket of the model's gateway: {why}",
            (Evidence("way out", "point TMPDIR at a short folder of your own"),),
        )
    )


def _places() -> list[Path]:
    name = f"trialdeck-{os.getuid()}"
    return list(dict.fromkeys((Path(tempfile.gettempdir()) / name, Path("/tmp") / name)))
