"""Starting projects: readiness, what their files may say, and what a person is told when it fails."""

from __future__ import annotations

import json
import time
from pathlib import Path

import anyio
import pytest

from engine.environments.docker.labels import COMPOSE_PROJECT
from engine.events import ServiceChanged
from engine.issues import Code, TrialFailed
from engine.tasks.task import Healthcheck, NetworkMode, NetworkPolicy
from tests.engine.environments.rig import IDLE, Rig, facts

pytestmark = [pytest.mark.anyio, pytest.mark.docker]

NO_NETWORK = NetworkPolicy(mode=NetworkMode.NO_NETWORK)


async def test_an_unhealthy_service_is_named_with_its_probe_and_its_time(rig: Rig) -> None:
    """Cases 2 and 13: which service, what its probe said, how long it had."""
    issue = await rig.refused(
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
    assert 0.3 < float(facts(issue)["time it had"].split()[0]) < 60
    assert "booting" in facts(issue)["log"]
    assert any(evidence.file == "logs/services/slow.log" for evidence in issue.evidence)


async def test_a_dependency_that_never_gets_healthy_is_named(rig: Rig) -> None:
    """Case 2, where Compose itself waits and gives up."""
    issue = await rig.refused(
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
    issue = await rig.refused(
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
    issue = await rig.refused(
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
    issue = await rig.refused(
        compose="""
            services:
              main: {image: debian:bookworm-slim, command: [sleep, "60"], init: true, network_mode: "service:side"}
              side: {image: debian:bookworm-slim, command: ["true"]}
        """,
    )
    assert issue.code is Code.SERVICE_EXITED
    assert issue.service == "side"


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
        assert await rig.containers(f"{COMPOSE_PROJECT}=other") == []
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
    issue = await rig.refused(compose="services: {main: {imagine: x}}")
    assert issue.code is Code.COMPOSE_INVALID
    assert "docker-compose.yaml" in issue.message
    assert "imagine" in issue.message


SLOW_SEC = 15.0
"""Time for three others to start and go, also on a loaded machine."""


async def test_a_slow_start_ends_at_its_own_limit_and_stops_nobody(rig: Rig) -> None:
    """Case 35: 200 kB of stderr that nobody asked for, and never healthy; three others start meanwhile."""
    slow = """
        services:
          main:
            image: debian:bookworm-slim
            init: true
            command: [bash, -c, "head -c 200000 /dev/zero | tr '\\\\0' x >&2; echo end >&2; sleep 600"]
            healthcheck: {test: [CMD, "false"], interval: 1s, start_period: 600s}
    """
    began = time.monotonic()
    ends: dict[str, float] = {}
    failed: list[TrialFailed] = []

    async def quick(name: str) -> None:
        async with rig.up(compose=f"services: {{main: {IDLE}}}"):
            ends[name] = time.monotonic() - began

    environment = rig.provider.environment(rig.spec(compose=slow, start_timeout_sec=SLOW_SEC), rig.recorder)

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
    assert SLOW_SEC <= ends["slow"] < SLOW_SEC + 60
    assert max(ends[name] for name in "abc") < ends["slow"]
    assert await rig.containers(f"{COMPOSE_PROJECT}={environment.project}") == []


async def test_a_cancelled_start_leaves_nothing(rig: Rig) -> None:
    for compose in (None, f"services: {{main: {IDLE}, side: {IDLE}}}"):
        environment = rig.provider.environment(rig.spec(compose=compose), rig.recorder)
        with anyio.move_on_after(0.35):
            await environment.start()
        assert await environment.down() == []
    assert await rig.containers(f"trialdeck.run={rig.run}") == []


@pytest.mark.parametrize("compose", [None, f"services: {{main: {IDLE}, side: {IDLE}}}"], ids=["single", "project"])
async def test_no_network_cuts_off_the_world_but_not_the_sidecars(rig: Rig, compose: str | None) -> None:
    async with rig.up(compose=compose, network=NO_NETWORK) as environment:
        routes = (await environment.execute(["cat", "/proc/net/route"])).tail.splitlines()[1:]
        assert not any(line.split()[1] == "00000000" for line in routes)
        if compose:
            assert (await environment.execute(["getent", "hosts", "side"])).exit_code == 0


async def test_a_host_network_is_refused_where_there_may_be_none(rig: Rig) -> None:
    issue = await rig.refused(compose="services: {main: {network_mode: host}}", network=NO_NETWORK)
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
    issue = await rig.refused(compose=f"services: {{main: {IDLE}}}", healthcheck=check)
    assert issue.code is Code.HEALTHCHECK_FAILED
    assert "3 times" in issue.message
    compose = """services: {main: {image: debian:bookworm-slim, command: [sh, -c, "sleep 1; touch /r; sleep 600"]}}"""
    patient = Healthcheck(command="test -f /r", start_period_sec=240, start_interval_sec=0.1, retries=1)
    async with rig.up(compose=compose, healthcheck=patient):
        pass


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
