"""Container tests (`@pytest.mark.docker`): they run where an engine answers, and say why where none does.

One probe serves the whole session, and is only made if a container test is about to run. Skipped ones are
counted in one line at the end; with CI set each is a failure instead.
"""

from __future__ import annotations

import functools
import itertools
import os
import tempfile

import pytest

from console.machine.docker_client import find_client
from console.machine.plan import missing_parts
from console.machine.suite import NO_ENGINE
from tests.workers import pytest_collection_modifyitems as pytest_collection_modifyitems
from tests.workers import pytest_handlecrashitem as pytest_handlecrashitem
from tests.workers import pytest_runtest_logreport as pytest_runtest_logreport
from tests.workers import pytest_runtest_protocol as pytest_runtest_protocol
from tests.workers import pytest_sessionstart as pytest_sessionstart
from tests.workers import pytest_xdist_make_scheduler as pytest_xdist_make_scheduler

NEEDS_ENGINE = "needs a Docker engine"
PLACES = pytest.StashKey[str]()
_count = itertools.count()


def pytest_configure(config: pytest.Config) -> None:
    """No test reads or writes what belongs to the person who runs it: settings, labels, what is remembered."""
    folder = tempfile.TemporaryDirectory(prefix="trialdeck-tests-")
    config.add_cleanup(folder.cleanup)
    config.stash[PLACES] = folder.name
    _own_places(f"{folder.name}/session")


def _own_places(folder: str) -> None:
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"):
        os.environ[name] = f"{folder}/{name.lower()}"


@pytest.fixture(autouse=True)
def own_places(request: pytest.FixtureRequest) -> None:
    """Nor does a test find what another one left there."""
    _own_places(f"{request.config.stash[PLACES]}/{next(_count)}")


@functools.cache
def why_no_engine() -> str | None:
    """Why container tests can't run here, or None where they can."""
    if told := os.environ.get(NO_ENGINE):
        return told
    client = find_client()
    if client is not None and client.fits:
        return None
    return f"missing here: {', '.join(missing_parts(client))}; `./dev test` provides it where it can"


def in_ci() -> bool:
    return os.environ.get("CI", "").lower() not in {"", "0", "false"}


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("docker") is None or (reason := why_no_engine()) is None:
        return
    if in_ci():
        pytest.fail(f"a container test may not be skipped in CI: {reason}", pytrace=False)
    pytest.skip(NEEDS_ENGINE)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    skipped = [
        report
        for report in terminalreporter.stats.get("skipped", [])
        if isinstance(report.longrepr, tuple) and str(report.longrepr[2]).endswith(NEEDS_ENGINE)
    ]
    if skipped:
        terminalreporter.write_line(f"container tests skipped: {len(skipped)}, because: {why_no_engine()}")
