"""What tests/conftest.py does with container tests where there is no engine, seen from outside."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
TESTS = """
import pytest

@pytest.mark.docker
def test_first(): raise AssertionError("ran without an engine")

@pytest.mark.docker
def test_second(): raise AssertionError("ran without an engine")

def test_plain(): pass
"""


def run_pytest(folder: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    (folder / "conftest.py").write_text("from tests.conftest import *\n")
    (folder / "pytest.ini").write_text("[pytest]\nmarkers =\n    docker: needs an engine\n")
    (folder / "test_sample.py").write_text(TESTS)
    inherited = {name: value for name, value in os.environ.items() if name not in {"CI", "TRIALDECK_NO_ENGINE"}}
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", str(folder)],
        cwd=folder,
        env={**inherited, "PYTHONPATH": str(ROOT), **environ},
        capture_output=True,
        text=True,
        check=False,
    )


def test_without_an_engine_container_tests_are_counted_in_one_line_that_says_why(tmp_path: Path) -> None:
    done = run_pytest(tmp_path, TRIALDECK_NO_ENGINE="dockerd is on holiday")
    assert done.returncode == 0, done.stdout
    saying = [line for line in done.stdout.splitlines() if "dockerd is on holiday" in line]
    assert saying == ["container tests skipped: 2, because: dockerd is on holiday"]
    assert "1 passed, 2 skipped" in done.stdout


@pytest.mark.parametrize("ci", ["true", "1"])
def test_in_ci_a_container_test_that_cannot_run_fails(tmp_path: Path, ci: str) -> None:
    done = run_pytest(tmp_path, TRIALDECK_NO_ENGINE="dockerd is on holiday", CI=ci)
    assert done.returncode == 1, done.stdout
    assert "may not be skipped in CI: dockerd is on holiday" in done.stdout
    assert "1 passed, 2 errors" in done.stdout


def test_ci_set_to_false_is_not_ci(tmp_path: Path) -> None:
    done = run_pytest(tmp_path, TRIALDECK_NO_ENGINE="dockerd is on holiday", CI="false")
    assert done.returncode == 0, done.stdout
