"""The whole test suite: static checks, then pytest."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from console.machine.command import run
from console.machine.progress import Progress

CHECK_LIMIT = 600.0
SHARED_OUT = ("-n", "2", "--dist", "loadgroup", "--no-loadscope-reorder")
"""Two processes: one begins with the tests that need containers, one after the other, while the second does the rest
(tests/workers.py). More would gain nothing, since the containers are what takes long."""
NO_ENGINE = "TRIALDECK_NO_ENGINE"
"""The environment variable that tells pytest why there is no engine, once `./dev` has tried."""


@dataclass(frozen=True)
class Check:
    name: str
    arguments: tuple[str, ...]


CHECKS = (
    Check("ruff check", ("-m", "ruff", "check", "--quiet", ".")),
    Check("ruff format --check", ("-m", "ruff", "format", "--check", ".")),
    Check("mypy", ("-m", "mypy", "--no-error-summary")),
    Check("lint-imports", ("-c", "import sys; from importlinter.cli import lint_imports_command as c; c()")),
)


def run_suite(
    root: Path, python: Path, arguments: Sequence[str], environ: Mapping[str, str], progress: Progress
) -> int:
    """Run the suite and return its exit status; with pytest arguments only pytest runs, in one process.

    A failed check doesn't keep the tests from running, and is named again at the end.
    """
    checks = () if arguments else CHECKS
    failed = [check.name for check in checks if not _passes(root, python, check, progress)]
    sys.stderr.flush()
    argv = [str(python), "-m", "pytest", *(arguments or SHARED_OUT)]
    tests = subprocess.run(argv, cwd=root, env=dict(environ), check=False)
    if failed:
        progress.say(f"failed before pytest: {', '.join(failed)} (see above)")
    return tests.returncode or (1 if failed else 0)


def _passes(root: Path, python: Path, check: Check, progress: Progress) -> bool:
    with progress.step(check.name):
        done = run([str(python), *check.arguments], timeout=CHECK_LIMIT, cwd=root)
    if not done.ok:
        progress.say(f"{check.name} failed:")
        progress.say(done.output.rstrip())
    return done.ok
