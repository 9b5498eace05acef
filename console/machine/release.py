"""Which operating system this is, and what its distribution calls the packages we need."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path

OS_RELEASE = Path("/etc/os-release")

NEXT_SUITE = {"bookworm": "trixie"}
"""Suites whose own Compose is version 1, and the next one, whose Docker packages need no newer libc.

Only pairs that were tried are listed: the next suite's packages must install without pulling in its libc.
"""


@dataclass(frozen=True)
class Release:
    """The fields of os-release that matter here; a field that the file lacks is empty."""

    id: str
    version: str
    codename: str
    name: str

    @property
    def has_apt_docker(self) -> bool:
        """Whether this distribution's own packages (or its next suite's) hold Docker with Compose 2."""
        if self.id == "debian":
            return self.major >= 12 or not self.version  # testing and unstable name no version
        return self.id == "ubuntu" and self.major >= 22

    @property
    def major(self) -> int:
        head = self.version.partition(".")[0]
        return int(head) if head.isdigit() else 0

    @property
    def next_suite(self) -> str | None:
        """The suite that Docker has to come from where this release's own is too old."""
        return NEXT_SUITE.get(self.codename) if self.id == "debian" else None


def parse_release(text: str) -> Release:
    """Read os-release: shell-like lines `KEY=value`, quoted or not."""
    values: dict[str, str] = {}
    for line in text.splitlines():
        key, equals, value = line.strip().partition("=")
        if not equals or key.startswith("#"):
            continue
        try:
            values[key] = "".join(shlex.split(value))
        except ValueError:  # an unbalanced quote: keep the text, it's only for people
            values[key] = value
    return Release(
        id=values.get("ID", ""),
        version=values.get("VERSION_ID", ""),
        codename=values.get("VERSION_CODENAME", ""),
        name=values.get("PRETTY_NAME", values.get("ID", "")),
    )


def this_release(path: Path = OS_RELEASE) -> Release | None:
    """This machine's release, or None where there is no os-release (macOS, Windows)."""
    try:
        return parse_release(path.read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return None
