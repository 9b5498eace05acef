"""Nothing is left behind, nothing of others' is touched."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import anyio
import pytest

from engine.environments.docker.engine_api import Engine, EngineCallFailed, filters
from engine.environments.docker.labels import RUN
from engine.environments.docker.provider import DockerProvider
from engine.environments.docker.sweep import find_leftovers, remove_leftovers
from engine.environments.environment import ExecResult
from engine.events import ServiceChanged
from engine.issues import Code, Phase, TrialFailed
from tests.engine.environments.rig import Rig

pytestmark = [pytest.mark.anyio, pytest.mark.docker]

PROJECT = """
    services:
      main: {image: debian:bookworm-slim, init: true, command: [sleep, "60"], volumes: ["data:/d", "/anon"]}
      stubborn: {image: debian:bookworm-slim, command: [sh, -c, "trap '' TERM; while :; do sleep 1; done"]}
    volumes: {data: {}}
"""


async def volumes(provider: DockerProvider) -> set[str]:
    return {one["Name"] for one in (await provider.engine.get("volumes"))["Volumes"] or ()}


async def test_everything_of_a_project_goes_at_once(rig: Rig) -> None:
    """Cases 22 and 31: named and anonymous volumes, what was added to the project by hand, no stop grace."""
    engine = rig.provider.engine
    async with rig.up(compose=PROJECT) as environment:
        mounts = (await engine.get(f"containers/{environment.project}-main-1/json"))["Mounts"]
        made = {mount["Name"] for mount in mounts}
        assert len(made) == 2
        orphan = {
            "Image": "debian:bookworm-slim",
            "Cmd": ["sleep", "99"],
            "Labels": {"com.docker.compose.project": environment.project},
            "HostConfig": {"NetworkMode": f"{environment.project}_default"},
        }
        added = await engine.post("containers/create", orphan)
        await engine.post(f"containers/{added['Id']}/start")
    assert not made & await volumes(rig.provider)
    chosen = filters(label=[f"com.docker.compose.project={environment.project}"])
    assert await engine.get("containers/json", all=True, filters=chosen) == []
    assert await engine.get("networks", filters=chosen) == []


async def test_one_trials_data_is_not_in_the_next(rig: Rig) -> None:
    """Case 22."""
    async with rig.up(compose=PROJECT) as environment:
        await environment.execute(["sh", "-c", "echo 1 > /d/x"])
    async with rig.up(compose=PROJECT) as environment:
        assert (await environment.execute(["ls", "/d"])).tail == ""


async def test_an_external_volume_is_never_touched(rig: Rig) -> None:
    """Case 22."""
    name = f"trialdeck-test-external-{rig.run}"
    await rig.provider.engine.post("volumes/create", {"Name": name})
    try:
        compose = f"""
            services: {{main: {{image: debian:bookworm-slim, volumes: ["theirs:/d"]}}}}
            volumes: {{theirs: {{external: true, name: {name}}}}}
        """
        async with rig.up(compose=compose) as environment:
            await environment.execute(["touch", "/d/x"])
        assert name in await volumes(rig.provider)
    finally:
        await rig.provider.engine.delete(f"volumes/{name}")


async def test_what_cannot_go_is_told_by_name(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    """Case 31: leftovers are never silent."""
    environment = rig.provider.environment(rig.spec(), rig.recorder)
    await environment.start()
    with monkeypatch.context() as patch:
        patch.setattr("engine.environments.docker.removal.DOWN_SEC", 1.0)
        other = {
            "Image": "debian:bookworm-slim",
            "Cmd": ["sleep", "99"],
            "HostConfig": {"NetworkMode": f"{environment.project}_default"},
            "Labels": {RUN: rig.run},
        }
        made = await rig.provider.engine.post("containers/create", other)
        await rig.provider.engine.post(f"containers/{made['Id']}/start")
        patch.setattr("engine.environments.docker.removal.disconnect_all", _nothing)
        left = await environment.down()
    assert len(left) == 1
    assert left[0].startswith(f"network {environment.project}_default: ")
    assert "active endpoints" in left[0]


async def _nothing(*_: object) -> None:
    pass


CRASHING = """
    import os, sys, anyio
    from pathlib import Path
    from engine.environments.docker.provider import DockerProvider
    from engine.environments.environment import EnvironmentSpec

    async def main():
        async with DockerProvider.open() as provider:
            folder = Path(sys.argv[1])
            spec = EnvironmentSpec(run=sys.argv[2], trial="t", name="crash", environment="agent", log_folder=folder,
                                   task_folder=folder, compose_file=folder / "docker-compose.yaml")
            environment = provider.environment(spec, lambda event: None)
            await environment.start()
            if sys.argv[3] == "keep":
                await environment.keep()
            print(environment.project, flush=True)
            os.kill(os.getpid(), 9)

    anyio.run(main)
