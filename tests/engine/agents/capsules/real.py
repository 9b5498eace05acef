"""Real capsules for tests: built once, kept from one test session to the next, skipped where no registry answers."""

from __future__ import annotations

import functools
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.agents.capsules.build import find_or_build
from engine.agents.capsules.capsule import Capsule, CapsuleUnusable
from engine.agents.capsules.recipes import recipe_for

ASK_SEC = 60.0


@pytest.fixture
def built_capsules(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[Capsule]]:
    """Give it tags. From then on the test finds them where a user's capsules are."""
    assert request.config.cache is not None
    monkeypatch.setenv("XDG_CACHE_HOME", str(Path(request.config.cache.mkdir("capsules"))))

    def built(*tags: str) -> list[Capsule]:
        return [_built(tag) for tag in tags]

    return built


def _built(tag: str) -> Capsule:
    if tag == "tmux-v1" and shutil.which("tmux") is None:
        pytest.skip("tmux isn't here: the capsule is made of this machine's")
    try:
        return find_or_build(tag, lambda line: None)
    except CapsuleUnusable as error:
        if recipe_for(tag).network and (why := _no_registry()):
            pytest.skip(f"capsule {tag} can't be built here: {why}")
        pytest.fail(str(error), pytrace=False)


@functools.cache
def _no_registry() -> str:
    """Why nothing can be downloaded here, "" where it can."""
    npm = shutil.which("npm")
    if npm is None:
        return "npm isn't here"
    if not _answers([npm, "view", "npm", "version"]):
        return "the npm registry can't be reached"
    if not _answers([sys.executable, "-m", "pip", "index", "versions", "pip"]):
        return "the Python package index can't be reached"
    return ""


def _answers(command: list[str]) -> bool:
    try:
        return subprocess.run(command, capture_output=True, timeout=ASK_SEC, check=False).returncode == 0
    except subprocess.TimeoutExpired:
        return False
