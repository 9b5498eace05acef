"""Content digests of folders: equal content gives an equal digest, wherever and whenever it was checked out.

Digests are SHA-256 in hex. Names are compared and hashed as bytes, so names that are not UTF-8 are fine.
Links are hashed as links, never followed. A FIFO, socket or device counts by its name and is never opened.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

LeftOut = Callable[[Path], bool]

IGNORED = frozenset({b".git", b"__pycache__", b".DS_Store"})


def content_digest(folder: Path, left_out: LeftOut | None = None) -> str:
    """Digest of a task: relative paths, file content, executable bit and link targets of every file but those that are
    `left_out`.

    What a clone doesn't keep (other mode bits, empty folders, times) doesn't count, nor do `.git`,
    `__pycache__` and `.DS_Store`. Raises OSError where something can't be read.
    """
    return _digest(folder, exact=False, left_out=left_out)


def environment_digest(folder: Path) -> str:
    """Digest of a build context: everything that `COPY` can carry into an image, so mode bits, empty
    folders and hidden files count too. Raises OSError where something can't be read.
    """
    return _digest(folder, exact=True)


def combined_digest(parts: dict[str, str]) -> str:
    """Digest over (name, digest) pairs, whatever order they come in."""
    total = hashlib.sha256()
    for name, digest in sorted(parts.items()):
        _add(total, name.encode("utf-8", "surrogateescape"), digest.encode())
    return total.hexdigest()


def _digest(folder: Path, *, exact: bool, left_out: LeftOut | None = None) -> str:
    total = hashlib.sha256()
    for name, entry in sorted(_entries(os.fsencode(folder), b"", exact), key=lambda pair: pair[0]):
        if left_out is not None and left_out(Path(os.fsdecode(entry.path))):
            continue
        info = entry.stat(follow_symlinks=False)
        if stat.S_ISLNK(info.st_mode):
            kind, content = b"link", os.readlink(entry.path)  # noqa: PTH115 - bytes
        elif stat.S_ISREG(info.st_mode):
            kind = _mode(info.st_mode, exact)
            content = _file_digest(entry.path)
        elif stat.S_ISDIR(info.st_mode):
            kind, content = b"folder %o" % stat.S_IMODE(info.st_mode), b""
        else:
            kind, content = b"special", b""
        _add(total, name, kind, content)
    return total.hexdigest()


def _mode(mode: int, exact: bool) -> bytes:
    if exact:
        return b"file %o" % stat.S_IMODE(mode)
    return b"program" if mode & 0o111 else b"file"


def _entries(folder: bytes, prefix: bytes, exact: bool) -> Iterator[tuple[bytes, os.DirEntry[bytes]]]:
    with os.scandir(folder) as found:
        for entry in found:
            if not exact and entry.name in IGNORED:
                continue
            name = prefix + entry.name
            if entry.is_dir(follow_symlinks=False):
                if exact:
                    yield name, entry
                yield from _entries(entry.path, name + b"/", exact)
            else:
                yield name, entry


def _file_digest(path: bytes) -> bytes:
    with open(path, "rb") as file:  # noqa: PTH123 - a bytes path
        return hashlib.file_digest(file, "sha256").digest()


def _add(total: hashlib._Hash, *parts: bytes) -> None:
    """Each part with its length in front, so that no two lists of parts look alike."""
    for part in parts:
        total.update(len(part).to_bytes(8, "big"))
        total.update(part)
