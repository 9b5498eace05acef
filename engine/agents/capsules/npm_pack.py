"""Packages of the npm registry by this user's own npm, with their configuration: registry, proxy, certificates.

`npm pack` fetches exactly the version that is asked for; `npm install` may take an older one that suits its Node.
"""

from __future__ import annotations

import base64
import hashlib
import shutil
import subprocess
import tarfile
from collections.abc import Sequence
from pathlib import Path

import msgspec

from engine.agents.capsules import node
from engine.agents.capsules.capsule import CapsuleUnusable
from engine.agents.capsules.recipe import Say

_SECONDS = 900.0
_INTEGRITY = "sha512-"


class Packed(msgspec.Struct, frozen=True, kw_only=True):
    """A package's archive. `integrity` is `sha512-<base64>`, computed from it."""

    file: Path
    version: str
    integrity: str


class _Row(msgspec.Struct):
    filename: str
    version: str


def pack(name: str, version: str, into: Path, *, integrity: str = "", say: Say) -> Packed:
    """Fetch one package and compare it with `integrity`, or, where that is "", with what the registry says of it.

    Raises CapsuleUnusable: no such version, another content, no registry.
    """
    into.mkdir(parents=True, exist_ok=True)
    npm = _client(into, say)
    wanted = integrity or _registrys_word(npm, name, version, into)
    say(f"download {name} {version}")
    words = ["pack", f"{name}@{version}", "--json", "--ignore-scripts", "--pack-destination", str(into)]
    output = _said(npm, *words, cwd=into)
    try:
        rows = msgspec.json.decode(output, type=list[_Row])
    except msgspec.DecodeError:
        rows = list(msgspec.json.decode(output, type=dict[str, _Row]).values())
    file = into / Path(rows[0].filename).name
    if not file.is_file():  # a scope in the name is written in more than one way
        file = next(into.glob("*.tgz"))
    found = integrity_of(file)
    if found != wanted:
        raise CapsuleUnusable(f"{name} {version}: what was downloaded has {found}, expected {wanted}")
    return Packed(file=file, version=rows[0].version, integrity=found)


def unpack(packed: Packed, into: Path) -> Path:
    """Into a folder that is made; returns where the package's files lie. Members that would leave it are refused."""
    into.mkdir(parents=True, exist_ok=True)
    try:
        with tarfile.open(packed.file) as archive:
            archive.extractall(into, filter="data")
    except (tarfile.TarError, EOFError) as error:
        raise CapsuleUnusable(f"{packed.file.name} can't be unpacked: {error}") from None
    folders = [path for path in into.iterdir() if path.is_dir()]
    if len(folders) != 1:
        raise CapsuleUnusable(f"{packed.file.name}: expected one folder in it, found {len(folders)}")
    return folders[0]


def integrity_of(file: Path) -> str:
    with file.open("rb") as content:
        return _INTEGRITY + base64.b64encode(hashlib.file_digest(content, "sha512").digest()).decode()


def _client(aside: Path, say: Say) -> list[str]:
    """This machine's npm, else one that is downloaded for this once."""
    if (program := shutil.which("npm")) is not None:
        return [program]
    say(f"npm isn't here: download Node.js {node.VERSION} with it (60 MB)")
    folder = node.unpacked(aside / "node")
    return [str(folder / "bin" / "node"), str(folder / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")]


def _registrys_word(npm: Sequence[str], name: str, version: str, cwd: Path) -> str:
    output = _said(npm, "view", f"{name}@{version}", "dist.integrity", "--json", cwd=cwd)
    try:
        found = msgspec.json.decode(output or b'""', type=str)
    except msgspec.DecodeError:
        found = ""
    if not found.startswith(_INTEGRITY):
        raise CapsuleUnusable(f"the npm registry knows no {name} {version}, or says no integrity of it")
    return found


def _said(npm: Sequence[str], *words: str, cwd: Path) -> bytes:
    done = subprocess.run(
        [*npm, *words, "--loglevel=error", "--no-update-notifier", "--no-fund"],
        capture_output=True,
        cwd=cwd,
        timeout=_SECONDS,
        check=False,
    )
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip() or done.stdout.decode("utf-8", "replace").strip()
        lines = [line for line in said.splitlines() if "A complete log of this run" not in line]
        raise CapsuleUnusable(f"npm {words[0]} {words[1]} failed: {' '.join(lines)[:500]}")
    return done.stdout
