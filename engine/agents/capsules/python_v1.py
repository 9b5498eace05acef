"""The Python that this program runs on, with its own loader and libraries: for images that have none, or another."""

from __future__ import annotations

import platform
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

from engine.agents.capsules.bundle import bundle
from engine.agents.capsules.capsule import CapsuleUnusable, Contents, place_of
from engine.agents.capsules.recipe import Recipe, Say

PYTHON = "python3"
PYTHON_TAG = "python-v1"
_VERSION = f"python{sys.version_info.major}.{sys.version_info.minor}"
_COMPILE_SEC = 600.0
_LEFT_OUT = (
    "site-packages",
    "dist-packages",
    "__pycache__",
    "test",
    "tests",
    "idlelib",
    "tkinter",
    "turtledemo",
    "turtle.py",
    "ensurepip",
    "lib2to3",
    "pydoc_data",
    "config-*",
    "_tkinter.*",
    "_test*",
    "_ctypes_test.*",
    "_xxtestfuzz.*",
    "xxlimited*",
    "nis.*",
    "ossaudiodev.*",
    "_dbm.*",
    "_gdbm.*",
)
"""Tests, windows, and what needs libraries that few machines have; packages of this machine are none of the capsule's
business."""


def packages_of(folder: Path) -> Path:
    """Where the packages of a capsule's Python lie."""
    return folder / "lib" / _VERSION / "site-packages"


def put_python(folder: Path, place: str, say: Say) -> str:
    """The interpreter and its standard library into `folder`, which will stand at `place`; returns the interpreter's
    path within it.

    Extension modules, those of packages at `packages_of(folder)` too, get the libraries they need, and all is compiled
    for its place. Raises CapsuleUnusable.
    """
    program = f"bin/{_VERSION}"
    say(f"copy Python {platform.python_version()}")
    library = folder / "lib" / _VERSION
    for source in _standard_library():
        shutil.copytree(
            source,
            library,
            ignore=shutil.ignore_patterns(*_LEFT_OUT),
            dirs_exist_ok=True,
            ignore_dangling_symlinks=True,
        )
    for path in [
        path for path in library.rglob("*") if path.is_symlink() and not path.resolve().is_relative_to(folder)
    ]:
        _by_itself(path)
    modules = sorted(path for path in library.rglob("*.so*") if path.is_file() and not path.is_symlink())
    bundle(folder, place, programs={program: _interpreter()}, modules=modules)
    (folder / "bin" / PYTHON).symlink_to(_VERSION)
    _compile(library, folder, place)
    return f"bin/{PYTHON}"


def _make(tag: str, folder: Path, say: Say) -> Contents:
    program = put_python(folder, place_of(tag), say)
    return Contents(versions={"python": platform.python_version()}, programs={PYTHON: program})


RECIPE = Recipe(
    tag=PYTHON_TAG,
    example=PYTHON_TAG,
    summary=f"Python {platform.python_version()} with its standard library",
    make=_make,
    network=False,
)


def _standard_library() -> list[Path]:
    """Modules in Python and, where they lie elsewhere, those in C."""
    found = [Path(sysconfig.get_path("stdlib", vars={"base": sys.base_prefix, "installed_base": sys.base_prefix}))]
    if not (found[0] / "os.py").is_file():
        raise CapsuleUnusable(f"{found[0]} holds no standard library of Python: it must lie in files to be carried in")
    platstdlib = Path(
        sysconfig.get_path(
            "platstdlib", vars={"platbase": sys.base_exec_prefix, "installed_platbase": sys.base_exec_prefix}
        )
    )
    return found if platstdlib == found[0] or not platstdlib.is_dir() else [*found, platstdlib]


def _interpreter() -> Path:
    """The program behind links and virtual environments."""
    return Path(getattr(sys, "_base_executable", "") or sys.executable).resolve()


def _by_itself(link: Path) -> None:
    """A link that leads out of the capsule becomes what it leads to."""
    target = link.resolve()
    link.unlink()
    if target.is_file():
        shutil.copyfile(target, link)


def _compile(library: Path, root: Path, place: str) -> None:
    """Compiled files that say what they were made from by its hash, and are not checked again: a copy has other times,
    and the same capsule has the same bytes whenever it is built."""
    words = ["compileall", "-q", "-f", "--invalidation-mode", "unchecked-hash", "-s", str(root), "-p", place]
    subprocess.run(
        [str(_interpreter()), "-I", "-m", *words, str(library)],
        check=False,  # packages hold templates and tests that are no Python of this version
        capture_output=True,
        timeout=_COMPILE_SEC,
    )
