"""The secrets that one trial of a Harbor agent works with: known by name or by where they come from, shown nowhere."""

from __future__ import annotations

import contextlib
import os
import re
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from engine.models.resolve import NO_KEY

SHOWN_AS = "***"
SHORTEST = 8
MOST_BYTES = 64 << 20
"""Larger files of an agent's folder aren't rewritten; they are taken away if a secret is in them."""

_NAMED = re.compile(r"KEY|SECRET|TOKEN(?!S)|PASSWORD|CREDENTIAL|AUTH", re.IGNORECASE)
_FLAG = re.compile(r"\s*(?:true|false|yes|no|[0-9]*|none|null)\s*", re.IGNORECASE)
_NO_SECRET = re.compile(r"MCP_AUTH_[0-9A-F]{32}_|.*_(?:FILE|PATH|URL|NAME)$", re.IGNORECASE)
"""Harbor's own variables for MCP headers, which hold all of them; and those that say where a secret is."""


def names_a_secret(name: str) -> bool:
    """Whether a variable, an option or a header of this name holds one."""
    return bool(_NAMED.search(name)) and not _NO_SECRET.match(name)


class Secrets:
    """`hide` is told of each as it becomes known."""

    def __init__(self, hide: Callable[[str], None]) -> None:
        self._hide = hide
        self._values: list[str] = []

    def add(self, value: str | None) -> None:
        if not value or value == NO_KEY or value in self._values:
            return
        if len(value) >= SHORTEST and not _FLAG.fullmatch(value):
            self._values = sorted({*self._values, value}, key=len, reverse=True)
            self._hide(value)

    def add_named(self, env: Mapping[str, str]) -> None:
        """Those among variables whose names say so."""
        for name, value in env.items():
            if names_a_secret(name):
                self.add(value)

    def out_of(self, text: str) -> str:
        for value in self._values:
            text = text.replace(value, SHOWN_AS)
        return text

    def out_of_folder(self, folder: Path) -> list[str]:
        """Replace them in every file of a folder. Returns what had to be taken away instead. Follows no link."""
        taken: list[str] = []
        if not self._values:
            return taken
        wanted = [value.encode("utf-8", "surrogateescape") for value in self._values]
        for root, _, names in os.walk(folder):
            for name in names:
                path = Path(root) / name
                with contextlib.suppress(OSError):
                    if path.is_symlink() or not path.is_file() or not _holds_any(path, wanted):
                        continue
                    if path.stat().st_size > MOST_BYTES:
                        path.unlink()
                        taken.append(str(path.relative_to(folder)))
                    else:
                        _rewrite(path, wanted)
        return taken


def _holds_any(path: Path, wanted: list[bytes]) -> bool:
    longest = max(map(len, wanted))
    before = b""
    with path.open("rb") as file:
        while bite := file.read(1 << 20):
            data = before + bite
            if any(value in data for value in wanted):
                return True
            before = data[-longest:]
    return False


def _rewrite(path: Path, wanted: list[bytes]) -> None:
    data = path.read_bytes()
    for value in wanted:
        data = data.replace(value, SHOWN_AS.encode())
    descriptor, made = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:100]}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        Path(made).chmod(path.stat().st_mode & 0o777)
        Path(made).replace(path)
    except OSError:
        Path(made).unlink(missing_ok=True)
        raise
