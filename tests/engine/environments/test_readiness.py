"""When a container counts as ready, from its own state."""

from __future__ import annotations

from typing import Any

import pytest

from engine.environments.docker.containers import Container, HealthProbe, read_container
from engine.environments.docker.readiness import (
    first_failed,
    had_seconds,
    judge,
    not_ready,
    read_time,
    start_timeout,
    waiting_for,
)
from engine.issues import Code


def container(**settings: Any) -> Container:
    defaults: dict[str, Any] = {
        "id": "c" * 64,
        "name": "p-db-1",
        "service": "db",
        "state": "running",
        "running": True,
        "exit_code": 0,
        "oom_killed": False,
        "error": "",
        "pid": 1,
        "started": "2026-01-01T00:00:00.5Z",
        "finished": "0001-01-01T00:00:00Z",
    }
    return Container(**{**defaults, **settings})


@pytest.mark.parametrize(
    ("settings", "ready", "code"),
    [
        ({}, True, None),
        ({"has_healthcheck": True, "health": "healthy"}, True, None),
        ({"has_healthcheck": True, "health": "starting"}, False, None),
        ({"has_healthcheck": True, "health": "unhealthy"}, False, Code.SERVICE_UNHEALTHY),  # case 2
        ({"state": "exited"}, True, None),  # case 7: a one-shot that did its work
        ({"state": "exited", "exit_code": 1}, False, Code.SERVICE_EXITED),
        ({"state": "exited", "has_healthcheck": True}, False, Code.SERVICE_EXITED),
        ({"state": "exited", "service": "main"}, False, Code.SERVICE_EXITED),
        ({"state": "restarting", "exit_code": 1, "restarts": True}, False, None),
        ({"state": "created"}, False, None),
        ({"state": "created", "error": "no network"}, False, Code.ENVIRONMENT_FAILED),
        ({"state": "dead", "exit_code": 137, "oom_killed": True}, False, Code.SERVICE_EXITED),
    ],
)
def test_a_containers_state_decides(settings: dict[str, Any], ready: bool, code: Code | None) -> None:
    verdict = judge(container(**settings))
    assert (verdict.ready, verdict.code) == (ready, code)


@pytest.mark.parametrize(("side", "fails"), [({"state": "exited", "running": False}, True), ({}, False)])
def test_an_end_that_takes_the_network_of_another_one_with_it_is_a_failure(side: dict[str, Any], fails: bool) -> None:
    """Case 8: the other one runs on, without a network."""
    main = container(service="main", id="m" * 64, network_of="c" * 64, has_healthcheck=True, health="starting")
    failed = first_failed([main, container(**side)])
    assert (failed is not None) == fails
    if failed is not None:
        assert (failed[0].service, failed[1].code) == ("db", Code.SERVICE_EXITED)
        assert "whose network main shares" in not_ready(*failed, "").issue.message


def test_the_time_it_had_is_measured_on_the_daemons_clock() -> None:
    """Case 2."""
    probes = (HealthProbe(exit_code=1, output="", ended="2026-01-01T01:00:06.123456789+01:00"),)
    assert had_seconds(container(probes=probes)) == pytest.approx(5.623, abs=0.001)
    assert had_seconds(container()) is None
    ended = container(probes=probes, state="exited", running=False, finished="2026-01-01T00:05:00.5Z")
    assert had_seconds(ended) == 300.0
    assert read_time("2026-01-01T00:00:00Z") is not None
    assert read_time("nonsense") is None


def test_a_failed_service_is_shown_with_its_probes_and_its_end() -> None:
    """Case 13: the probe's own output lets a person mark the task as broken."""
    probes = (HealthProbe(exit_code=1, output="connect to ::1: Connection refused\n", ended="2026-01-01T00:00:03Z"),)
    failed = container(has_healthcheck=True, health="unhealthy", probes=probes)
    issue = not_ready(failed, judge(failed), "listening on 127.0.0.1").issue
    assert issue.message == "service db is unhealthy after 2.5 s"
    facts = {evidence.label: evidence.text for evidence in issue.evidence}
    assert facts["probe"] == "exit 1: connect to ::1: Connection refused"
    assert facts["time it had"] == "2.5 s"
    assert facts["log"] == "listening on 127.0.0.1"


def test_a_start_that_takes_too_long_tells_every_state() -> None:
    late = container(has_healthcheck=True, health="starting")
    issue = start_timeout([container(service="main"), late], 5, {"db": "still loading"}).issue
    assert (issue.code, issue.service) == (Code.START_TIMEOUT, "db")
    assert "main: running" in issue.evidence[0].text
    assert "still loading" in {evidence.text for evidence in issue.evidence}
    assert waiting_for([container(service="main"), late]) == ["db"]


def test_an_inspect_is_read_with_what_it_leaves_out() -> None:
    told: dict[str, Any] = {
        "Id": "abc",
        "Name": "/p-main-1",
        "State": {"Status": "running", "Running": True, "ExitCode": 0, "Pid": 7},
        "Config": {"Labels": {"com.docker.compose.service": "main"}, "Healthcheck": {"Test": ["NONE"]}},
        "HostConfig": {"Tmpfs": {"/tmp": ""}, "NanoCpus": 500_000_000, "RestartPolicy": {"Name": "no"}},
        "Mounts": [{"Type": "tmpfs", "Destination": "/app/"}, {"Type": "volume", "Destination": "/d"}],
    }
    read = read_container(told)
    assert (read.service, read.has_healthcheck, read.restarts, read.workdir) == ("main", False, False, "/")
    assert (read.hidden, read.mounted, read.cpu_limit) == (("/tmp", "/app"), ("/d",), 0.5)
