"""Starting projects: names, readiness, conflicts, and what a person is told when it fails."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import anyio
import pytest

from engine.environments.docker import environment as docker_environment
from engine.environments.docker.engine_api import filters
from engine.environments.docker.environment import DockerEnvironment
from engine.environments.docker.labels import COMPOSE_PROJECT, PROJECT, TRIAL
from engine.environments.docker.provider import DockerProvider
from engine.environments.docker.removal import remove_project
from engine.events import ActivityChanged, EnvironmentGone, Event, ResourcePeaked, RunIssue, ServiceChanged
from engine.issues import Code, Issue, TrialFailed
from engine.log_streams import Stream, read_ranges
from engine.tasks.task import Healthcheck, NetworkMode, NetworkPolicy
from tests.engine.environments.rig import Rig

pytestmark = [pytest.mark.anyio, pytest.mark.docker]

NO_NETWORK = NetworkPolicy(mode=NetworkMode.NO_NETWORK)
IDLE = "{image: debian:bookworm-slim, init: true, command: [sleep, '60']}"


async def refused(rig: Rig, **settings: Any) -> Issue:
    """The issue with which a start fails."""
    with pytest.raises(TrialFailed) as failure:
        async with rig.up(**settings):
            pass
    return failure.value.issue


def facts(issue: Issue) -> dict[str, str]:
    return {evidence.label: evidence.text for evidence in issue.evidence}


async def containers(provider: DockerProvider, label: str) -> list[str]:
    told = await provider.engine.get("containers/json", all=True, filters=filters(label=[label]))
    return [one["Names"][0] for one in told]


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
            assert len(await containers(rig.provider, f"{TRIAL}={name}")) == 1
    finally:
        with anyio.CancelScope(shield=True):
            async with anyio.create_task_group() as group:
                for environment in environments:
                    group.start_soon(environment.down)


async def test_an_unhealthy_service_is_named_with_its_probe_and_its_time(rig: Rig) -> None:
    """Cases 2 and 13: which service, what its probe said, how long it had."""
    issue = await refused(
        rig,
        compose="""
            services:
              main: {image: debian:bookworm-slim, init: true, command: [sleep, "60"]}
              slow:
                image: debian:bookworm-slim
                init: true
                command: [sh, -c, "echo booting; sleep 60"]
                healthcheck:
                  test: [CMD, bash, -c, "exec 3<>/dev/tcp/::1/8080"]
                  interval: 0.3s
                  retries: 2
        """,
    )
    assert (issue.code, issue.service) == (Code.SERVICE_UNHEALTHY, "slow")
    assert "Connection refused" in facts(issue)["probe"]
    assert 0.3 < float(facts(issue)["time it had"].split()[0]) < 10
    assert "booting" in facts(issue)["log"]
    assert any(evidence.file == "logs/services/slow.log" for evidence in issue.evidence)


async def test_a_dependency_that_never_gets_healthy_is_named(rig: Rig) -> None:
    """Case 2, where Compose itself waits and gives up."""
    issue = await refused(
        rig,
        compose="""
            services:
              main:
                image: debian:bookworm-slim
                depends_on: {db: {condition: service_healthy}}
              db:
                image: debian:bookworm-slim
                init: true
                command: [sleep, "60"]
                healthcheck: {test: [CMD-SHELL, "echo no such table; exit 1"], interval: 0.3s, retries: 2}
        """,
    )
    assert (issue.code, issue.service) == (Code.SERVICE_UNHEALTHY, "db")
    assert "no such table" in facts(issue)["probe"]


async def test_a_one_shot_that_did_its_work_is_no_failure(rig: Rig) -> None:
    """Case 7, first half: `up --wait` would return 1 here."""
    compose = f"""
        services:
          main: {IDLE}
          seed: {{image: debian:bookworm-slim, command: [sh, -c, "sleep 0.3; echo seeded"]}}
    """
    async with rig.up(compose=compose) as environment:
        assert environment.services == ("main", "seed")
        await rig.recorder.wait(
            lambda: any(e.service == "seed" and e.state == "exited" for e in rig.recorder.of(ServiceChanged))
        )
        assert (await environment.execute(["true"])).exit_code == 0
    assert rig.recorder.issues(Code.SERVICE_DIED) == []
    assert (environment.spec.log_folder / "services" / "seed.log").read_text() == "seeded\n"


async def test_a_one_shot_that_failed_is_named(rig: Rig) -> None:
    """Case 7, second half."""
    issue = await refused(
        rig,
        compose="""
            services:
              main:
                image: debian:bookworm-slim
                depends_on: {seed: {condition: service_completed_successfully}}
              seed: {image: debian:bookworm-slim, command: [sh, -c, "echo no schema >&2; exit 4"]}
        """,
    )
    assert (issue.code, issue.service) == (Code.SERVICE_EXITED, "seed")
    assert facts(issue)["exit code"] == "4"
    assert "no schema" in facts(issue)["log"]


async def test_main_that_ends_at_once_is_not_ready(rig: Rig) -> None:
    issue = await refused(
        rig,
        compose="""
            services:
              main: {image: debian:bookworm-slim, command: ["true"]}
              slow:
                image: debian:bookworm-slim
                init: true
                command: [sleep, "60"]
                healthcheck: {test: [CMD, "true"], interval: 1s}
        """,
    )
    assert (issue.code, issue.service) == (Code.SERVICE_EXITED, "main")


async def test_a_shared_network_whose_owner_ended_is_the_environments_fault(rig: Rig) -> None:
    """Case 8, at the start."""
    issue = await refused(
        rig,
        compose="""
            services:
              main: {image: debian:bookworm-slim, command: [sleep, "60"], init: true, network_mode: "service:side"}
              side: {image: debian:bookworm-slim, command: ["true"]}
        """,
    )
    assert issue.code is Code.SERVICE_EXITED
    assert issue.service == "side"


async def test_a_sidecar_that_dies_later_is_told(rig: Rig) -> None:
    """Case 8: die events of all containers are watched during the agent's run. Case 17: a restart hides nothing."""
    compose = f"""
        services:
          main: {IDLE}
          side: {{image: debian:bookworm-slim, command: [sh, -c, "echo going down; sleep 1; exit 3"]}}
          phoenix: {{image: debian:bookworm-slim, restart: always, command: [sh, -c, "sleep 1; exit 5"]}}
    """
    async with rig.up(compose=compose) as environment:
        await rig.recorder.wait(lambda: len({i.service for i in rig.recorder.issues(Code.SERVICE_DIED)}) == 2)
        told = {issue.service: facts(issue) for issue in rig.recorder.issues(Code.SERVICE_DIED)}
        assert told["side"]["exit code"] == "3"
        assert "going down" in told["side"]["log"]
        assert "restart policy" in told["phoenix"]
        assert (await environment.execute(["true"])).environment_alive


