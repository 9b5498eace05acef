from __future__ import annotations

import json
import resource
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import typer

from console.commands import doctor as command
from console.diagnosis import docker, machine
from console.diagnosis.address_pools import BUILT_IN, networks_in, pools, taken
from console.diagnosis.check import Check, Status, failed, ok, warning


def with_subnet(number: int) -> list[dict[str, Any]]:
    bridges = [{"Name": f"n{index}", "IPAM": {"Config": [{"Subnet": "x"}]}} for index in range(number)]
    return [*bridges, {"Name": "host", "IPAM": {"Config": []}}, {"Name": "none", "IPAM": {"Config": None}}]


def test_the_built_in_pools_hold_31_networks() -> None:
    assert networks_in(BUILT_IN) == 31


def test_networks_without_a_subnet_take_nothing_out_of_a_pool() -> None:
    assert taken(with_subnet(3)) == 3


def test_pools_are_known_from_the_daemon_then_its_settings_then_by_heart(tmp_path: Path) -> None:
    settings = tmp_path / "daemon.json"
    settings.write_text('{"default-address-pools": [{"base": "10.200.0.0/16", "size": 24}]}')
    told = {"DefaultAddressPools": [{"Base": "10.0.0.0/8", "Size": 26}, {"Base": "fd00::/8", "Size": 64}]}
    assert [networks_in(pools(told, settings)[0]), networks_in(pools({}, settings)[0])] == [1 << 18, 256]
    assert pools({}, None) == (BUILT_IN, "the built-in pools")
    settings.write_text("{")
    assert pools({}, settings)[0] == BUILT_IN


@pytest.mark.parametrize(
    ("used", "status"),
    [(3, Status.OK), (26, Status.OK), (27, Status.WARNING), (30, Status.WARNING), (31, Status.FAILED)],
)
def test_a_pool_that_runs_out_is_said_before_it_has(used: int, status: Status) -> None:
    found = docker.check_address_pool({}, with_subnet(used), local=False, ours=2)
    assert found.status is status
    assert f"{used} of about 31 networks in use (the built-in pools), 2 of them ours" in found.text
    assert bool(found.way_out) is (status is not Status.OK)


def test_compose_1_counts_as_none() -> None:
    assert [check.status for check in docker.check_tools("1.29.2", "0.13")] == [Status.FAILED, Status.OK]
    assert [check.status for check in docker.check_tools("v2.26.1-4", "0.13")] == [Status.OK, Status.OK]
    assert [check.status for check in docker.check_tools("", "")] == [Status.FAILED, Status.FAILED]


def test_a_base_image_is_there_stands_in_or_is_missing() -> None:
    stand_in = {"Config": {"Labels": {"trialdeck.stand-in": "1"}}}
    there = docker.check_base_image({"Config": {"Labels": None}})
    missing = docker.check_base_image(None)
    assert (there.status, there.text) == (Status.OK, "debian:bookworm-slim")
    assert "stand-in" in docker.check_base_image(stand_in).text
    assert missing.status is Status.WARNING
    assert "./dev setup" in missing.way_out


def test_leftovers_are_named_and_have_a_way_out() -> None:
    found = docker.check_leftovers([f"container c{number}" for number in range(5)])
    assert found.text == "5 of dead runs: container c0, container c1, container c2 and 2 more"
    assert "trialdeck sweep" in found.way_out
    assert docker.check_leftovers([]).status is Status.OK


def test_limits_that_do_not_hold_are_named() -> None:
    from engine.environments.docker.provider import DockerFacts

    facts = DockerFacts(cgroup_version="1")
    found = docker.check_cgroups(facts, {"MemoryLimit": False, "CpuCfsQuota": True, "PidsLimit": False})
    assert found.status is Status.WARNING
    assert "memory and process limits do not hold" in found.text
    assert docker.check_cgroups(facts, {"MemoryLimit": True}).status is Status.OK


@pytest.mark.parametrize(
    ("free", "status"),
    [(100 * machine.GIB, Status.OK), (5 * machine.GIB, Status.WARNING), (100 * machine.MIB, Status.FAILED)],
)
def test_a_disk_is_judged_by_what_is_free(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free: int, status: Status
) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda place: SimpleNamespace(free=free))
    monkeypatch.setattr("os.statvfs", lambda place: SimpleNamespace(f_files=0, f_favail=0))
    assert machine.check_disk("runs", tmp_path / "not" / "there" / "yet").status is status


