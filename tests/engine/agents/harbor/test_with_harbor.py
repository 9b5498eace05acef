"""The tests of this folder that need Harbor, run by an interpreter that has it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from engine.agents.harbor.presence import harbor_version
from tests.harbor import require_deck_python

HERE = Path(__file__).resolve().parent
PROJECT = HERE.parents[3]
BOUND_SEC = 600.0
NOT_HERE = pytest.mark.skipif(bool(harbor_version()), reason="Harbor is in this interpreter: they ran by themselves")


@NOT_HERE
def test_the_adapter_and_its_agents() -> None:
    _run("not docker")


@NOT_HERE
@pytest.mark.docker
def test_harbors_agents_in_real_containers() -> None:
    _run("docker")


def _run(marker: str) -> None:
    python = require_deck_python()
    done = subprocess.run(
        [str(python), "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", marker, str(HERE)],
        cwd=PROJECT,
        env={**os.environ, "PYTHONPATH": str(PROJECT), "HARBOR_TELEMETRY": "off"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=BOUND_SEC,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    assert " passed" in done.stdout, done.stdout[-2000:]
