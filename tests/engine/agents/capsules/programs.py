"""Programs of this machine, bundled for a folder."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

RUN_SEC = 60.0


def program(name: str) -> Path:
    found = shutil.which(name)
    assert found is not None, f"{name} isn't on this machine"
    return Path(found).resolve()


def output_of(*command: str | Path, env: Mapping[str, str] | None = None) -> str:
    done = subprocess.run(
        [str(word) for word in command],
        capture_output=True,
        text=True,
        timeout=RUN_SEC,
        check=False,
        env={**os.environ, **(env or {})},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
