"""Entries of `artifacts`: paths in a container, and the places on the host that they may name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

from engine.tasks.task import MAIN, Artifact
from engine.tasks.toml_schema import ArtifactTable
from engine.tasks.toml_table import TableReader

_SERVICE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
MANIFEST = "manifest.json"


def artifacts_of(reader: TableReader, entries: Sequence[str | ArtifactTable], key: str) -> tuple[Artifact, ...]:
    """Raises TaskInvalid for a path that would leave the place it belongs to."""
    return tuple(_artifact(reader, entry, f"{key}[{index}]") for index, entry in enumerate(entries))


def service_name(reader: TableReader, written: str | None, key: str) -> str:
    """The name of a Compose service; `main` where the file gives none."""
    if written is None:
        return MAIN
    name = written.strip()
    if not _SERVICE.fullmatch(name):
        raise reader.invalid(key, f'expected the name of a Compose service, found "{written}"')
    return name


def _artifact(reader: TableReader, entry: str | ArtifactTable, key: str) -> Artifact:
    if isinstance(entry, str):
        _check_source(reader, entry, MAIN, key)
        return Artifact(source=entry)
    service = service_name(reader, entry.service, f"{key}.service")
    _check_source(reader, entry.source, service, f"{key}.source")
    return Artifact(
        source=entry.source,
        destination=_destination(reader, entry.destination, f"{key}.destination"),
        exclude=tuple(entry.exclude),
        service=service,
    )


def _check_source(reader: TableReader, source: str, service: str, key: str) -> None:
    if "\0" in source or ".." in PurePosixPath(source).parts:
        raise reader.invalid(key, f'expected a path without "..", found "{source}"')
    if service != MAIN and not source.startswith("/"):
        raise reader.invalid(key, f'expected an absolute path, since it is of service "{service}", found "{source}"')


def _destination(reader: TableReader, written: str | None, key: str) -> str | None:
    if not written:
        return None
    path = PurePosixPath(written)
    if "\\" in written or "\0" in written or path.is_absolute() or ".." in path.parts or not path.parts:
        raise reader.invalid(key, f'expected a relative path with forward slashes and without "..", found "{written}"')
    if str(path) == MANIFEST:
        raise reader.invalid(key, f'"{MANIFEST}" is taken by the list of artifacts itself')
    return written
