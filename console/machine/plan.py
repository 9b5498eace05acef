"""What has to be done so that a Docker engine answers here, or why it can't be done. Pure decisions."""

from __future__ import annotations

from dataclasses import dataclass

from console.machine.docker_client import Client
from console.machine.release import Release


@dataclass(frozen=True)
class Facts:
    """What is known of this machine before anything is changed."""

    system: str
    release: Release | None
    apt: bool
    root: bool
    sudo: bool
    systemd: bool
    client: Client | None
    chosen: str | None = None
    """The engine that the user chose other than this machine's own, in words."""
    dockerd: bool = False
    docker_ce: bool = False
    """Whether Docker's own packages are installed; the distribution's would replace them."""
    in_group: bool = False
    """Whether this account is in the group docker, if not yet in this session."""


@dataclass(frozen=True)
class Ready:
    """An engine answers, with everything we need."""

    client: Client


@dataclass(frozen=True)
class Provide:
    """What `./dev` is going to do, in this order."""

    next_suite: str | None
    packages: tuple[str, ...]
    start: bool
    join_group: bool
    regroup: bool
    """Whether this process has to start again as a member of the group docker."""


@dataclass(frozen=True)
class Unprovidable:
    """No engine, and none that we may or can provide."""

    missing: str
    way_out: str


def missing_parts(client: Client | None) -> list[str]:
    """What is missing here, each in words."""
    if client is None:
        return ["a docker command", "a Docker engine that answers", "Compose 2", "buildx"]
    parts = []
    if client.server is None:
        parts.append(f"a Docker engine that answers ({client.said})")
    if client.compose is None:
        parts.append("Compose 2")
    if client.buildx is None:
        parts.append("buildx")
    return parts


def decide(facts: Facts) -> Ready | Provide | Unprovidable:
    """Decide once, from facts alone; nothing is installed over what the user chose or installed."""
    client = facts.client
    if client is not None and client.fits:
        return Ready(client)
    missing = "missing here: " + ", ".join(missing_parts(client))
    if facts.chosen and (client is None or client.server is None):
        said = client.said if client else "there is no docker command"
        return Unprovidable(
            f"{facts.chosen} is chosen as the engine, and it doesn't answer ({said})",
            "start that engine, or unset the choice so that this machine's own engine is used",
        )
    if facts.system != "Linux":
        return Unprovidable(missing, "install and start Docker Desktop, OrbStack or Colima")
    release = facts.release
    if release is None or not facts.apt or not release.has_apt_docker:
        name = release.name if release and release.name else "this system"
        return Unprovidable(
            missing,
            f"install Docker with Compose 2 and buildx as {name} does it, and start it"
            " (./dev installs it by itself on Debian 12+ and Ubuntu 22.04+)",
        )
    if not facts.root and not facts.sudo:
        return Unprovidable(
            missing, "run ./dev as root once, or install sudo for this account: it installs and starts Docker"
        )
    return _provide(facts, release)


def _provide(facts: Facts, release: Release) -> Provide:
    client = facts.client
    answers = client is not None and (client.server is not None or client.denied)
    packages = packages_for(release, facts, engine=not answers and not facts.dockerd)
    outsider = not facts.root and (client is None or client.server is None)
    return Provide(
        next_suite=release.next_suite if packages and not facts.docker_ce else None,
        packages=packages,
        start=not answers,
        join_group=outsider and not facts.in_group,
        regroup=outsider,
    )


def packages_for(release: Release, facts: Facts, *, engine: bool) -> tuple[str, ...]:
    """The packages of what is missing, by the names that they have here."""
    client = facts.client
    if facts.docker_ce:
        command, compose, buildx = "docker-ce-cli", "docker-compose-plugin", "docker-buildx-plugin"
    elif release.id == "ubuntu":
        command, compose, buildx = "docker.io", "docker-compose-v2", "docker-buildx"
    else:
        command, compose, buildx = "docker-cli", "docker-compose", "docker-buildx"
    wanted = []
    if engine:
        # containerd by name: an older one satisfies docker.io's dependency and was never tried with it.
        wanted += ["docker.io", "containerd"]
    if client is None:
        wanted.append(command)
    if client is None or client.compose is None:
        wanted.append(compose)
    if client is None or client.buildx is None:
        wanted.append(buildx)
    return tuple(dict.fromkeys(wanted))


def announce(plan: Provide, facts: Facts, where: dict[str, str]) -> list[str]:
    """The plan in words, said before anything is done. `where` names the files that are written."""
    name = facts.release.name if facts.release else "this system"
    how = "as root" if facts.root else "with sudo"
    steps = []
    if plan.next_suite:
        steps.append(
            f"add the suite {plan.next_suite} of this machine's own package archive to apt, pinned so that"
            f" nothing but Docker comes from it ({where['source']}, {where['pins']})"
        )
    if plan.packages:
        steps.append(f"install with apt: {' '.join(plan.packages)}")
    if plan.start:
        steps.append(
            "start docker with systemctl"
            if facts.systemd
            else f"start dockerd by hand, since no systemd runs here (log: {where['log']})"
        )
    if plan.join_group:
        steps.append("add this account to the group docker, whose members can do here what root can")
    if plan.regroup:
        steps.append("start this same command again as a member of it (in shells open now: newgrp docker)")
    return [
        f"Missing here: {', '.join(missing_parts(facts.client))}.",
        f"On this machine ({name}, {how}) ./dev will now:",
        *(f"  {number}. {step}" for number, step in enumerate(steps, 1)),
    ]
