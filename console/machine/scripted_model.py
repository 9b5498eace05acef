"""The scripted model server that `./dev demo` gives its third arm: a process of its own, that outlives the console."""

from __future__ import annotations

import json
import select
import subprocess
from pathlib import Path

from console.machine.trouble import Trouble

SCRIPT = "sample_runs/scripts/demo.toml"
START_SEC = 30.0
IDLE_SEC = 1800
"""It stops when no trial has asked it for so long."""


def start_scripted_model(root: Path, python: Path) -> str:
    """Start it; returns the base URL at which it speaks OpenAI Chat. Raises Trouble where it doesn't come up."""
    command = [str(python), "-m", "engine.models.scripted", "--script", SCRIPT, "--idle", str(IDLE_SEC)]
    server = subprocess.Popen(
        command,
        cwd=root,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # an interrupt at the console is not for it
    )
    assert server.stdout is not None
    with server.stdout as answers:
        ready, _, _ = select.select([answers], [], [], START_SEC)
        line = answers.readline() if ready else b""
    try:
        return str(json.loads(line)["openai-chat"])
    except (ValueError, KeyError, TypeError):
        server.kill()
        server.wait()
        raise Trouble("the scripted model server did not start", f"look at what it says: {' '.join(command)}") from None
