"""An image with next to nothing in it: a shell and three programs, and a loader where no other program looks for it."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Any

from engine.agents.capsules.bundle import bundle
from tests.engine.agents.capsules.programs import program

DOCKERFILE = "FROM scratch\nCOPY root /\n"


def bare_image(folder: Path) -> dict[str, Any]:
    """What `rig.up` takes for it. No Node, no Python, no tmux, no tar, no certificates, no /lib64."""
    folder.mkdir(parents=True)
    names = {"sh": "dash", "sleep": "sleep", "cat": "cat", "mkdir": "mkdir"}
    try:
        shell = program(names["sh"])
    except AssertionError:
        shell = program("sh")
    programs = {"bin/sh": shell, **{f"bin/{name}": program(name) for name in names if name != "sh"}}
    root = folder / "root"
    bundle(root, "", programs=programs)
    (root / "etc").mkdir()
    (root / "etc" / "passwd").write_text("root:x:0:0:root:/tmp:/bin/sh\nagent:x:1000:1000::/tmp:/bin/sh\n")
    (root / "tmp").mkdir()
    (root / "tmp").chmod(0o1777)
    (folder / "Dockerfile").write_text(DOCKERFILE)
    return {"build_context": folder, "content_digest": secrets.token_hex(16), "image": None}
