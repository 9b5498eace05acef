"""How a capsule is built: the part that differs from one to the other."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import msgspec

from engine.agents.capsules.capsule import Contents

Say = Callable[[str], None]
"""Takes a line about what is done now."""


class Recipe(msgspec.Struct, frozen=True, kw_only=True):
    """`tag` is how its tags are written: `node24-v1`, or with a version in it `claude-code-{version}`. `example` is a
    tag that can be built as it stands. `make(tag, folder, say)` fills an empty folder, which will stand at
    `place_of(tag)` in `main`; it raises CapsuleUnusable with the way out, and may take minutes. `network`: it
    downloads.
    """

    tag: str
    example: str
    summary: str
    make: Callable[[str, Path, Say], Contents]
    network: bool = True

    def matches(self, tag: str) -> bool:
        pattern = re.escape(self.tag).replace(r"\{version\}", r"\d+(?:\.\d+)*(?:[.+-][0-9a-z.]+)?")
        return re.fullmatch(pattern, tag, re.ASCII) is not None

    def version_in(self, tag: str) -> str:
        return tag[len(self.tag.partition("{")[0]) :]
