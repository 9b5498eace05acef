"""Reading a folder of another system in a test, and proof that nothing in it was touched."""

from __future__ import annotations

import hashlib
from pathlib import Path

from engine import events as ev
from engine.readers.open_run import open_run
from engine.readers.reader import Liveness, RunReader
from engine.state import RunState


def read_all(reader: RunReader) -> list[ev.AnyEvent]:
    found: list[ev.AnyEvent] = []
    while events := reader.poll():
        found += events
    return found


def state_of(folder: Path) -> tuple[RunState, Liveness]:
    reader, state = open_run(folder).reader(), RunState()
    try:
        state.apply_all(read_all(reader))
        return state, reader.liveness()
    finally:
        reader.close()


def tree_digest(folder: Path) -> str:
    """Names, contents, times and modes of everything below `folder`."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        found = path.lstat()
        digest.update(f"{path.relative_to(folder)} {found.st_mode} {found.st_mtime_ns} {found.st_size}\n".encode())
        if path.is_file() and not path.is_symlink():
            digest.update(path.read_bytes())
    return digest.hexdigest()
