"""What is told of a container that ended by itself."""

from __future__ import annotations

import math
from typing import Any, cast

import anyio
import anyio.lowlevel
import pytest

from engine.environments.docker import watching
from engine.environments.docker.containers import Container
from engine.environments.docker.daemon_events import ContainerEvent
from engine.environments.docker.engine_api import EngineCallFailed
from engine.environments.docker.watching import Watch
from engine.environments.docker.workshop import Workshop
from engine.environments.environment import EnvironmentSpec
from engine.issues import Code, Issue, Severity
from engine.tasks.task import NetworkPolicy
from tests.engine.environments.rig import Recorder
from tests.engine.environments.test_readiness import container

pytestmark = pytest.mark.anyio

SECOND = 1_000_000_000


class Events:
    def listen(self, project: str, listener: object) -> None:
        pass


class Shop:
    engine = None
    events = Events()


async def told(
    monkeypatch: pytest.MonkeyPatch,
    spec: EnvironmentSpec,
    dead: Container,
    *events: ContainerEvent,
    main: Container,
    removed: bool = False,
    code: Code = Code.SERVICE_DIED,
) -> list[Issue]:
    async def inspect(engine: object, identity: str) -> Container:
        await anyio.lowlevel.checkpoint()
        if removed:
            raise EngineCallFailed(404, f"No such container: {identity}")
        return dead

    monkeypatch.setattr(watching, "inspect", inspect)
    recorder = Recorder()
    async with anyio.create_task_group() as group:
        shop = Shop()
        shop.in_background = group.start_soon  # type: ignore[attr-defined]
        watch = Watch(spec, "project", recorder, cast(Workshop, shop))
        monkeypatch.setattr(watch, "last_words", _nothing)
        watch.containers = {"main": main, dead.service: dead}
        watch.ready = True
        for event in events:
            watch._on_event(event)
        await watch.all_told()
        group.cancel_scope.cancel()  # nothing is told any more once a trial takes its environment down
    return recorder.issues(code)


async def _nothing(container: Container) -> str:
    return ""


def event(action: str, at: float, exit_code: int | None = None) -> ContainerEvent:
    place: dict[str, Any] = {"container": "c" * 64, "name": "p-db-1", "service": "db", "project": "project"}
    return ContainerEvent(action=action, exit_code=exit_code, at=int(at * SECOND), **place)


@pytest.fixture
def spec(tmp_path: Any) -> EnvironmentSpec:
    return EnvironmentSpec(
        run="r",
        trial="t",
        name="t",
        environment="agent",
        task_folder=tmp_path,
        log_folder=tmp_path / "logs",
        network=NetworkPolicy(),
    )


MAIN = container(service="main", id="m" * 64)


@pytest.mark.parametrize(
    ("events", "why"),
    [
        ([event("oom", 1.0), event("die", 1.1, 137)], "for its memory limit"),
        ([event("die", 1.1, 137)], "for its memory limit"),  # the flag alone
        ([event("oom", 1.0), event("die", 60.0, 137)], "with exit code 137"),  # the flag is of a child, long ago
        ([event("oom", 1.0), event("die", 1.1, 1)], "with exit code 1"),
    ],
)
async def test_only_a_recent_memory_hit_is_the_cause_of_a_death(
    monkeypatch: pytest.MonkeyPatch, spec: EnvironmentSpec, events: list[ContainerEvent], why: str
) -> None:
    """Case 17: OOMKilled stays set on the container after a child's death."""
    dead = container(state="exited", running=False, exit_code=137, oom_killed=True)
    (issue,) = await told(monkeypatch, spec, dead, *events, main=MAIN)
    assert why in issue.message
    if "137" in why:
        assert any("unknown origin" in fact.text for fact in issue.evidence)


async def test_a_sidecar_that_ends_well_is_told_only_where_it_takes_a_network_with_it(
    monkeypatch: pytest.MonkeyPatch, spec: EnvironmentSpec
) -> None:
    """Case 7 and case 8, while the agent works."""
    dead = container(state="exited", running=False)
    assert await told(monkeypatch, spec, dead, event("die", 1, 0), main=MAIN) == []
    sharing = container(service="main", id="m" * 64, network_of=dead.id)
    (issue,) = await told(monkeypatch, spec, dead, event("die", 1, 0), main=sharing)
    assert issue.service == "db" and any("main" in fact.text for fact in issue.evidence)


async def test_a_container_that_is_gone_altogether_is_told_of_as_it_was_last_seen(
    monkeypatch: pytest.MonkeyPatch, spec: EnvironmentSpec
) -> None:
    """Case 25: somebody removed it by hand, and by now the daemon knows nothing of it."""
    last_seen = container(id="c" * 64)
    (issue,) = await told(monkeypatch, spec, last_seen, event("die", 1, 137), main=MAIN, removed=True)
    assert issue.service == "db" and "137" in issue.message


async def test_a_death_that_the_kernel_shows_first_waits_for_the_daemons_word(spec: EnvironmentSpec) -> None:
    """Else it is told after its phase, or not at all."""
    watch = Watch(spec, "project", Recorder(), cast(Workshop, Shop()))
    async with anyio.create_task_group() as group:
        group.start_soon(watch.hears_of_death, "db")
        await anyio.wait_all_tasks_blocked()
        watch._on_event(event("die", 1, 137))
    assert not watch.alive("db")


async def test_all_commands_that_a_death_ended_hear_of_it(
    monkeypatch: pytest.MonkeyPatch, spec: EnvironmentSpec
) -> None:
    """Else all but one of them stand still until they have no more patience."""
    monkeypatch.setattr("engine.environments.docker.watching.HEARD_SEC", math.inf)
    watch = Watch(spec, "project", Recorder(), cast(Workshop, Shop()))
    with anyio.fail_after(30):
        async with anyio.create_task_group() as group:
            group.start_soon(watch.hears_of_death, "db")
            group.start_soon(watch.hears_of_death, "db")
            await anyio.wait_all_tasks_blocked()
            watch._on_event(event("die", 1, 137))
    assert not watch.alive("db")


async def test_a_container_that_somebody_pauses_is_told(monkeypatch: pytest.MonkeyPatch, spec: EnvironmentSpec) -> None:
    """Else an agent that stood still the whole time is out of time by its own doing."""
    paused = container(state="paused")
    (issue,) = await told(monkeypatch, spec, paused, event("pause", 1), main=MAIN, code=Code.ENVIRONMENT_FAILED)
    assert (issue.service, issue.severity) == ("db", Severity.ERROR) and "paused" in issue.message
