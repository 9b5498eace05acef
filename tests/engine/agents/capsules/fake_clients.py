"""An npm and a pip that answer as they are told, and write down what they were asked."""

from __future__ import annotations

import io
import sys
import tarfile
from pathlib import Path

import pytest

from engine.agents.capsules.npm_pack import integrity_of

NPM = """#!{python}
import json, pathlib, shutil, sys
here = pathlib.Path({folder!r})
with (here / "asked.txt").open("a") as file:
    file.write(" ".join(sys.argv[1:]) + "\\n")
if (here / "fails.txt").exists():
    sys.stderr.write((here / "fails.txt").read_text())
    sys.exit(1)
if sys.argv[1] == "view":
    print((here / "view.json").read_text())
else:
    target = pathlib.Path(sys.argv[sys.argv.index("--pack-destination") + 1])
    shutil.copyfile(here / "package.tgz", target / "scope-package-1.0.0.tgz")
    print((here / "pack.json").read_text())
"""


class FakeNpm:
    """Put into PATH. `package` is what it packs; `view` what it says of its integrity."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        folder.mkdir()
        (folder / "npm").write_text(NPM.format(python=sys.executable, folder=str(folder)))
        (folder / "npm").chmod(0o755)
        monkeypatch.setenv("PATH", str(folder))
        (folder / "pack.json").write_text('[{"filename": "@scope/package-1.0.0.tgz", "version": "1.0.0"}]')
        self.package({"package/cli": b"#!/bin/sh\n"})

    def package(self, files: dict[str, bytes]) -> None:
        with tarfile.open(self.folder / "package.tgz", "w:gz") as archive:
            for name, content in files.items():
                member = tarfile.TarInfo(name)
                member.size, member.mode = len(content), 0o755
                archive.addfile(member, io.BytesIO(content))
        self.integrity = integrity_of(self.folder / "package.tgz")
        (self.folder / "view.json").write_text(f'"{self.integrity}"')

    def says(self, text: str) -> None:
        """Of the integrity."""
        (self.folder / "view.json").write_text(text)

    def fails(self, words: str) -> None:
        (self.folder / "fails.txt").write_text(words)

    @property
    def asked(self) -> list[str]:
        return (self.folder / "asked.txt").read_text().splitlines()
