"""Starting a run: its folder and card, then its engine as a process of its own."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import msgspec

from engine import events as ev
from engine.layout import ENGINE_LOG, name_of_folder
from engine.runs.card import Amendment, RunCard, write_card

PROCESS = (sys.executable, "-P", "-m", "engine.runs.process")
STAND_BY = "--stand-by"
ONLY_RERUNS = "--only-reruns"
"""Of a resumed run, run what a person wanted to run again, and leave the rest."""


class FolderUnusable(Exception):
    """The run folder can't be made; the message says why."""


def new_run_folder(runs: Path, name: str) -> Path:
    """A folder of its own for a run, named after it and its time; made, with mode 0700 inside the runs folder."""
    stamp = ev.now().astimezone().strftime("%Y-%m-%d__%H-%M-%S")
    base = name_of_folder(name)
    try:
        runs.mkdir(parents=True, exist_ok=True)
        for number in range(1, 1000):
            folder = runs / (f"{stamp}__{base}" if number == 1 else f"{stamp}__{base}-{number}")
            try:
                folder.mkdir(mode=0o700)
                return folder
            except FileExistsError:
                continue
    except OSError as error:
        raise FolderUnusable(
            f"the run folder in {runs} can't be made: {error.strerror or error}; give another with --runs-dir"
        ) from None
    raise FolderUnusable(f"{runs} already has a thousand runs of this second")


def new_run_id(folder: Path) -> str:
    """What Docker objects of a run are labelled with. Folders of other runs folders, users and hosts may have the same
    name, and their daemon may be the same; each removes by this label what is its own."""
    return f"{folder.name}__{secrets.token_hex(4)}"


def save_card(folder: Path, card: RunCard) -> None:
    """Raises FolderUnusable."""
    try:
        write_card(folder, card)
    except OSError as error:
        raise FolderUnusable(f"{folder}: the card can't be written: {error.strerror or error}") from None
    except UnicodeEncodeError as error:
        raise FolderUnusable(
            f"{folder}: the card can't be written: {error.object[: error.start + 1]!r}… is a name that is not UTF-8"
        ) from None


def launch_engine(folder: Path, *, resume: bool = False, only_reruns: bool = False) -> subprocess.Popen[bytes]:
    """The engine of a run, in a session of its own, so that it outlives this terminal.

    Its standard error goes to `engine.log`. It inherits the environment (values of allowed host variables among it);
    nothing secret is on its command line. `-P`: a folder named `engine` where the user stands is not ours.
    """
    command = [*PROCESS, str(folder), *(["--resume"] if resume else []), *([ONLY_RERUNS] if only_reruns else [])]
    with (folder / ENGINE_LOG).open("ab") as log:
        return subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, close_fds=True
        )


class EngineStandingBy:
    """An engine's process that loads its libraries (0.4 s) while its run is still being planned.

    Used in a `with` block. It does nothing before `launch`, and is killed where there comes none.
    """

    def __init__(self) -> None:
        quiet = subprocess.DEVNULL
        self._process: subprocess.Popen[bytes] | None = subprocess.Popen(
            [*PROCESS, STAND_BY],
            stdin=subprocess.PIPE,
            stdout=quiet,
            stderr=quiet,
            start_new_session=True,
            close_fds=True,
        )

    def __enter__(self) -> EngineStandingBy:
        return self

    def __exit__(self, *error: object) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()

    def launch(self, folder: Path) -> subprocess.Popen[bytes]:
        """As `launch_engine`, which also takes over where this process has failed: its log then says why."""
        process = self._process
        if process is None or process.stdin is None:
            return launch_engine(folder)
        try:
            process.stdin.write(os.fsencode(folder.resolve()) + b"\0")
            process.stdin.close()
        except BrokenPipeError:
            return launch_engine(folder)
        self._process = None
        return process


def amended(card: RunCard, *, by: str = "", **conduct: object) -> RunCard:
    """The card with other conduct (None: as it was), each change recorded; what it measures can't be changed."""
    changes = {
        key: value for key, value in conduct.items() if value is not None and value != getattr(card.conduct, key)
    }
    recorded = tuple(
        Amendment(at=ev.now(), by=by, key=key, before=_said(getattr(card.conduct, key)), after=_said(value))
        for key, value in changes.items()
    )
    return msgspec.structs.replace(
        card,
        conduct=msgspec.structs.replace(card.conduct, **changes),
        amendments=(*card.amendments, *recorded),
    )


def _said(value: object) -> str:
    return "none" if value is None else str(value)


def visible_environment(names: tuple[str, ...], environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The allowed host variables that are set, with their values."""
    return {name: environ[name] for name in names if name in environ}
