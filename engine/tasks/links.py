"""Symbolic links of a task folder that lead out of it: what they point to is not part of the task."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from engine.tasks.digest import IGNORED


def links_that_leave(folder: Path) -> Iterator[Path]:
    """Each link below `folder` whose target lies outside, dangling ones included.

    Links are not followed into; one to a folder inside the task is fine, since that folder is looked at as
    well.
    """
    root = os.path.realpath(folder)
    for place, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if os.fsencode(name) not in IGNORED]
        for name in (*folders, *files):
            path = os.path.join(place, name)  # noqa: PTH118 - names that are not UTF-8 stay str
            if not os.path.islink(path):  # noqa: PTH114
                continue
            target = os.path.realpath(path)
            if target != root and not target.startswith(root.rstrip("/") + "/"):
                yield Path(path)
