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
    words = ["download", "--quiet", "--no-deps", "--only-binary=:all:", "--disable-pip-version-check", "--no-input"]
    words += ["--require-hashes"] if sha256 else []
    done = subprocess.run(
        [sys.executable, "-m", "pip", *words, "--dest", str(into), "--requirement", str(wanted)],
        capture_output=True,
        text=True,
        errors="replace",
        timeout=_SECONDS,
        check=False,
    )
    if done.returncode != 0:
        if "No module named pip" in done.stderr:
            raise CapsuleUnusable(
                f"{name} {version} is fetched with pip, which {sys.executable} lacks: {sys.executable} -m ensurepip"
            )
        why = " ".join(line for line in done.stderr.splitlines() if line.startswith("ERROR"))[-500:]
        raise CapsuleUnusable(
            f"{name} {version} can't be fetched from the Python package index: {why or done.stderr[-500:]}"
        )
    return next(into.glob("*.whl"))


def unpack_wheel(wheel: Path, into: Path) -> None:
    """Members stay below `into`; modes are those that the wheel says."""
    with zipfile.ZipFile(wheel) as archive:
        for member in archive.infolist():
            place = Path(archive.extract(member, into))
            mode = member.external_attr >> 16
            if not place.is_dir() and mode & 0o111:
                place.chmod(0o755)
