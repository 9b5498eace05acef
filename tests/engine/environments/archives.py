"""Tar streams for tests, made member by member: whatever a hostile container could send."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path, PurePosixPath
from typing import Any

from engine.environments.docker.unpacking import Unpacking
from engine.environments.excludes import Excludes


def archive(*members: tuple[str, dict[str, Any]], content: bytes = b"x") -> io.BytesIO:
    """`members` are names with attributes of TarInfo; a regular file gets `content` unless it names its own."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w|", format=tarfile.GNU_FORMAT, errors="surrogateescape") as tar:
        for name, attributes in members:
            data = attributes.pop("content", content)
            member = tarfile.TarInfo(name)
            for key, value in attributes.items():
                setattr(member, key, value)
            if member.isreg():
                member.size = len(data)
                tar.addfile(member, io.BytesIO(data))
            else:
                tar.addfile(member)
    out.seek(0)
    return out


def folder(**attributes: Any) -> dict[str, Any]:
    return {"type": tarfile.DIRTYPE, "mode": 0o755, **attributes}


def file(**attributes: Any) -> dict[str, Any]:
    return {"mode": 0o644, **attributes}


def symlink(target: str) -> dict[str, Any]:
    return {"type": tarfile.SYMTYPE, "linkname": target}


def hardlink(target: str) -> dict[str, Any]:
    return {"type": tarfile.LNKTYPE, "linkname": target}


def unpack(
    stream: io.BytesIO, destination: Path, *, exclude: tuple[str, ...] = (), max_bytes: int | None = None
) -> Unpacking:
    source = PurePosixPath("/logs/artifacts")
    unpacking = Unpacking(destination, Excludes(exclude, source), max_bytes)
    destination.mkdir(exist_ok=True)
    unpacking.unpack(stream)
    unpacking.finish(source)
    return unpacking
