"""Files of a trial that no reader may meet cut off because the disk was full."""

from __future__ import annotations

from pathlib import Path


def write_whole(path: Path, data: bytes) -> None:
    """Nothing is left at `path` where not all of it could be written. Raises OSError."""
    try:
        path.write_bytes(data)
    except OSError:
        path.unlink(missing_ok=True)
        raise
