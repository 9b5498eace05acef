"""Files that are there whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec


def write_atomically(path: Path, data: bytes) -> None:
    """Write under a temporary name, flush to disk, rename. Raises OSError and then leaves the old file as it was."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise


def write_json(path: Path, value: object) -> None:
    write_atomically(path, msgspec.json.format(msgspec.json.encode(value)) + b"\n")
