"""`claude-code-<version>`: the Claude Code CLI, from the npm package with its native program, by npm.

The program's own way to run in an image with another C library is a second build; here one build runs in every image,
since it brings its loader and libraries with it.
"""

from __future__ import annotations

import platform
import shutil
import tempfile
from pathlib import Path

from engine.agents.capsules.bundle import bundle
from engine.agents.capsules.capsule import CapsuleUnusable, Contents, place_of
from engine.agents.capsules.npm_pack import pack, unpack
from engine.agents.capsules.recipe import Recipe, Say

VERSION = "2.1.332"
"""The version that is taken where none is asked for."""
_PREFIX = "claude-code-"
_PACKAGES = {"x86_64": "linux-x64", "aarch64": "linux-arm64"}
_INTEGRITY = {
    "2.1.332": {
        "x86_64": "sha512-f4JWhzwYutJIHScC7/dYOPX6s28tt7ZADhsOi8zwOHq5fFPEuUeChh2NMfinSg0GrUckYxaeebC4h0DqiKzLcw==",
        "aarch64": "sha512-BlHNEtK38KBPWU31F4lUSS9sHclCyfWbThT1CErvxxH8+XcljYLZlQwdyXBkTD62rw1TgfE1u1a+quMWS0NSJg==",
    }
}
"""What the registry says of the packages of the versions that were tried; of others it is asked."""


def tag_of(version: str) -> str:
    return f"{_PREFIX}{version}"


def _make(tag: str, folder: Path, say: Say) -> Contents:
    version = RECIPE.version_in(tag)
    machine = platform.machine()
    if machine not in _PACKAGES:
        raise CapsuleUnusable(f"Claude Code is built for {' and '.join(_PACKAGES)}, this machine is {machine}")
    with tempfile.TemporaryDirectory(prefix="npm-", dir=folder.parent) as aside:
        name = f"@anthropic-ai/claude-code-{_PACKAGES[machine]}"
        packed = pack(name, version, Path(aside), integrity=_INTEGRITY.get(version, {}).get(machine, ""), say=say)
        package = unpack(packed, Path(aside) / "unpacked")
        say("link it with its own libraries")
        programs = {"bin/claude": package / "claude"}
        if bash := shutil.which("bash"):  # for images without a shell that it can work with
            programs["bin/bash"] = Path(bash).resolve()
        bundle(folder, place_of(tag), programs=programs)
    names = {path.rpartition("/")[2]: path for path in programs}
    return Contents(versions={"claude-code": packed.version, "integrity": packed.integrity}, programs=names)


RECIPE = Recipe(
    tag=f"{_PREFIX}{{version}}",
    example=tag_of(VERSION),
    summary="Claude Code with its libraries, from npm",
    make=_make,
)
