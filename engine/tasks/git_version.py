"""The git commit that a folder of tasks stands at."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

TIMEOUT_SEC = 10.0  # for each git command: a version is worth having, not worth waiting for


def git_version(folder: Path) -> str:
    """The commit in hex, with `-dirty` where files in `folder` differ from it; "" where the folder is not in
    one.

    A folder that merely lies inside some work tree, and isn't part of its commit, has no version.
    """
    commit = _git(folder, "rev-parse", "--verify", "HEAD")
    if not commit or _git(folder, "rev-parse", "--verify", "HEAD:./") is None:
        return ""
    changes = _git(folder, "status", "--porcelain", "--untracked-files=normal", "--", ".")
    return commit if changes == "" else f"{commit}-dirty"


def _git(folder: Path, *arguments: str) -> str | None:
    """Output without the final newline, None for whatever went wrong."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment["GIT_OPTIONAL_LOCKS"] = "0"
    try:
        done = subprocess.run(
            ["git", "-C", folder, *arguments],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=TIMEOUT_SEC,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.decode("utf-8", "replace").strip() if done.returncode == 0 else None
