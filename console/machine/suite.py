"""The whole test suite: static checks and pytest."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from console.machine.command import Outcome, run
from console.machine.progress import Progress

CHECK_LIMIT = 600.0
SHARED_OUT = ("-n", "2", "--dist", "loadgroup", "--no-loadscope-reorder")
"""Two processes, for the two cores of CI: one begins with the tests that need containers, one after the other, while
the second does the rest (tests/workers.py)."""
NO_ENGINE = "TRIALDECK_NO_ENGINE"
"""The environment variable that tells pytest why there is no engine, once `./dev` has tried."""


@dataclass(frozen=True)
class Check:
    name: str
    arguments: tuple[str, ...]


CHECKS = (
    Check("ruff check", ("-m", "ruff", "check", "--quiet", ".")),
    Check("ruff format --check", ("-m", "ruff", "format", "--check", ".")),
    Check("lint-imports", ("-c", "import sys; from importlinter.cli import lint_imports_command as c; c()")),
)
BESIDE = Check("mypy", ("-m", "mypy", "--no-error-summary"))
"""Takes half a minute of one core, of which the container tests leave some."""


def run_suite(
    root: Path, python: Path, arguments: Sequence[str], environ: Mapping[str, str], progress: Progress
) -> int:
    """Run the suite and return its exit status; with pytest arguments only pytest runs, in one process.

    A failed check doesn't keep the tests from running, and is named again at the end. Otherwise pytest's own summary
    is the last word.
    """
    if arguments:
        return _pytest(root, python, arguments, environ)
    failed = [check.name for check in CHECKS if not _passes(root, python, check, progress)]
    progress.say(f"  {BESIDE.name} runs beside pytest, and is told of only if it fails")
    with ThreadPoolExecutor(max_workers=1) as aside:
        beside = aside.submit(_passes_beside, root, python, progress)
        code = _pytest(root, python, SHARED_OUT, environ)
        if not beside.result():
            failed.append(BESIDE.name)
    if failed:
        progress.say(f"failed beside the tests: {', '.join(failed)} (see above)")
    return code or (1 if failed else 0)


def _pytest(root: Path, python: Path, arguments: Sequence[str], environ: Mapping[str, str]) -> int:
    sys.stderr.flush()
    return subprocess.run(
        [str(python), "-m", "pytest", *arguments], cwd=root, env=dict(environ), check=False
    ).returncode


def _passes(root: Path, python: Path, check: Check, progress: Progress) -> bool:
    with progress.step(check.name):
        done = _run(root, python, check)
    if not done.ok:
        progress.say(f"{check.name} failed:\n{done.output.rstrip()}")
    return done.ok


def _passes_beside(root: Path, python: Path, progress: Progress) -> bool:
    """What is wrong is said at once, in one piece, below the dots that pytest has printed so far."""
    done = _run(root, python, BESIDE)
    if not done.ok:
        progress.say(f"\n{BESIDE.name} failed:\n{done.output.rstrip()}")
    return done.ok


def _run(root: Path, python: Path, check: Check) -> Outcome:
    return run([str(python), *check.arguments], timeout=CHECK_LIMIT, cwd=root)
