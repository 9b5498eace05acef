"""Which files below an artifact are left out."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Sequence
from pathlib import PurePosixPath


class Excludes:
    """Glob patterns as `tar --exclude` reads them: `*` crosses slashes, a pattern may start at any component, and what
    lies under an excluded folder is excluded."""

    def __init__(self, patterns: Sequence[str], source: PurePosixPath) -> None:
        self._source = source
        cleaned = [pattern.removeprefix("./").rstrip("/") for pattern in patterns]
        self._anchored = [re.compile(fnmatch.translate(pattern)) for pattern in cleaned if pattern.startswith("/")]
        self._free = [re.compile(fnmatch.translate(p)) for p in cleaned if p and not p.startswith("/")]

    def __call__(self, relative: str) -> bool:
        if not self._anchored and not self._free:
            return False
        parts = relative.split("/")
        for end in range(1, len(parts) + 1):
            whole = str(self._source / "/".join(parts[:end]))
            if any(pattern.match(whole) for pattern in self._anchored):
                return True
            for begin in range(end):
                piece = "/".join(parts[begin:end])
                if any(pattern.match(piece) for pattern in self._free):
                    return True
        return False


def tells_of(folder: PurePosixPath, exclude: Sequence[str], path: str) -> bool:
    """Does a copy of the folder, made with these excludes, tell whether something was at a path?"""
    if not PurePosixPath(path).is_relative_to(folder):
        return False
    relative = str(PurePosixPath(path).relative_to(folder))
    return not exclude if relative == "." else not Excludes(exclude, folder)(relative)