"""


def crash(folder: Path, run: str, what: str) -> str:
    """An engine that is killed with its environment up; the project's name."""
    (folder / "docker-compose.yaml").write_text(textwrap.dedent(PROJECT))
    ended = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(CRASHING), str(folder), run, what], stdout=subprocess.PIPE, check=False
    )
    assert ended.returncode == -9
    return ended.stdout.decode().strip()


async def test_what_cannot_be_marked_as_kept_is_not_kept(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    """A sweep would take it: so it is said, and taken down like any other."""
    async with rig.up() as alive:
        post = type(rig.provider.engine).post

        async def refuses(engine: Engine, path: str, *rest: Any, **more: Any) -> Any:
            if path == "volumes/create":
                raise EngineCallFailed(500, "no space left on device")
            return await post(engine, path, *rest, **more)

        monkeypatch.setattr(type(rig.provider.engine), "post", refuses)
        with pytest.raises(TrialFailed):
            await alive.keep()
        assert await alive.down() == []
    assert [one for one in await find_leftovers(rig.provider.engine, kept=True) if one.run == rig.run] == []


async def test_a_sweep_takes_what_a_killed_engine_left_and_nothing_else(rig: Rig, tmp_path: Path) -> None:
    """The living owner's environment and the kept one stay; the kept one goes when asked for."""
    dead = crash(tmp_path, rig.run, "crash")
    kept = crash(tmp_path, rig.run, "keep")
    async with rig.up() as alive:
        leftovers = [one for one in await find_leftovers(rig.provider.engine) if one.run == rig.run]
        assert {one.project for one in leftovers} == {dead}
        assert {one.thing.kind for one in leftovers} == {"container", "network", "volume"}
        assert await remove_leftovers(rig.provider.engine, leftovers) == {}
        assert (await alive.execute(["true"])).exit_code == 0
        asked = [one for one in await find_leftovers(rig.provider.engine, kept=True) if one.run == rig.run]
        assert {one.project for one in asked} == {kept}
        assert all(one.kept for one in asked)
        assert await rig.provider.remove_run(rig.run) == []
        assert await remove_leftovers(rig.provider.engine, asked) == {}
    assert [one for one in await find_leftovers(rig.provider.engine, kept=True) if one.run == rig.run] == []


async def test_a_kept_environment_stays_up_for_a_person(rig: Rig) -> None:
    environment = rig.provider.environment(rig.spec(), rig.recorder)
    await environment.start()
    await environment.keep()
    assert await environment.down() == []
    assert await rig.provider.remove_run(rig.run) == []
    told = await rig.provider.engine.get(f"containers/{environment.project}-main-1/json")
    assert told["State"]["Running"]
    kept = [one for one in await find_leftovers(rig.provider.engine, kept=True) if one.run == rig.run]
    assert {one.thing.kind for one in kept} == {"container", "network", "volume"}
    assert await remove_leftovers(rig.provider.engine, kept) == {}


async def test_a_death_in_the_last_command_is_told_before_all_goes(rig: Rig) -> None:
    """Case 25: the kernel shows a death before the daemon tells of it, and the trial was over in between."""
    async with rig.up() as environment:
        ended: list[ExecResult] = []

        async def command() -> None:
            ended.append(await environment.execute(["sleep", "60"]))

        async with anyio.create_task_group() as group:
            group.start_soon(command)
            await until_it_runs(rig, environment.project)
            await rig.provider.engine.post(f"containers/{environment.project}-main-1/kill")
        environment.phase = Phase.CLEANUP
        assert await environment.down() == []
    assert not ended[0].environment_alive
    (issue,) = rig.recorder.issues(Code.SERVICE_DIED)
    assert (issue.service, issue.phase) == ("main", Phase.AGENT)
    states = [one.state for one in rig.recorder.of(ServiceChanged)]
    assert "exited" in states


async def test_what_somebody_pauses_is_told(rig: Rig) -> None:
    async with rig.up() as environment:
        place = f"containers/{environment.project}-main-1"
        await rig.provider.engine.post(f"{place}/pause")
        await rig.recorder.wait(lambda: rig.recorder.issues(Code.ENVIRONMENT_FAILED))
        await rig.provider.engine.post(f"{place}/unpause")
        assert (await environment.execute(["true"])).exit_code == 0
    assert "paused" in rig.recorder.issues(Code.ENVIRONMENT_FAILED)[0].message


async def until_it_runs(rig: Rig, project: str) -> None:
    """Until a command that was started in main has a process."""
    with anyio.fail_after(30):
        while True:
            told = await rig.provider.engine.get(f"containers/{project}-main-1/json")
            for identity in told.get("ExecIDs") or ():
                if (await rig.provider.engine.get(f"exec/{identity}/json")).get("Pid"):
                    return
            await anyio.sleep(0.02)
