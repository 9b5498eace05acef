"""Refusing to begin what the disk has no room for."""

from __future__ import annotations

import shutil
from pathlib import Path

from console.machine.trouble import Trouble

GB = 1_000_000_000


def free_gb(path: Path) -> float | None:
    """Free space of the disk that `path` is on or will be on; None where that can't be told."""
    for place in (path, *path.parents):
        try:
            return shutil.disk_usage(place).free / GB
        except OSError:
            continue
    return None


def require_space(path: Path, needed: float, doing: str) -> None:
    """Raise unless the disk of `path` has `needed` GB free: a full disk later breaks more than this step."""
    free = free_gb(path)
    if free is not None and free < needed:
        raise Trouble(
            f"{doing} needs about {needed:g} GB on the disk of {path}, and {free:.1f} GB are free",
            f"free some space (see: df -h {path}; docker system df shows what Docker holds)",
        )
