"""A capsule: what it is, where it lies on the host, and where `main` finds it."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import msgspec

OPT = PurePosixPath("/opt/trialdeck/capsules")
"""Where capsules stand in `main`: programs in them are linked for this place and work nowhere else."""


class CapsuleUnusable(Exception):
    """A capsule that isn't there, can't be built here or isn't what its digest says; says how to get out."""


class Capsule(msgspec.Struct, frozen=True, kw_only=True):
    """A built capsule. `digest` is SHA-256 over its files (paths, modes, contents); `folder` is read-only by contract.

    `versions`: what is in it (`node` -> `24.19.0`). `programs`: name -> path in `main`.
    """

    tag: str
    digest: str
    folder: Path
    versions: dict[str, str] = {}
    programs: dict[str, str] = {}

    @property
    def place(self) -> str:
        """Its folder in `main`."""
        return str(OPT / self.tag)
