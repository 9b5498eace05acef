"""A capsule: what it is, where it lies on the host, and where `main` finds it."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import msgspec

OPT = PurePosixPath("/opt/trialdeck/capsules")
"""Where capsules stand in `main`: programs in them are linked for this place and work nowhere else."""


class CapsuleUnusable(Exception):
    """A capsule that isn't there, can't be built here or isn't what its digest says; says how to get out."""


class Contents(msgspec.Struct, frozen=True, kw_only=True):
    """What a recipe says of what it built. `versions`: what is in it (`node` -> `24.19.0`). `programs`: name -> path
    within the capsule. `env`: what a program of it needs in its environment; `{place}` stands for the capsule's folder
    in `main`."""

    versions: dict[str, str] = {}
    programs: dict[str, str] = {}
    env: dict[str, str] = {}


class Capsule(msgspec.Struct, frozen=True, kw_only=True):
    """A built capsule. `digest` is SHA-256 over its files (paths, modes, contents) and over what is said of them here;
    `folder` is read-only by contract.

    `versions`: what is in it (`node` -> `24.19.0`). `programs`: name -> path in `main`. `env`: what its programs need
    in their environment, with the paths of `main`. `machine`: the processor that it is for (`x86_64`).
    """

    tag: str
    digest: str
    folder: Path
    versions: dict[str, str] = {}
    programs: dict[str, str] = {}
    env: dict[str, str] = {}
    machine: str = ""
    files: int = 0
    bytes: int = 0

    @property
    def place(self) -> str:
        """Its folder in `main`."""
        return place_of(self.tag)


def place_of(tag: str) -> str:
    """Where the capsule with this tag stands in `main`."""
    return str(OPT / tag)
