"""Environments beside each other: alike names, fixed names, ports and subnets, and who makes room for whom."""

from __future__ import annotations

import anyio
import pytest

from engine.environments.docker import start_again
from engine.environments.docker.environment import DockerEnvironment
from engine.environments.docker.labels import PROJECT, TRIAL
from engine.environments.docker.removal import remove_project
from engine.events import ActivityChanged, EnvironmentGone, Event, RunIssue, ServiceChanged
from engine.issues import Code, TrialFailed
from tests.engine.environments.rig import IDLE, Rig, facts

pytestmark = [pytest.mark.anyio, pytest.mark.docker]


def at_fixed_address(net: str) -> str:
    """A Compose file that takes the whole of `net`.0/24: no second project gets it."""
    return f"""
        services:
          main:
            image: debian:bookworm-slim
            command: [sleep, "600"]
            init: true
            networks: {{default: {{ipv4_address: {net}.20}}}}
        networks: {{default: {{ipam: {{config: [{{subnet: {net}.0/24}}]}}}}}}
    """


async def test_names_that_agree_when_cleaned_run_side_by_side(rig: Rig) -> None:
    """Case 1: upper case, slash, dot, dash, umlaut, another script; the original stays in a label."""
    names = ["org/Fix_Build", "org-fix_build", "ORG.fix-build", "-Größe-42", "日本語/タスク"]
    environments: list[DockerEnvironment] = []
    compose = f"services: {{main: {IDLE}}}"
    try:
        async with anyio.create_task_group() as group:
            for name in names:
                spec = rig.spec(name=name, trial=name, compose=compose)
                environments.append(rig.provider.environment(spec, rig.recorder))
                group.start_soon(environments[-1].start)
        assert len({environment.project for environment in environments}) == len(names)
        for name in names:
            assert len(await rig.containers(f"{TRIAL}={name}")) == 1
    finally:
        with anyio.CancelScope(shield=True):
            async with anyio.create_task_group() as group:
                for environment in environments:
                    group.start_soon(environment.down)


async def test_fixed_names_and_ports_do_not_stop_a_second_trial(rig: Rig) -> None:
    """Cases 4 and 22: container name, host port, network and volume name are set aside, aloud; data is each one's."""
    compose = """
        services:
          main:
            image: debian:bookworm-slim
            command: [sleep, "600"]
            init: true
            container_name: trialdeck-test-fixed
            ports: ["127.0.0.1:18999:80"]
            networks: [net]
            volumes: ["data:/d"]
          other: {image: debian:bookworm-slim, init: true, command: [sleep, "600"], networks: [net]}
        networks: {net: {name: trialdeck-test-net}}
        volumes: {data: {name: trialdeck-test-data}}
    """
    async with rig.up(compose=compose) as first, rig.up(compose=compose) as second:
        await first.execute(["sh", "-c", "echo 1 > /d/x"])
        assert (await second.execute(["ls", "/d"])).tail == ""
        found = await second.execute(["getent", "hosts", "trialdeck-test-fixed"], service="other")
        assert found.exit_code == 0
    notes = [evidence.text for issue in rig.recorder.issues(Code.TASK_WARNING) for evidence in issue.evidence]
    assert len(notes) == 8
    assert any("18999" in note for note in notes)


async def test_a_taken_name_is_told_with_its_holder(rig: Rig) -> None:
    """Case 4: what slips through is an environment failure that names the other one."""
    environment = rig.provider.environment(rig.spec(), rig.recorder)
    name = f"{environment.project}-main-1"
    body = {"Image": "debian:bookworm-slim", "Cmd": ["true"], "Labels": {"trialdeck.run": rig.run}}
    await rig.provider.engine.post("containers/create", body, name=name)
    with pytest.raises(TrialFailed) as failure:
        await environment.start()
    assert await environment.down() == []
    assert failure.value.issue.code is Code.NAME_CONFLICT
    assert name in facts(failure.value.issue)["holder"]


async def test_one_subnet_for_two_projects_is_an_address_failure(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    """Case 16: the stand-in for a pool that ran out; a fixed address keeps the fixed subnet. Whoever finds no room
    waits for another environment to go, and the waiting has an end."""
    compose = at_fixed_address("10.231.7")
    async with rig.up(compose=compose) as first:
        monkeypatch.setattr(start_again, "OTHERS_MAKE_ROOM_SEC", ())
        monkeypatch.setattr(start_again, "ROOM_SEC", 0.2)
        issue = await rig.refused(compose=compose)
        monkeypatch.setattr(start_again, "ROOM_SEC", 30.0)
        seen = len(rig.recorder.events)
        async with rig.up(start=False, compose=compose) as second, anyio.create_task_group() as group:
            group.start_soon(second.start)
            await rig.recorder.wait(lambda: _waits_for_room(rig.recorder.events[seen:]), seconds=240.0)
            assert await first.down() == []
    assert issue.code is Code.ADDRESS_POOL_EXHAUSTED
    assert "of trialdeck" in facts(issue)["networks"]


async def test_a_kept_environment_makes_room_unless_a_person_is_in_it(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Case 16: what is left up for a shell must not cost later trials their verdicts."""
    compose = at_fixed_address("10.231.8")
    projects = []
    try:
        async with rig.up(compose=compose) as first:
            projects.append(first.project)
            await first.keep()
        async with rig.up(compose=compose) as second:
            projects.append(second.project)
            told = [event.issue for event in rig.recorder.of(RunIssue)]
            assert [issue.code for issue in told] == [Code.ADDRESS_POOL_EXHAUSTED]
            assert first.spec.trial in told[0].message
            (gone,) = rig.recorder.of(EnvironmentGone)
            mains = [one.container for one in rig.recorder.of(ServiceChanged) if one.trial == first.spec.trial]
            assert (gone.trial, gone.container) == (first.spec.trial, mains[-1])
            assert not await rig.containers(f"{PROJECT}={first.project}")
            await second.keep()
        shell = {"Cmd": ["sleep", "600"], "Tty": True, "AttachStdout": True}
        made = await rig.provider.engine.post(f"containers/{second.project}-main-1/exec", shell)
        await rig.provider.engine.post(f"exec/{made['Id']}/start", {"Detach": True, "Tty": True})
        monkeypatch.setattr(start_again, "OTHERS_MAKE_ROOM_SEC", ())
        issue = await rig.refused(compose=compose)
        assert issue.code is Code.ADDRESS_POOL_EXHAUSTED
        assert "`trialdeck sweep --include-kept` removes them" in issue.message
        assert await rig.containers(f"{PROJECT}={second.project}")
    finally:
        for project in projects:
            assert await remove_project(rig.provider.engine, project) == []


def _waits_for_room(events: list[Event]) -> bool:
    return any(isinstance(event, ActivityChanged) and "address range" in event.activity for event in events)
