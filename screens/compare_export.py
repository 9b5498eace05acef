"""A comparison written to files: Markdown for people, JSON for programs. Whole files or none."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import msgspec

from engine.analysis.as_markdown import comparison_markdown
from engine.analysis.compare import Comparison

OURS = "trialdeck"
"""What a run of ours calls its source. No byte is written into the folder of any other."""


def export_folder(run_folder: Path, source: str) -> Path:
    return run_folder if source == OURS else Path.cwd()


def export(found: Comparison, folder: Path, name: str, context: str) -> list[Path]:
    """Raises OSError."""
    contents = {
        ".md": comparison_markdown(found, context=context).encode(),
        ".json": msgspec.json.format(msgspec.json.encode(found), indent=2) + b"\n",
    }
    written = []
    for suffix, content in contents.items():
        path = folder / f"{name}{suffix}"
        _replace(path, content)
        written.append(path)
    return written


def _replace(path: Path, content: bytes) -> None:
    descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except OSError:
        Path(temporary).unlink(missing_ok=True)
        raise
