"""Makes programs of this machine work anywhere: with their own loader and libraries, linked for a capsule's place."""

from __future__ import annotations

import filecmp
import os
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path

from engine.agents.capsules.capsule import CapsuleUnusable
from engine.agents.capsules.elf import interpreter_of, is_elf, libraries_of, relink, search_path_of

LIBRARIES = "lib"
_LOADED_LATE = ("libnss_files.so.2", "libnss_dns.so.2", "libresolv.so.2", "libgcc_s.so.1")
"""What the C library loads by itself while a program runs: names of users and hosts, the end of a thread."""


def bundle(
    folder: Path,
    place: str,
    *,
    programs: Mapping[str, Path],
    modules: Iterable[Path] = (),
    libraries: Iterable[Path] = (),
) -> None:
    """Put programs into `folder` so that they run in any image of the same processor, whatever C library it has, once
    `folder` stands at `place` in `main`.

    `programs`: path within the capsule -> program on this machine. Each is copied, names the loader in
    `<place>/lib` and finds its libraries there, by its own RPATH and not by a variable: what it starts is not touched.
    One that is there already (source and target are the same file) is changed in place. A program that is linked
    statically is only copied.

    `modules`: shared objects that lie in `folder` already and are loaded while a program runs (Python's extension
    modules, say). Their libraries are brought along as well; libraries that lie in `folder` themselves stay where they
    are.

    `libraries`: more of them, that nothing names and that are loaded by name.

    The interpreter of a Python, for example, with its standard library copied to lib/python3.11 before:

        bundle(folder, place, programs={"bin/python3.11": real}, modules=(folder / "lib").rglob("*.so"))

    Raises CapsuleUnusable: no patchelf, no such program, a library that isn't on this machine.
    """
    bundled = _Bundle(folder, place)
    for target, source in programs.items():
        bundled.program(folder / target, source)
    for module in modules:
        bundled.module(module)
    for library in libraries:
        bundled.library(library.name, library)
    bundled.loaded_late()


class _Bundle:
    def __init__(self, folder: Path, place: str) -> None:
        self._folder = folder.resolve()
        self._place = place
        self._lib = self._folder / LIBRARIES
        self._loader: Path | None = None
        self._beside: set[Path] = set()  # folders of this machine that libraries came from

    def program(self, target: Path, source: Path) -> None:
        if not source.is_file():
            raise CapsuleUnusable(f"{source}: no such program on this machine")
        if not is_elf(source):
            raise CapsuleUnusable(f"{source} is a script or of another system, a capsule takes programs of Linux")
        loader = interpreter_of(source)
        if loader is not None and not loader.is_file():
            raise CapsuleUnusable(
                f"{source.name} needs the loader {loader}, which isn't here: it is made for another C library"
            )
        needed = libraries_of(source, loader) if loader is not None else {}
        if not (target.exists() and target.samefile(source)):
            _copy(source, target)
        if loader is None:
            return
        self._take_loader(loader)
        for name, library in needed.items():
            self.library(name, library)
        relink(target, interpreter=f"{self._place}/{LIBRARIES}/{loader.name}", search=[self._from(target)])

    def module(self, path: Path) -> None:
        if self._loader is None:
            raise CapsuleUnusable(f"{path.name}: a module needs a program of its capsule that is linked dynamically")
        if path.is_symlink() or not is_elf(path):
            return
        for name, library in libraries_of(path, self._loader).items():
            if not library.resolve().is_relative_to(self._folder):
                self.library(name, library)
        own = [part for part in search_path_of(path) if part.startswith("$ORIGIN")]
        if search_path_of(path):  # else it looks where the program looks
            relink(path, search=[*own, self._from(path)])

    def library(self, name: str, source: Path) -> None:
        self._beside.add(source.resolve().parent)
        target = self._lib / name
        if target.exists():
            return
        _copy(source, target)
        if search_path_of(target):  # a place of this machine, that must not be looked at in another
            relink(target, search=["$ORIGIN"])

    def loaded_late(self) -> None:
        for name in _LOADED_LATE:
            found = next((place / name for place in sorted(self._beside) if (place / name).is_file()), None)
            if found is not None and is_elf(found):
                self.library(name, found)

    def _take_loader(self, loader: Path) -> None:
        target = self._lib / loader.name
        if target.exists() and not filecmp.cmp(loader, target, shallow=False):
            raise CapsuleUnusable(f"programs of one capsule name two loaders, one of them {loader}")
        if not target.exists():
            _copy(loader, target)
        target.chmod(0o755)
        self._loader = loader

    def _from(self, path: Path) -> str:
        """The folder of libraries as it is seen from a file."""
        return f"$ORIGIN/{os.path.relpath(self._lib, path.resolve().parent)}"


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)
    target.chmod(0o755)
