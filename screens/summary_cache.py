"""Summaries of runs that are over, kept between two starts in the user's cache folder.

It can't lie: a summary is used only where the stamp of the run's files is the very one that it was made of. A file that
is missing, broken or of another version holds nothing.
"""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from engine.json_document import json_document
from engine.user_places import summaries_file
from engine.version import VERSION
from screens.run_summary import RunSummary

MOST = 20_000
_MOST_BYTES = 64 << 20


class _Kept(msgspec.Struct):
    version: str
    runs: dict[str, RunSummary]


def _path(kind: type, value: Any) -> Any:
    if kind is Path and isinstance(value, str):
        return Path(value)
    raise NotImplementedError


class SummaryCache:
    """Not thread-safe. `save` writes what is new, aside and whole; where it can't be written nothing is said."""

    def __init__(self, file: Path | None = None) -> None:
        self.file = file if file is not None else summaries_file()
        self._runs: dict[str, RunSummary] | None = None
        self._new = False

    def get(self, folder: Path) -> RunSummary | None:
        """As it was kept, wherever one stood when it was: with the folder as it is named now."""
        found = self._load().get(_absolute(str(folder)))
        return replace(found, folder=folder) if found is not None else None

    def put(self, run: RunSummary) -> None:
        runs = self._load()
        key = _absolute(run.key)
        runs.pop(key, None)
        runs[key] = run
        self._new = True

    def save(self) -> None:
        if not self._new or self._runs is None:
            return
        self._new = False
        newest = dict(list(self._runs.items())[-MOST:])
        data = json_document(_Kept(VERSION, newest))
        with suppress(OSError):
            self.file.parent.mkdir(parents=True, exist_ok=True)
            descriptor, aside = tempfile.mkstemp(dir=self.file.parent, prefix=f"{self.file.name}.")
            try:
                with os.fdopen(descriptor, "wb") as file:
                    file.write(data)
                Path(aside).replace(self.file)
            except OSError:
                Path(aside).unlink(missing_ok=True)

    def _load(self) -> dict[str, RunSummary]:
        if self._runs is None:
            self._runs = {}
            try:
                if self.file.stat().st_size <= _MOST_BYTES:
                    kept = msgspec.json.decode(self.file.read_bytes(), type=_Kept, dec_hook=_path)
                    self._runs = kept.runs if kept.version == VERSION else {}
            except (OSError, msgspec.DecodeError, UnicodeDecodeError, ValueError):
                pass
        return self._runs


def _absolute(key: str) -> str:
    return str(Path(key).absolute())
