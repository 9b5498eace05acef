"""Where tests find the data that is read in place and never committed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


def shared_data(*parts: str) -> Path:
    """A path below the shared folder's `data`; skips the test, with the reason, where it isn't there.

    The shared folder is `$TRIALDECK_SHARED`, else `shared` beside the project root.
    """
    given = os.environ.get("TRIALDECK_SHARED")
    shared = Path(given) if given else Path(__file__).resolve().parents[2] / "shared"
    path = shared.joinpath("data", *parts)
    if not path.exists():
        pytest.skip(f"no shared data {'/'.join(parts)}: set TRIALDECK_SHARED to the folder that holds data/")
    return path
