"""How tests are shared out where pytest-xdist runs several at once (`./dev test` without arguments).

The tests of one file stay together and in order, and share what is made once for them. All tests that use real
containers are one group, which begins first and stays with one worker: no two of them are ever under way at once, so
that none sweeps, counts or starves what another one has.

A worker that dies, or whose test hangs, costs that one test: it has failed, and the rest goes on in a new worker.
"""

from __future__ import annotations

import faulthandler
import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from xdist.remote import Producer
    from xdist.scheduler import LoadGroupScheduling
    from xdist.workermanage import WorkerController

LONGEST_SEC = 600.0
"""A test of a worker that takes longer hangs. The slowest one builds Harbor's environment first."""
_SAID = pytest.StashKey[int]()
"""The worker's own stderr, which no test captures."""

CONTAINERS = "containers"
_SUFFIX = f"@{CONTAINERS}"
"""xdist appends it to the node ids of the group, and knows the group by it."""


def uses_containers(item: pytest.Item) -> bool:
    return item.get_closest_marker("docker") is not None


def in_worker(config: pytest.Config) -> bool:
    return hasattr(config, "workerinput")


def pytest_sessionstart(session: pytest.Session) -> None:
    if in_worker(session.config):
        session.config.stash[_SAID] = os.dup(2)
        # The size of some terminal, which readline, once loaded, puts into what a process hands on to its children.
        for name in ("COLUMNS", "LINES"):
            os.environ.pop(name, None)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    if not in_worker(item.config):
        return (yield)
    faulthandler.dump_traceback_later(LONGEST_SEC, exit=True, file=item.config.stash[_SAID])
    try:
        return (yield)
    finally:
        faulthandler.cancel_dump_traceback_later()


@pytest.hookimpl(optionalhook=True)
def pytest_handlecrashitem(crashitem: str, report: pytest.TestReport) -> None:
    report.longrepr = (
        f"The process that ran {crashitem.removesuffix(_SUFFIX)} died. A test that takes more than {LONGEST_SEC:.0f} s "
        "is ended so: then what it was at stands above, after the word Timeout."
    )


def _turn(item: pytest.Item) -> tuple[bool, bool]:
    """What takes a minute to be made where it isn't there yet (Harbor's environment, capsules from registries) is what
    the worker without containers begins with; container tests that need it come last, and find it."""
    made = "harbor" in item.path.name or "built_capsules" in getattr(item, "fixturenames", ())
    containers = uses_containers(item)
    return not containers, made is containers


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not in_worker(config):
        return
    for item in filter(uses_containers, items):
        item.add_marker(pytest.mark.xdist_group(CONTAINERS))
    items.sort(key=_turn)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadGroupScheduling | None:
    """For `--dist loadgroup`. Only here is xdist there for sure: Harbor's environment, say, has none."""
    if config.getoption("dist") != "loadgroup":
        return None
    from xdist.scheduler import LoadGroupScheduling

    class GroupAndFiles(LoadGroupScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return CONTAINERS if nodeid.endswith(_SUFFIX) else nodeid.partition("::")[0]

        def remove_node(self, node: WorkerController) -> str | None:
            """The test that brought a worker down isn't given to the next one; only what was left is."""
            units: Iterable[dict[str, bool]] = self.assigned_work[node].values()
            for unit in units:
                for test, done in unit.items():
                    if not done:
                        unit[test] = True
                        super().remove_node(node)
                        return test
            nothing: str | None = super().remove_node(node)
            return nothing

    return GroupAndFiles(config, log)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """A test is told of under its own name, which can be given to pytest again; inside, xdist goes by the other one."""
    if hasattr(report, "node"):
        report.nodeid = report.nodeid.removesuffix(_SUFFIX)
