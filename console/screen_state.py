"""Where the console keeps how a person looked at each run: a small file a run, in the user's own state folder."""

from __future__ import annotations

import hashlib
from pathlib import Path

import msgspec

from engine.json_document import json_document
from engine.runs.atomic_file import write_atomically
from engine.user_places import screen_state_dir
from screens.run_memory import RunMemory

MOST_BYTES = 4 << 20
MOST_RUNS = 500
"""Files that are kept; those that were not written for longest go first."""


class _File(msgspec.Struct, frozen=True, kw_only=True):
    run: str
    screen: RunMemory


def recall(run: str, folder: Path | None = None) -> tuple[RunMemory | None, str]:
    """What is known of a run, and a word where its file is of no use: that is no reason not to open the run."""
    path = _path(run, folder)
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except FileNotFoundError:
        return None, ""
    except OSError as error:
        return None, f"{path.name}: {error.strerror or error}: filter and order are not as they were"
    try:
        found = msgspec.json.decode(data, type=_File)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None, f"{path.name} is damaged: filter and order are not as they were"
    return (found.screen, "") if found.run == run else (None, "")


def remember(run: str, memory: RunMemory, folder: Path | None = None) -> None:
    """Raises OSError."""
    path = _path(run, folder)
    path.parent.mkdir(parents=True, exist_ok=True)
    new = not path.exists()
    write_atomically(path, json_document(_File(run=run, screen=memory)))
    if new:
        _forget_the_oldest(path.parent)


def _forget_the_oldest(folder: Path) -> None:
    files = []
    for path in folder.glob("*.json"):
        try:
            files.append((path.stat().st_mtime, path))
        except OSError:
            continue
    for _, path in sorted(files)[: max(0, len(files) - MOST_RUNS)]:
        path.unlink(missing_ok=True)


def _path(run: str, folder: Path | None) -> Path:
    """Named after a digest: an identity is whatever a foreign folder says."""
    return (folder or screen_state_dir()) / f"{hashlib.sha256(run.encode('utf-8', 'replace')).hexdigest()[:32]}.json"
