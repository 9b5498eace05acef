"""A short folder of the host in which a trial's gateway listens, and that its `main` is given to see."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from engine.issues import Code, Evidence, Issue, Phase, Severity, TrialFailed
from engine.socket_folder import new_socket_folder, sweep_socket_folders

SOCKET = "socket"
KEPT = "kept"
_KIND = "model"


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
    """Removed with all in it at the end, unless it is kept. Raises TrialFailed."""
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
    sweep_socket_folders(_KIND, spared=lambda folder: (folder / KEPT).exists())


def _make() -> Path:
    try:
        return new_socket_folder(_KIND, SOCKET, mode=0o755)
    except OSError as error:
        raise TrialFailed(
            Issue(
                Severity.FATAL,
                Phase.PREPARE,
                Code.SETUP_FAILED,
                f"no folder for the socket of the model's gateway: {error}",
                (Evidence("way out", "point TMPDIR at a short folder of your own"),),
            )
        ) from None
