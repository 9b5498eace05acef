"""Labels that could not be written where they belong: saved at the next best place, or else told one by one."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import platformdirs

from engine.json_document import json_document
from engine.text import clean_line
from engine.triage.labels import Label


def rescue(labels: Sequence[Label], path: Path, problem: str) -> str:
    """What a person is told on the way out; never raises."""
    head = f"trialdeck: {len(labels)} decision{'s' if len(labels) != 1 else ''} could not be written ({problem})."
    data = b"".join(json_document(label) + b"\n" for label in labels)
    for folder in _places():
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(
                prefix="unwritten-labels-", suffix=".jsonl", dir=folder, delete=False
            ) as file:
                file.write(data)
                file.flush()
        except OSError:
            continue
        return f"{head}\nThey lie in {file.name}; once it can be written: cat {file.name} >> {clean_line(str(path))}"
    lines = [
        clean_line(
            f"  {label.task} · {label.arm} · attempt {label.attempt}: {label.kind} {label.cause or ''} {label.note}"
        )
        for label in labels
    ]
    return "\n".join([head, "There is no place for them anywhere; write them down:", *lines])


def _places() -> Iterator[Path]:
    yield platformdirs.user_state_path("trialdeck") / "labels"
    yield Path.cwd()
    yield Path(tempfile.gettempdir())
