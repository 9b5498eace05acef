"""Wheels by this user's own pip, with their configuration: index, proxy, certificates."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

from engine.agents.capsules.capsule import CapsuleUnusable

_SECONDS = 900.0


def download_wheel(name: str, version: str, into: Path, *, sha256: tuple[str, ...] = ()) -> Path:
    """One wheel for this machine; with `sha256` it must be one of these.

    Raises CapsuleUnusable: no pip, no such wheel for this machine, another content.
    """
    into.mkdir(parents=True, exist_ok=True)
    hashes = "".join(f" --hash=sha256:{one}" for one in sha256)
    wanted = into / "wanted.txt"
    wanted.write_text(f"{name}=={version}{hashes}\n")
    words = ["download", "--no-deps", "--only-binary=:all:"]
    words += ["--require-hashes"] if sha256 else []
    _pip(f"{name} {version}", *words, "--dest", str(into), "--requirement", str(wanted))
    return next(into.glob("*.whl"))


def install_wheels(what: str, requirements: Path, target: Path) -> None:
    """Exactly the packages in a file of requirements, installed into a folder. Raises CapsuleUnusable."""
    words = ["install", "--no-deps", "--no-compile", "--only-binary=:all:"]
    _pip(what, *words, "--target", str(target), "--requirement", str(requirements))


def unpack_wheel(wheel: Path, into: Path) -> None:
    """Members stay below `into`; modes are those that the wheel says."""
    with zipfile.ZipFile(wheel) as archive:
        for member in archive.infolist():
            place = Path(archive.extract(member, into))
            mode = member.external_attr >> 16
            if not place.is_dir() and mode & 0o111:
                place.chmod(0o755)


def _pip(what: str, *words: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pip", *words, "--quiet", "--disable-pip-version-check", "--no-input"],
        capture_output=True,
        text=True,
        errors="replace",
        timeout=_SECONDS,
        check=False,
    )
    if done.returncode == 0:
        return
    if "No module named pip" in done.stderr:
        raise CapsuleUnusable(
            f"{what} is fetched with pip, which {sys.executable} lacks: {sys.executable} -m ensurepip"
        )
    why = " ".join(line for line in done.stderr.splitlines() if line.startswith("ERROR"))[-500:]
    raise CapsuleUnusable(f"{what} can't be fetched from the Python package index: {why or done.stderr[-500:]}")
