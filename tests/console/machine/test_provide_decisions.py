"""What `./dev` decides to do on which machine."""

from __future__ import annotations

from dataclasses import replace

import pytest

from console.machine.docker_client import Client
from console.machine.plan import Facts, Provide, Ready, Unprovidable, announce, decide
from console.machine.release import Release

BOOKWORM = Release("debian", "12", "bookworm", "Debian GNU/Linux 12 (bookworm)")
TRIXIE = Release("debian", "13", "trixie", "Debian GNU/Linux 13 (trixie)")
BULLSEYE = Release("debian", "11", "bullseye", "Debian GNU/Linux 11 (bullseye)")
NOBLE = Release("ubuntu", "24.04", "noble", "Ubuntu 24.04 LTS")
FEDORA = Release("fedora", "41", "", "Fedora Linux 41")

SILENT = Client("/usr/bin/docker", server=None, compose="2.26.1", buildx="0.13.1", said="Is the daemon running?")
DENIED = replace(SILENT, said="permission denied while trying to connect to the Docker daemon socket")
WHERE = {"source": "/source", "pins": "/pins", "log": "/log"}


def machine(release: Release | None = BOOKWORM, client: Client | None = None) -> Facts:
    """A machine with apt and root, and nothing of Docker unless told."""
    return Facts(system="Linux", release=release, apt=True, root=True, sudo=False, systemd=False, client=client)


def provided(facts: Facts) -> Provide:
    decision = decide(facts)
    assert isinstance(decision, Provide), decision
    return decision


def refused(facts: Facts) -> Unprovidable:
    decision = decide(facts)
    assert isinstance(decision, Unprovidable), decision
    return decision


def test_an_engine_with_everything_is_taken_as_it_is() -> None:
    client = Client("/usr/bin/docker", server="26.1.5", compose="2.26.1", buildx="0.13.1")
    assert decide(machine(FEDORA, client)) == Ready(client)


def test_bare_debian_12_gets_everything_from_the_next_suite() -> None:
    plan = provided(machine())
    assert plan == Provide(
        next_suite="trixie",
        packages=("docker.io", "containerd", "docker-cli", "docker-compose", "docker-buildx"),
        start=True,
        join_group=False,
        regroup=False,
    )


def test_debian_13_and_ubuntu_get_their_own_packages_by_their_own_names() -> None:
    assert provided(machine(TRIXIE)).next_suite is None
    ubuntu = provided(machine(NOBLE))
    assert ubuntu.next_suite is None
    assert ubuntu.packages == ("docker.io", "containerd", "docker-compose-v2", "docker-buildx")


def test_an_installed_daemon_that_is_down_is_started_and_nothing_is_installed() -> None:
    plan = provided(replace(machine(client=SILENT), dockerd=True))
    assert (plan.packages, plan.next_suite, plan.start) == ((), None, True)


def test_only_what_is_missing_is_installed_beside_an_engine_that_answers() -> None:
    old = Client("/usr/bin/docker", server="20.10.24", compose=None, buildx=None)
    plan = provided(replace(machine(client=old), dockerd=True))
    assert (plan.packages, plan.start) == (("docker-compose", "docker-buildx"), False)


def test_packages_of_docker_itself_are_completed_from_there_and_not_replaced() -> None:
    partial = Client("/usr/bin/docker", server="27.0.0", compose=None, buildx="0.15.0")
    plan = provided(replace(machine(client=partial), dockerd=True, docker_ce=True))
    assert (plan.packages, plan.next_suite) == (("docker-compose-plugin",), None)


def test_an_account_with_sudo_joins_the_group_that_may_use_the_socket() -> None:
    facts = replace(machine(client=DENIED), root=False, sudo=True, dockerd=True)
    plan = provided(facts)
    assert (plan.packages, plan.start, plan.join_group, plan.regroup) == ((), False, True, True)
    member = provided(replace(facts, in_group=True))
    assert (member.join_group, member.regroup) == (False, True)


def test_an_engine_that_the_user_chose_is_never_replaced() -> None:
    facts = replace(machine(client=SILENT), chosen="DOCKER_HOST=tcp://build.example:2376")
    assert "DOCKER_HOST=tcp://build.example:2376" in refused(facts).missing
    assert "DOCKER_HOST" in refused(replace(facts, client=None)).missing


@pytest.mark.parametrize("release", [FEDORA, BULLSEYE, None])
def test_elsewhere_it_says_what_is_missing_and_changes_nothing(release: Release | None) -> None:
    said = refused(machine(release))
    for part in ("docker command", "engine", "Compose 2", "buildx"):
        assert part in said.missing
    assert "install Docker" in said.way_out


def test_on_macos_only_the_missing_parts_are_named() -> None:
    said = refused(replace(machine(None, SILENT), system="Darwin", apt=False))
    assert "Is the daemon running?" in said.missing
    assert "Compose" not in said.missing
    assert "Docker Desktop" in said.way_out


def test_without_root_and_without_sudo_it_says_so() -> None:
    assert "root" in refused(replace(machine(), root=False)).way_out


def test_the_plan_is_told_step_by_step_before_anything_happens() -> None:
    facts = machine()
    told = "\n".join(announce(provided(facts), facts, WHERE))
    assert told.index("trixie") < told.index("docker.io") < told.index("start dockerd by hand")
    for file in WHERE.values():
        assert file in told
    assert "systemctl" in "\n".join(announce(provided(facts), replace(facts, systemd=True), WHERE))


def test_joining_the_group_is_told_with_what_it_means() -> None:
    facts = replace(machine(client=DENIED), root=False, sudo=True)
    told = "\n".join(announce(provided(facts), facts, WHERE))
    assert "group docker" in told
    assert "what root can" in told