async def test_a_memory_hit_is_told_once_while_the_service_lives(rig: Rig) -> None:
    """Case 17: the engine's own event, for a child that dies while PID 1 lives on."""
    async with rig.up(memory_mb=48) as environment:
        for _ in range(2):
            await environment.execute(["tail", "/dev/zero"])
        await rig.recorder.wait(lambda: rig.recorder.issues(Code.OUT_OF_MEMORY))
        await anyio.sleep(0.3)
        assert len(rig.recorder.issues(Code.OUT_OF_MEMORY)) == 1
        assert facts(rig.recorder.issues(Code.OUT_OF_MEMORY)[0])["limit"] == "48 MiB"


async def test_fixed_names_and_ports_do_not_stop_a_second_trial(rig: Rig) -> None:
    """Cases 4 and 22: container name, host port, network and volume name are set aside, aloud; data is each one's."""
    compose = """
        services:
          main:
            image: debian:bookworm-slim
            command: [sleep, "60"]
            init: true
            container_name: trialdeck-test-fixed
            ports: ["127.0.0.1:18999:80"]
            networks: [net]
            volumes: ["data:/d"]
          other: {image: debian:bookworm-slim, init: true, command: [sleep, "60"], networks: [net]}
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
    compose = """
        services:
          main:
            image: debian:bookworm-slim
            command: [sleep, "60"]
            init: true
            networks: {default: {ipv4_address: 10.231.7.20}}
        networks: {default: {ipam: {config: [{subnet: 10.231.7.0/24}]}}}
    """
    async with rig.up(compose=compose) as first:
        monkeypatch.setattr(docker_environment, "OTHERS_MAKE_ROOM_SEC", ())
        monkeypatch.setattr(docker_environment, "ROOM_SEC", 0.2)
        issue = await refused(rig, compose=compose)
        monkeypatch.setattr(docker_environment, "ROOM_SEC", 30.0)
        seen = len(rig.recorder.events)
        async with rig.up(start=False, compose=compose) as second, anyio.create_task_group() as group:
            group.start_soon(second.start)
            await rig.recorder.wait(lambda: _waits_for_room(rig.recorder.events[seen:]), seconds=20.0)
            assert await first.down() == []
    assert issue.code is Code.ADDRESS_POOL_EXHAUSTED
    assert "of trialdeck" in facts(issue)["networks"]


async def test_a_kept_environment_makes_room_unless_a_person_is_in_it(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Case 16: what is left up for a shell must not cost later trials their verdicts."""
    compose = """
        services:
          main:
            image: debian:bookworm-slim
            command: [sleep, "60"]
            init: true
            networks: {default: {ipv4_address: 10.231.8.20}}
        networks: {default: {ipam: {config: [{subnet: 10.231.8.0/24}]}}}
    """
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
            assert not await containers(rig.provider, f"{PROJECT}={first.project}")
            await second.keep()
        shell = {"Cmd": ["sleep", "60"], "Tty": True, "AttachStdout": True}
        made = await rig.provider.engine.post(f"containers/{second.project}-main-1/exec", shell)
        await rig.provider.engine.post(f"exec/{made['Id']}/start", {"Detach": True, "Tty": True})
        monkeypatch.setattr(docker_environment, "OTHERS_MAKE_ROOM_SEC", ())
        issue = await refused(rig, compose=compose)
        assert issue.code is Code.ADDRESS_POOL_EXHAUSTED
        assert "`trialdeck sweep --include-kept` removes them" in issue.message
        assert await containers(rig.provider, f"{PROJECT}={second.project}")
    finally:
        for project in projects:
            assert await remove_project(rig.provider.engine, project) == []