def test_a_disk_without_room_for_files_is_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda place: SimpleNamespace(free=100 * machine.GIB))
    monkeypatch.setattr("os.statvfs", lambda place: SimpleNamespace(f_files=1000, f_favail=12))
    found = machine.check_disk("runs", tmp_path)
    assert (found.status, "only 12 files more" in found.text) == (Status.WARNING, True)


@pytest.mark.parametrize(
    ("hard", "status"),
    [(resource.RLIM_INFINITY, Status.OK), (20_000, Status.OK), (256, Status.WARNING), (64, Status.FAILED)],
)
def test_open_files_are_judged_by_how_many_trials_they_carry(hard: int, status: Status) -> None:
    assert machine.check_open_files(hard).status is status


@pytest.mark.parametrize(
    ("environ", "is_terminal", "encoding", "size", "status", "text"),
    [
        ({}, False, "ascii", (80, 24), Status.OK, "plain lines"),
        ({"TERM": "dumb"}, True, "utf-8", (80, 24), Status.WARNING, "TERM=dumb: runs are shown as plain lines"),
        ({"TERM": "xterm-256color"}, True, "utf-8", (120, 40), Status.OK, "120×40, 256 colours"),
        ({"TERM": "xterm", "COLORTERM": "truecolor"}, True, "UTF-8", (80, 24), Status.OK, "16 million colours"),
        ({"TERM": "xterm", "NO_COLOR": "1"}, True, "utf-8", (80, 24), Status.OK, "no colour (NO_COLOR)"),
        ({"TERM": "xterm"}, True, "latin-1", (80, 24), Status.WARNING, "latin-1"),
        ({"TERM": "xterm"}, True, "utf-8", (79, 24), Status.WARNING, "79×24"),
    ],
)
def test_a_terminal_is_told_as_the_console_will_find_it(
    environ: dict[str, str], is_terminal: bool, encoding: str, size: tuple[int, int], status: Status, text: str
) -> None:
    found = machine.check_terminal(environ, is_terminal=is_terminal, encoding=encoding, size=size)
    assert found.status is status
    assert text in found.text


def test_every_status_has_a_glyph_and_every_trouble_a_way_out() -> None:
    assert ok("x", "fine").line.startswith("✓ x ")
    assert warning("x", "so so", "do this").line.endswith("so so → do this")
    assert failed("x", "no", "do that").line.startswith("✗ x ")


def run_doctor(monkeypatch: pytest.MonkeyPatch, checks: list[Check], tmp_path: Path, *, as_json: bool = False) -> int:
    async def found() -> list[Check]:
        return checks

    monkeypatch.setattr(docker, "docker_checks", found)
    with pytest.raises(typer.Exit) as left:
        command.doctor(runs_dir=tmp_path, as_json=as_json)
    return left.value.exit_code


def test_warnings_alone_are_no_failure(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_doctor(monkeypatch, [warning("base image", "missing", "pull it")], tmp_path) == 0
    assert "Everything that trials need is here" in capsys.readouterr().out


def test_something_needed_that_fails_ends_with_2(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_doctor(monkeypatch, [failed("Docker engine", "no answer", "start it")], tmp_path) == 2
    assert "before this is mended: Docker engine." in capsys.readouterr().out


def test_json_has_each_check(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_doctor(monkeypatch, [failed("Docker engine", "no answer", "start it")], tmp_path, as_json=True) == 2
    found = json.loads(capsys.readouterr().out)
    assert (found["schema"], found["exit_code"]) == ("trialdeck.doctor/1", 2)
    assert found["checks"][-1] == {
        "name": "Docker engine",
        "status": "failed",
        "text": "no answer",
        "way_out": "start it",
    }


def test_an_engine_that_does_not_answer_is_one_check_with_its_place(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none.sock")
    with pytest.raises(typer.Exit) as left:
        command.doctor(runs_dir=tmp_path)
    (line,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("✗")]
    assert left.value.exit_code == 2
    assert f"unix://{tmp_path}/none.sock" in line
    assert "./dev setup" in line


@pytest.mark.docker
def test_a_machine_that_runs_these_tests_has_what_trials_need(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(typer.Exit) as left:
        command.doctor(runs_dir=tmp_path, as_json=True)
    checks = {check["name"]: check for check in json.loads(capsys.readouterr().out)["checks"]}
    assert left.value.exit_code == 0
    assert {"Docker engine", "Compose", "buildx", "limits", "address pool", "base image", "leftovers"} <= set(checks)
