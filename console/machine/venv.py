"""The project's own Python environment in `.venv`: made once, remade when what it depends on changes."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import re
import sys
from pathlib import Path

from console.machine import apt
from console.machine.command import run
from console.machine.disk import require_space
from console.machine.privilege import privilege
from console.machine.progress import Progress
from console.machine.trouble import Trouble

FOLDER = ".venv"
STAMP = "trialdeck-ready.json"
ROOM_GB = 1.0
VENV_LIMIT = 180.0
PIP_LIMIT = 1200.0
ASK_LIMIT = 20.0
# What another extra holds already, as pyproject.toml has it.
HELD_BY = {"dev": frozenset({"browser", "models"})}


def python_in(root: Path) -> Path:
    return root / FOLDER / "bin" / "python"


def digest(root: Path, python: str = sys.version, executable: str = sys.executable) -> str:
    """What an environment depends on: the project file, the Python, and where the checkout lies."""
    parts = ((root / "pyproject.toml").read_bytes(), python.encode(), executable.encode(), bytes(root))
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def stamped(root: Path) -> tuple[str, frozenset[str]]:
    """The digest and the extras of the last whole installation; empty where there is none to be trusted."""
    try:
        stamp = json.loads((root / FOLDER / STAMP).read_text(encoding="utf-8"))
        return str(stamp["digest"]), frozenset(str(name) for name in stamp["extras"])
    except (OSError, ValueError, KeyError, TypeError):
        return "", frozenset()


def is_ready(root: Path, extras: frozenset[str], wanted: str) -> bool:
    """Whether the environment was finished for this digest, with at least these extras."""
    made_for, there = stamped(root)
    held = there.union(*(HELD_BY.get(name, frozenset()) for name in there))
    return made_for == wanted and extras <= held and python_in(root).exists()


def ensure_venv(root: Path, progress: Progress, extras: frozenset[str] = frozenset()) -> Path:
    """Return the environment's Python, with trialdeck and `extras` installed (editable)."""
    try:
        wanted = digest(root)
    except FileNotFoundError:
        raise Trouble(f"{root} has no pyproject.toml", "run ./dev from a whole checkout of trialdeck") from None
    python = python_in(root)
    if is_ready(root, extras, wanted):
        return python
    require_space(root, ROOM_GB, f"making {FOLDER}")
    progress.say(f"Setting up {FOLDER} with Python {sys.version.split()[0]}:")
    # What was there stays: `./dev demo` takes nothing from `./dev test`, which would install it all anew.
    extras = extras | stamped(root)[1]
    _create(root, progress)
    # Without the stamp an interrupted installation is taken up again instead of trusted.
    stamp = root / FOLDER / STAMP
    stamp.unlink(missing_ok=True)
    _install(root, extras, progress)
    fresh = stamp.with_suffix(".new")
    fresh.write_text(json.dumps({"digest": wanted, "extras": sorted(extras)}), encoding="utf-8")
    fresh.replace(stamp)
    return python


def _create(root: Path, progress: Progress) -> None:
    folder = root / FOLDER
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise Trouble(f"{folder} is no folder of ours", "move it away, then run ./dev again")
    if folder.is_dir() and any(folder.iterdir()) and not (folder / "pyvenv.cfg").exists():
        raise Trouble(f"{folder} is there and is no Python environment", "move it away, then run ./dev again")
    if _same_python(python_in(root)):
        return
    _ensure_ensurepip(progress)
    with progress.step(f"making {FOLDER}"):
        done = run([sys.executable, "-m", "venv", "--clear", str(folder)], timeout=VENV_LIMIT)
        if not done.ok:
            raise Trouble(f"Python can't make {folder}", f"see its words below ({sys.executable})", done.tail())


def _same_python(python: Path) -> bool:
    """Whether the environment's Python still runs and is of the version that runs this."""
    program = "import sys, pip; print(sys.version)"
    done = run([str(python), "-c", program], timeout=ASK_LIMIT)
    return done.ok and done.output.strip() == sys.version.strip()


def _ensure_ensurepip(progress: Progress) -> None:
    """Debian and Ubuntu keep ensurepip, which venv needs, in a package of its own."""
    if importlib.util.find_spec("ensurepip") is not None:
        return
    package = f"python{sys.version_info.major}.{sys.version_info.minor}-venv"
    act = privilege() if apt.has_apt() else None
    if act is None:
        raise Trouble(
            f"this Python ({sys.executable}) lacks ensurepip, so it can make no environment",
            f"install it (Debian and Ubuntu: apt-get install {package}), or name another Python: PYTHON=…",
        )
    progress.say(f"  this Python lacks ensurepip; ./dev will install {package} with apt")
    act.unlock()
    apt.Apt(act, progress).install([package])


def _install(root: Path, extras: frozenset[str], progress: Progress) -> None:
    named = f".[{','.join(sorted(extras))}]" if extras else "."
    argv = [str(python_in(root)), "-m", "pip", "install", "--quiet", "--no-input", "--editable", named]
    with progress.step(f"installing trialdeck ({named}) with pip"):
        environ = {**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
        done = run(argv, timeout=PIP_LIMIT, cwd=root, env=environ)
        if not done.ok:
            raise explain(done.output)


def explain(output: str) -> Trouble:
    """Turn pip's output into the one thing that a person can act on."""
    evidence = "\n".join(output.strip().splitlines()[-12:])
    if "No space left on device" in output:
        return Trouble("pip: the disk is full", "free some space (see: df -h .)", evidence)
    if re.search(r"NewConnectionError|Name or service not known|name resolution|ConnectTimeout", output):
        return Trouble(
            "pip: the package index can't be reached",
            "check the network, the proxy and pip's settings (pip config list, PIP_* variables)",
            evidence,
        )
    if re.search(r"CERTIFICATE_VERIFY_FAILED|SSLError", output):
        return Trouble(
            "pip: the package index's certificate isn't trusted here",
            "name your certificates (PIP_CERT), or check the clock",
            evidence,
        )
    if re.search(r"No matching distribution found|Could not find a version", output):
        return Trouble("pip: a package can't be found on the index", "see its name below", evidence)
    return Trouble("pip couldn't install trialdeck", "see its words below", evidence)