def _waits_for_room(events: list[Event]) -> bool:
    return any(isinstance(event, ActivityChanged) and "address range" in event.activity for event in events)


async def test_the_operators_shell_and_a_dot_env_change_nothing(
    rig: Rig, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Case 14; and of the host's variables only the allowed ones are filled in, each byte as it is."""
    compose = f"""
        services:
          main:
            image: "debian:${{TAG:-bookworm-slim}}"
            environment: {{ASKED: "${{ASKED}}", HIDDEN: "${{HIDDEN:-default}}", HOME_SEEN: "${{HOME:-none}}", PASSED:}}
          extra: {{image: debian:bookworm-slim, profiles: [extra], command: [sleep, "60"]}}
          side: {IDLE}
    """
    monkeypatch.setenv("COMPOSE_PROFILES", "extra")
    monkeypatch.setenv("COMPOSE_PROJECT_NAME", "other")
    monkeypatch.setenv("HIDDEN", "secret of the shell")
    monkeypatch.setenv("PASSED", "secret of the shell")
    value = "p$ss $HOME ${X} `q` \"'\\"
    spec = rig.spec(compose=compose, allowed_host_env={"ASKED": value}, env={"BASE": "$$5 ${Y}"})
    assert spec.compose_file is not None
    (spec.compose_file.parent / ".env").write_text("COMPOSE_PROJECT_NAME=other\nTAG=evil\nCOMPOSE_PROFILES=extra\n")
    environment = rig.provider.environment(spec, rig.recorder)
    try:
        await environment.start()
        assert environment.services == ("main", "side")
        assert await containers(rig.provider, f"{COMPOSE_PROJECT}=other") == []
        script = 'printf "%s|" "$ASKED" "$HIDDEN" "$HOME_SEEN" "$PASSED" "$BASE"'
        seen = (await environment.execute(["sh", "-c", script])).tail
        assert seen == f"{value}|default|none||$$5 ${{Y}}|"
    finally:
        assert await environment.down() == []
    recorded = (spec.log_folder / "compose.rendered.json").read_text()
    assert value not in json.loads(recorded)["services"]["main"]["environment"].values()
    assert "secret of the shell" not in recorded


async def test_a_variable_without_a_value_is_a_warning_that_names_it(rig: Rig) -> None:
    async with rig.up(compose="services: {main: {environment: {X: '${NOT_THERE}'}}}"):
        pass
    assert "NOT_THERE" in rig.recorder.issues(Code.TASK_WARNING)[0].message


async def test_a_broken_compose_file_is_named(rig: Rig) -> None:
    issue = await refused(rig, compose="services: {main: {imagine: x}}")
    assert issue.code is Code.COMPOSE_INVALID
    assert "docker-compose.yaml" in issue.message
    assert "imagine" in issue.message


async def test_a_slow_start_ends_at_its_own_limit_and_stops_nobody(rig: Rig) -> None:
    """Case 35: 200 kB of stderr that nobody asked for, and never healthy; three others start meanwhile."""
    slow = """
        services:
          main:
            image: debian:bookworm-slim
            init: true
            command: [bash, -c, "head -c 200000 /dev/zero | tr '\\\\0' x >&2; echo end >&2; sleep 60"]
            healthcheck: {test: [CMD, "false"], interval: 1s, start_period: 60s}
    """
    began = time.monotonic()
    ends: dict[str, float] = {}
    failed: list[TrialFailed] = []

    async def quick(name: str) -> None:
        async with rig.up(compose=f"services: {{main: {IDLE}}}"):
            ends[name] = time.monotonic() - began

    environment = rig.provider.environment(rig.spec(compose=slow, start_timeout_sec=5), rig.recorder)

    async def late() -> None:
        try:
            await environment.start()
        except TrialFailed as error:
            failed.append(error)
        ends["slow"] = time.monotonic() - began

    async with anyio.create_task_group() as group:
        for start in ("a", "b", "c"):
            group.start_soon(quick, start)
        group.start_soon(late)
    assert await environment.down() == []
    issue = failed[0].issue
    assert issue.code is Code.START_TIMEOUT
    assert issue.service == "main"
    assert "end" in facts(issue)["log of main"]
    assert 5 <= ends["slow"] < 9
    assert max(ends[name] for name in "abc") < ends["slow"]
    assert await containers(rig.provider, f"{COMPOSE_PROJECT}={environment.project}") == []


async def test_a_cancelled_start_leaves_nothing(rig: Rig) -> None:
    for compose in (None, f"services: {{main: {IDLE}, side: {IDLE}}}"):
        environment = rig.provider.environment(rig.spec(compose=compose), rig.recorder)
        with anyio.move_on_after(0.35):
            await environment.start()
        assert await environment.down() == []
    assert await containers(rig.provider, f"trialdeck.run={rig.run}") == []


@pytest.mark.parametrize("compose", [None, f"services: {{main: {IDLE}, side: {IDLE}}}"], ids=["single", "project"])
async def test_no_network_cuts_off_the_world_but_not_the_sidecars(rig: Rig, compose: str | None) -> None:
    async with rig.up(compose=compose, network=NO_NETWORK) as environment:
        routes = (await environment.execute(["cat", "/proc/net/route"])).tail.splitlines()[1:]
        assert not any(line.split()[1] == "00000000" for line in routes)
        if compose:
            assert (await environment.execute(["getent", "hosts", "side"])).exit_code == 0


async def test_a_host_network_is_refused_where_there_may_be_none(rig: Rig) -> None:
    issue = await refused(rig, compose="services: {main: {network_mode: host}}", network=NO_NETWORK)
    assert issue.code is Code.COMPOSE_INVALID
    assert "no-network" in issue.message


async def test_limits_are_mains_unless_its_file_says_otherwise(rig: Rig) -> None:
    read = ["sh", "-c", "cat /sys/fs/cgroup/memory/memory.limit_in_bytes 2>/dev/null || cat /sys/fs/cgroup/memory.max"]
    for compose in (None, f"services: {{side: {IDLE}}}"):
        async with rig.up(compose=compose, memory_mb=100, cpus=0.5) as environment:
            assert (await environment.execute(read)).tail.strip() == str(100 * 1024 * 1024)
    own = "services: {main: {deploy: {resources: {limits: {memory: 64M}}}}}"
    async with rig.up(compose=own, memory_mb=100, cpus=0.5) as environment:
        assert (await environment.execute(read)).tail.strip() == str(64 * 1024 * 1024)


async def test_the_tasks_health_check_waits_and_fails_as_dockers_does(rig: Rig) -> None:
    check = Healthcheck(command="sleep 0.1; test -f /r", interval_sec=0.1, timeout_sec=5, retries=3)
    compose = """services: {main: {image: debian:bookworm-slim, command: [sh, -c, "sleep 1; touch /r; sleep 60"]}}"""
    issue = await refused(rig, compose=compose, healthcheck=check)
    assert issue.code is Code.HEALTHCHECK_FAILED
    assert "3 times" in issue.message
    patient = Healthcheck(command="test -f /r", start_period_sec=20, start_interval_sec=0.1, retries=1)
    async with rig.up(compose=compose, healthcheck=patient):
        pass


async def test_samples_logs_and_peaks_are_told(rig: Rig) -> None:
    compose = f"""
        services:
          main: {IDLE}
          talker: {{image: debian:bookworm-slim, command: [sh, -c, "echo out; sleep 0.3; echo err >&2; sleep 60"]}}
    """
    async with rig.up(compose=compose, memory_mb=64) as environment:
        log = environment.spec.log_folder / "services" / "talker.log"
        await rig.recorder.wait(lambda: log.exists() and log.read_bytes() == b"out\nerr\n")
        assert read_ranges(log).changes() == [(4, Stream.STDERR)]
        await environment.execute(["perl", "-e", "$x = 'y' x 20_000_000; sleep 1 for 1 .. 2"])
    peaks = {peak.service: peak for peak in rig.recorder.of(ResourcePeaked)}
    assert set(peaks) == {"main", "talker"}
    assert peaks["main"].memory_bytes > 20_000_000
    assert peaks["main"].memory_limit == 64 * 1024 * 1024
    assert peaks["main"].pids >= 3


async def test_a_task_finds_its_files_where_it_put_them(rig: Rig) -> None:
    """Relative paths keep the base that they have in the task's folder; bound folders of ours win."""
    spec = rig.spec(
        compose="services: {main: {volumes: ['./data:/data:ro', './data:/logs/agent'], env_file: [./some.env]}}",
        bind={rig.folder: "/logs/agent"},
    )
    assert spec.compose_file is not None
    folder = spec.compose_file.parent
    (folder / "data").mkdir()
    (folder / "data" / "a").write_text("here")
    (folder / "some.env").write_text("FROM_FILE=yes\n")
    (rig.folder / "ours").write_text("")
    environment = rig.provider.environment(spec, rig.recorder)
    try:
        await environment.start()
        result = await environment.execute(["sh", "-c", "cat /data/a; echo $FROM_FILE; ls /logs/agent"])
        assert result.tail.split() == ["hereyes", *sorted(path.name for path in rig.folder.iterdir())]
    finally:
        assert await environment.down() == []
