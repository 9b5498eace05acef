"""What makes two folders the same capsule: paths, modes and contents, whoever copied them and when."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import msgspec

from engine.agents.capsules.capsule import CapsuleUnusable

_CHUNK = 1 << 20


class Tree(msgspec.Struct, frozen=True, kw_only=True):
    """`shape` covers paths, modes and sizes, and is quick to find; `content` covers what is in the files too ("" where
    they were not read)."""

    files: int
    bytes: int
    shape: str
    content: str = ""


def tree_of(folder: Path, *, leave_out: str, contents: bool) -> Tree:
    """All that is below a folder, without the file `leave_out` of it. Raises OSError."""
    shape, content = hashlib.sha256(), hashlib.sha256()
    files = size = 0
    for name, path in sorted(_below(folder, "")):
        if name == leave_out:
            continue
        status = path.lstat()
        files += 1
        if stat.S_ISLNK(status.st_mode):
            line = b"link\0%s\0%s\0" % (os.fsencode(name), os.fsencode(path.readlink()))
            shape.update(line)
            content.update(line)
            continue
        if not stat.S_ISREG(status.st_mode):
            raise CapsuleUnusable(f"{path}: neither a file nor a folder nor a link")
        size += status.st_size
        head = b"%o\0%d\0%s\0" % (stat.S_IMODE(status.st_mode), status.st_size, os.fsencode(name))
        shape.update(head)
        if contents:
            content.update(head + _sha256(path))
    return Tree(files=files, bytes=size, shape=shape.hexdigest(), content=content.hexdigest() if contents else "")


def _below(folder: Path, inside: str) -> Iterator[tuple[str, Path]]:
    with os.scandir(folder) as entries:
        for entry in entries:
            name = f"{inside}{entry.name}"
            if entry.is_dir(follow_symlinks=False):
                yield from _below(Path(entry.path), f"{name}/")
            else:
                yield name, Path(entry.path)


def _sha256(path: Path) -> bytes:
    found = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            found.update(chunk)
    return found.digest()
