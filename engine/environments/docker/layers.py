"""What changed in a container, read off its overlay's upper layer. Only where the daemon's storage is on this host.

The daemon's own answer compares every file of the image with every file of the container: up to a second for Debian
alone. The upper layer holds nothing but what was touched.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

UNSUPPORTED = (b"trusted.overlay.redirect", b"trusted.overlay.metacopy")
OPAQUE = (b"trusted.overlay.opaque", b"user.overlay.opaque")


class LayersUnreadable(Exception):
    """Not an overlay of this host, or one that keeps more in it than we read: the daemon has to be asked."""


class Layers(msgspec.Struct, frozen=True):
    """Folders: the writable one, and those below it from top to bottom."""

    upper: str
    lower: tuple[str, ...]


def layers_of(graph: dict[str, Any] | None) -> Layers | None:
    """From `GraphDriver` of an inspect; None where it is no overlay."""
    data = (graph or {}).get("Data") or {}
    if (
        (graph or {}).get("Name") not in ("overlay2", "overlayfs")
        or not data.get("UpperDir")
        or not data.get("LowerDir")
    ):
        return None
    return Layers(data["UpperDir"], tuple(data["LowerDir"].split(":")))


def touched(layers: Layers) -> Iterator[tuple[str, str]]:
    """(path, kind) of what was added, changed and deleted; a folder's own change too. What was copied up and is as
    before is left out. Raises LayersUnreadable."""
    upper, lower = os.fsencode(layers.upper), [os.fsencode(folder) for folder in layers.lower]
    if not os.access(upper, os.R_OK | os.X_OK) or not all(os.access(folder, os.R_OK | os.X_OK) for folder in lower):
        raise LayersUnreadable(layers.upper)
    try:
        for path, kind in _folder(upper, lower, b""):
            yield os.fsdecode(path), kind
    except (OSError, RecursionError) as error:  # an agent may nest its folders as deep as it likes
        raise LayersUnreadable(str(error)) from error


def _folder(upper: bytes, lower: Sequence[bytes], path: bytes) -> Iterator[tuple[bytes, str]]:
    seen: set[bytes] = set()
    try:
        entries = sorted(os.scandir(upper), key=lambda entry: entry.name)
    except FileNotFoundError:  # deleted while we look
        return
    for entry in entries:
        seen.add(entry.name)
        place = path + b"/" + entry.name
        try:
            now = entry.stat(follow_symlinks=False)
        except FileNotFoundError:
            continue
        before, below = _below(lower, entry.name)
        if _is_whiteout(now):
            if before is not None:
                yield place, "deleted"
            continue
        if before is None:
            yield place, "added"
        elif _differs(before, now):
            yield place, "changed"
        if stat.S_ISDIR(now.st_mode):
            _refuse_what_we_cannot_read(entry.path)
            if _is_opaque(entry.path):
                yield from ((place + b"/" + name, "deleted") for name in _hidden(entry.path, below))
                below = []
            yield from _folder(os.fsencode(entry.path), below, place)


def _below(lower: Sequence[bytes], name: bytes) -> tuple[os.stat_result | None, list[bytes]]:
    """What stood there before, and, of a folder, the folders whose contents made it up."""
    found: os.stat_result | None = None
    folders: list[bytes] = []
    for folder in lower:
        place = folder + b"/" + name
        try:
            status = os.lstat(place)
        except (FileNotFoundError, NotADirectoryError):
            continue
        if _is_whiteout(status):
            break
        found = found or status
        if not stat.S_ISDIR(status.st_mode) or not stat.S_ISDIR(found.st_mode):
            break
        folders.append(place)
        _refuse_what_we_cannot_read(place)
        if _is_opaque(place):
            break
    return found, folders


def _hidden(upper: bytes, below: Sequence[bytes]) -> list[bytes]:
    """Names that were in a folder before it was replaced by a new one, and are not in that."""
    names: set[bytes] = set()
    gone: set[bytes] = set()
    for folder in below:
        for entry in os.scandir(folder):
            if entry.name in gone or entry.name in names:
                continue
            (gone if _is_whiteout(entry.stat(follow_symlinks=False)) else names).add(entry.name)
    return sorted(name for name in names if not os.path.lexists(upper + b"/" + name))


def _is_whiteout(status: os.stat_result) -> bool:
    return stat.S_ISCHR(status.st_mode) and status.st_rdev == 0


def _differs(before: os.stat_result, now: os.stat_result) -> bool:
    """As the daemon compares: content is never read."""
    if (before.st_mode, before.st_uid, before.st_gid) != (now.st_mode, now.st_uid, now.st_gid):
        return True
    if stat.S_ISDIR(now.st_mode):
        return False
    return (before.st_rdev, before.st_size, before.st_mtime_ns) != (now.st_rdev, now.st_size, now.st_mtime_ns)


def _is_opaque(folder: bytes) -> bool:
    return any(_attribute(folder, name) == b"y" for name in OPAQUE)


def _refuse_what_we_cannot_read(folder: bytes) -> None:
    if any(_attribute(folder, name) is not None for name in UNSUPPORTED):
        raise LayersUnreadable(os.fsdecode(folder))


def _attribute(place: bytes, name: bytes) -> bytes | None:
    try:
        return os.getxattr(place, name, follow_symlinks=False)
    except OSError:
        return None
