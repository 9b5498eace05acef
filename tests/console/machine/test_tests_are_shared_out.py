"""What tests/workers.py does with tests in several processes, seen from outside."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from console.machine.suite import SHARED_OUT
from tests.workers import LONGEST_SEC

ROOT = Path(__file__).resolve().parents[3]
ENGINE_HERE = "import tests.conftest\ntests.conftest.why_no_engine = lambda: None\n"
TESTS = """
import os, pathlib, pytest

@pytest.fixture(autouse=True)
def noted(request):
    here = pathlib.Path(__file__)
    with (here.parent / "noted").open("a") as file:
        file.write(os.environ["PYTEST_XDIST_WORKER"] + " " + here.name + "::" + request.node.name + "\\n")

@pytest.mark.parametrize("number", range(3))
def test_plain(number): pass

@pytest.mark.docker
@pytest.mark.parametrize("number", range(3))
def test_in_a_container(number): pass
"""
SKIPPED = """
def test_skipped(): pytest.skip("not on this machine")
"""


def shared_out(folder: Path, conftest: str = "", **files: str) -> subprocess.CompletedProcess[str]:
    (folder / "conftest.py").write_text(f"{ENGINE_HERE}from tests.conftest import *\n{conftest}")
    (folder / "pytest.ini").write_text("[pytest]\naddopts = -ra --strict-markers\nmarkers =\n    docker: an engine\n")
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    return subprocess.run(
        [sys.executable, "-m", "pytest", *SHARED_OUT, "-p", "xdist", "-p", "no:cacheprovider", str(folder)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


def workers_of(noted: list[tuple[str, str]], *parts: str) -> list[str]:
    return [worker for worker, test in noted if all(part in test for part in parts)]


def test_container_tests_are_in_one_process_and_so_are_those_of_each_file(tmp_path: Path) -> None:
    done = shared_out(tmp_path, test_a=TESTS, test_b=TESTS, test_c=TESTS + SKIPPED)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = (tmp_path / "noted").read_text().splitlines()
    noted = [(worker, test) for worker, _, test in (line.partition(" ") for line in lines)]
    assert len(noted) == len({test for _, test in noted}) == 3 * 6 + 1
    containers = [worker for worker, test in noted if "in_a_container" in test]
    assert len(containers) == 9 and len(set(containers)) == 1
    for name in ("test_a.py", "test_b.py", "test_c.py"):
        assert len(set(workers_of(noted, name, "test_plain"))) == 1
    first = {worker: test for worker, test in reversed(noted)}
    assert "in_a_container" in first[containers[0]], "they begin at once"
    assert "SKIPPED [1] test_c.py:" in done.stdout and "not on this machine" in done.stdout
    assert " 18 passed, 1 skipped in " in done.stdout.splitlines()[-1]


def test_a_test_that_brings_its_process_down_fails_alone_and_under_its_name(tmp_path: Path) -> None:
    dies = "\n@pytest.mark.docker\ndef test_that_dies(): os._exit(0)\n"
    after = "\n@pytest.mark.docker\ndef test_that_fails_afterwards(): assert 0\n"
    done = shared_out(tmp_path, test_a=TESTS + dies + after)
    assert done.returncode == 1
    told = f"The process that ran test_a.py::test_that_dies died. A test that takes more than {LONGEST_SEC:.0f} s is"
    assert told in done.stdout
    assert "FAILED test_a.py::test_that_dies\n" in done.stdout
    assert "FAILED test_a.py::test_that_fails_afterwards - assert 0\n" in done.stdout
    assert " 2 failed, 6 passed in " in done.stdout.splitlines()[-1]
    assert (tmp_path / "noted").read_text().count("test_that_dies") == 1


def test_a_test_that_hangs_is_ended_and_what_it_was_at_is_told(tmp_path: Path) -> None:
    hangs = "import threading\n\ndef test_that_hangs():\n    threading.Event().wait()\n"
    done = shared_out(tmp_path, "import tests.workers\ntests.workers.LONGEST_SEC = 1\n", test_a=hangs)
    assert done.returncode == 1
    assert "Timeout (0:00:01)!" in done.stderr and "line 4 in test_that_hangs" in done.stderr
    assert "FAILED test_a.py::test_that_hangs\n" in done.stdout
    assert " 1 failed in " in done.stdout.splitlines()[-1]
