"""`codex-<version>`: the Codex CLI, from the npm package with its native program, by npm.

The program is linked statically and needs nothing of an image. What stands beside it are the tools that it looks for
there (ripgrep, its sandbox); speech, which no trial has a use for, is left out.
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

PACKAGE = "@openai/codex"
VERSION = "0.171.0"
"""The version that is taken where none is asked for."""
_PREFIX = "codex-"
_TARGETS = {
    "x86_64": ("linux-x64", "x86_64-unknown-linux-musl"),
    "aarch64": ("linux-arm64", "aarch64-unknown-linux-musl"),
}
_INTEGRITY = {
    (
        "0.171.0",
        "x86_64",
    ): "sha512-l66NZkQgdk2C3pbcfULDz42yEUB581MVA6I+Y43Wp4OIqEy73HCdmZ0GTjeAHY2ycuH4N00d9VsLrwT1jxshTw==",
    (
        "0.171.0",
        "aarch64",
    ): "sha512-9z17t4bbUJ9UCIb49O4PoA+ki+45q3rd8nZ8PeH6sYnlKkBld/Xpo/OS3h3Ti954+foshX4o7k5TCU8N7zzqQA==",
}
_PROGRAMS = ("bin/codex", "codex/codex")
"""Where the program lies, in packages of today and in older ones."""
_LEFT_OUT = ("voice",)


def tag_of(version: str) -> str:
    return f"{_PREFIX}{version}"


def _make(tag: str, folder: Path, say: Say) -> Contents:
    version = RECIPE.version_in(tag)
    machine = platform.machine()
    if machine not in _TARGETS:
        raise CapsuleUnusable(f"Codex is built for {' and '.join(_TARGETS)}, this machine is {machine}")
    suffix, triple = _TARGETS[machine]
    with tempfile.TemporaryDirectory(prefix="npm-", dir=folder.parent) as aside:
        integrity = _INTEGRITY.get((version, machine), "")
        packed = pack(PACKAGE, f"{version}-{suffix}", Path(aside), integrity=integrity, say=say)
        built = unpack(packed, Path(aside) / "unpacked") / "vendor" / triple
        program = next((path for path in _PROGRAMS if (built / path).is_file()), None)
        if program is None:
            raise CapsuleUnusable(f"{PACKAGE} {packed.version} holds no program at {' or '.join(_PROGRAMS)}")
        shutil.copytree(built, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns(*_LEFT_OUT))
    bundle(folder, place_of(tag), programs={program: folder / program})
    return Contents(versions={"codex": version, "integrity": packed.integrity}, programs={"codex": program})


RECIPE = Recipe(
    tag=f"{_PREFIX}{{version}}",
    example=tag_of(VERSION),
    summary="Codex with the tools it brings, from npm",
    make=_make,
)
