"""What `./dev test` runs, and how it ends."""

from __future__ import annotations

import os
from io import StringIO
from pathlib import Path

import pytest

from console.machine.progress import Progress
from console.machine.suite import BESIDE, CHECKS, SHARED_OUT, Check, run_suite

FAKE = """#!/bin/sh
echo "$@" >> {folder}/ran
case "$*" in *"{failing}"*) echo "what is wrong with it"; exit {code};; esac
"""


class Suite:
    """`run_suite` with a Python that only writes down what it is asked for, and fails in one thing."""

    def __init__(self, folder: Path, failing: str = "nothing", code: int = 1) -> None:
        self.folder = folder
        self.said = StringIO()
        self.python = folder / "python"
        self.python.write_text(FAKE.format(folder=folder, failing=failing, code=code))
        self.python.chmod(0o755)

    def run(self, *arguments: str) -> int:
        return run_suite(self.folder, self.python, arguments, os.environ, Progress(self.said))

    @property
    def ran(self) -> list[str]:
        return (self.folder / "ran").read_text().splitlines()


def test_the_whole_suite_is_the_checks_and_then_pytest_in_two_processes(tmp_path: Path) -> None:
    suite = Suite(tmp_path)
    assert suite.run() == 0
    pytest_and_mypy = {f"-m pytest {' '.join(SHARED_OUT)}", " ".join(BESIDE.arguments)}
    assert suite.ran[:-2] == [" ".join(check.arguments) for check in CHECKS] and set(suite.ran[-2:]) == pytest_and_mypy
    assert SHARED_OUT[:2] == ("-n", "2")
    *checks, beside = suite.said.getvalue().splitlines()
    assert [line.split(" … ")[0].strip() for line in checks] == [check.name for check in CHECKS]
    assert beside == "  mypy runs beside pytest, and is told of only if it fails"


def test_with_arguments_it_is_pytest_alone_in_one_process(tmp_path: Path) -> None:
    suite = Suite(tmp_path)
    assert suite.run("-k", "some name", "tests/console") == 0
    assert suite.ran == ["-m pytest -k some name tests/console"]


@pytest.mark.parametrize("check", [*CHECKS, BESIDE], ids=lambda check: check.name)
def test_a_failed_check_keeps_no_test_from_running_and_fails_the_suite(tmp_path: Path, check: Check) -> None:
    suite = Suite(tmp_path, failing=" ".join(check.arguments))
    assert suite.run() == 1
    assert len(suite.ran) == len(CHECKS) + 2 and any(line.startswith("-m pytest") for line in suite.ran)
    said = suite.said.getvalue().splitlines()
    assert f"{check.name} failed:" in said and "what is wrong with it" in said
    assert said[-1] == f"failed beside the tests: {check.name} (see above)"


def test_what_pytest_ends_with_is_what_the_suite_ends_with(tmp_path: Path) -> None:
    suite = Suite(tmp_path, failing="-m pytest", code=5)
    assert suite.run() == 5
