"""What lies in a trial's folder, and what the agent changed in its container: a tree, bounded, no link followed."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from engine.layout import CHANGES
from engine.log_streams import is_beside
from engine.regular_file import regular_file
from engine.text import clean_line
from engine.trajectories.untyped import decoded, items, text

MOST_ENTRIES = 5_000
MOST_CHANGES = 5_000
_MOST_FILE = 16 << 20
_DEEPEST = 12
_HEAD = 8_192

FOLDER, FILE, LINK, OTHER, CHANGE, TITLE = "folder", "file", "link", "other", "change", "title"


@dataclass(frozen=True)
class Entry:
    """`name` is safe to show; `path` is None for what can't be opened. `detail`: what happened to a changed file."""

    kind: str
    name: str
    depth: int
    path: Path | None = None
    size: int | None = None
    detail: str = ""
    key: str = ""


def read_tree(folder: Path) -> list[Entry]:
    """Blocks; never raises. First what the agent changed, then the artifacts, then all other files."""
    found = _changes(folder)
    budget = [MOST_ENTRIES]
    files: list[Entry] = []
    first = ["artifacts"] if (folder / "artifacts").is_dir() else []
    _walk(folder, folder, 0, budget, files, first)
    if files:
        found.append(Entry(TITLE, "files of the trial", 0, key="title files"))
        found += files
    if budget[0] < 0:
        found.append(Entry(TITLE, f"more than {MOST_ENTRIES:,} entries: the rest is not listed", 0, key="title more"))
    return found


def _walk(root: Path, folder: Path, depth: int, budget: list[int], found: list[Entry], first: list[str]) -> None:
    try:
        with os.scandir(folder) as entries:
            children = sorted(entries, key=lambda entry: (entry.name not in first, entry.name))
    except OSError:
        return
    for child in children:
        budget[0] -= 1
        if budget[0] < 0:
            return
        path = Path(child.path)
        key = str(path.relative_to(root))
        name = clean_line(child.name, 200)
        try:
            if child.is_symlink():
                found.append(Entry(LINK, name, depth, detail="a link, not followed", key=key))
            elif child.is_dir(follow_symlinks=False):
                found.append(Entry(FOLDER, f"{name}/", depth, key=key))
                if depth < _DEEPEST:
                    _walk(root, path, depth + 1, budget, found, [])
            elif child.is_file(follow_symlinks=False):
                size = child.stat(follow_symlinks=False).st_size
                detail = "which bytes of the log came on stderr" if is_beside(path) else ""
                found.append(Entry(FILE, name, depth, path, size, detail, key))
            else:
                found.append(Entry(OTHER, name, depth, detail="no ordinary file", key=key))
        except OSError:
            continue


def _changes(folder: Path) -> list[Entry]:
    path = folder / CHANGES
    try:
        if path.is_symlink() or not path.is_file() or path.stat().st_size > _MOST_FILE:
            return []
        told = decoded(path.read_bytes())
    except OSError:
        return []
    found: list[Entry] = []
    for word in ("added", "changed", "deleted"):
        for each in items((told or {}).get(word)):
            if name := text(each):
                found.append(Entry(CHANGE, clean_line(name, 400), 0, detail=word, key=f"{word} {len(found)}"))
    shown = found[:MOST_CHANGES]
    if not shown:
        return []
    left = f", {len(found) - len(shown):,} more not listed" if len(found) > len(shown) else ""
    title = Entry(TITLE, f"what the agent changed in the container{left}", 0, key="title changes")
    return [title, *sorted(shown, key=lambda entry: entry.name)]


def is_text(path: Path) -> bool:
    """By its beginning: no NUL stands in it. Raises nothing."""
    try:
        with regular_file(path) as file:
            return b"\0" not in file.read(_HEAD)
    except OSError:
        return False
