"""Making sure that a Docker engine answers: look, say what will be done, do it, look again."""

from __future__ import annotations

import getpass
import grp
import os
import platform
import shlex
import shutil
import sys
from pathlib import Path
from typing import NoReturn

from console.machine import apt, daemon, plan
from console.machine.apt_sources import APT_DIR, OUR_NAME, derive, read_sources, render_deb822, render_pins
from console.machine.command import run
from console.machine.disk import require_space
from console.machine.docker_client import Client, chosen_engine, client_config, find_client
from console.machine.privilege import Privilege, privilege
from console.machine.progress import Progress
from console.machine.release import Release, this_release
from console.machine.trouble import Trouble

SOURCE = APT_DIR / "sources.list.d" / f"{OUR_NAME}.sources"
PINS = APT_DIR / "preferences.d" / OUR_NAME
WHERE = {"source": str(SOURCE), "pins": str(PINS), "log": str(daemon.LOG)}

GROUP = "docker"
REGROUPED = "TRIALDECK_REGROUPED"
GROUP_LIMIT = 30.0
INFO_LIMIT = 30.0
PACKAGES_GB = 1.5
PINNED = ("docker.io", "docker-cli", "docker-buildx", "docker-compose", "containerd")
SOURCE_COMMENT = """Written by trialdeck's ./dev: Docker with Compose 2 from the next release.
Derived from this machine's own sources. To undo, remove this file and preferences.d/trialdeck."""


class NoEngine(Trouble):
    """No engine here, and none that can be provided: what needs one has to do without."""


def look() -> plan.Facts:
    """The facts of this machine; changes nothing."""
    client = find_client()
    settled = client is not None and client.fits
    return plan.Facts(
        system=platform.system(),
        release=this_release(),
        apt=apt.has_apt(),
        root=os.geteuid() == 0,
        sudo=shutil.which("sudo") is not None,
        systemd=daemon.uses_systemd(),
        client=client,
        chosen=chosen_engine(os.environ, client_config(os.environ)),
        dockerd=_on_roots_path("dockerd"),
        docker_ce=not settled and apt.installed("docker-ce-cli"),
        in_group=_in_group(),
    )


def ensure_engine(progress: Progress, *, restart: list[str]) -> Client:
    """Return the client of an engine that answers, providing one first where that's possible.

    Raises `NoEngine` where it isn't, and `Trouble` where providing it went wrong. `restart` is this
    process's own command line, for the one case where it must start again as a member of a new group.
    """
    facts = look()
    decision = plan.decide(facts)
    if isinstance(decision, plan.Ready):
        return decision.client
    if isinstance(decision, plan.Unprovidable):
        raise NoEngine(f"No Docker engine to work with: {decision.missing}.", decision.way_out)
    for line in plan.announce(decision, facts, WHERE):
        progress.say(line)
    provide(decision, facts, progress)
    if decision.regroup and REGROUPED not in os.environ:
        start_again_in_group(restart)
    client = find_client()
    if client is None or not client.fits:
        lacking = ", ".join(plan.missing_parts(client))
        raise Trouble(
            f"Docker was provided and something is still missing: {lacking}",
            "run ./dev setup again; if it stays so, install Docker with Compose 2 and buildx by hand",
        )
    report(client, progress)
    return client


def provide(decision: plan.Provide, facts: plan.Facts, progress: Progress) -> None:
    """Carry a plan out, in its order."""
    root = privilege()
    assert root is not None, "decide() provides nothing without a way to be root"
    root.unlock()
    if decision.packages:
        require_space(Path("/var/lib/docker"), PACKAGES_GB, "installing Docker")
        installer = apt.Apt(root, progress)
        if decision.next_suite and facts.release:
            installer.update()
            add_next_suite(root, installer, facts.release, decision.next_suite)
        installer.install(decision.packages)
    if decision.start:
        daemon.start(root, progress)
    if decision.join_group:
        with progress.step(f"adding this account to the group {GROUP}"):
            done = root.run(["usermod", "-a", "-G", GROUP, getpass.getuser()], timeout=GROUP_LIMIT)
            if not done.ok:
                raise Trouble(f"can't join the group {GROUP}", "run ./dev as root", done.tail())


def add_next_suite(root: Privilege, installer: apt.Apt, release: Release, suite: str) -> None:
    """Let apt see the next suite, pinned below everything that is installed or could be."""
    archive = installer.archive_uris("Debian")
    derived = derive(read_sources(), release.codename, suite, archive)
    if not derived:
        raise Trouble(
            f"this machine's apt sources name no Debian archive with the suite {release.codename}",
            f"add one to {APT_DIR}/sources.list.d, or install Docker with Compose 2 and buildx by hand",
        )
    suites = list(dict.fromkeys(name for source in derived for name in source.suites))
    # The pins first: a moment with the source and without them would be one in which all can be upgraded.
    root.write(PINS, render_pins(suites, PINNED))
    root.write(SOURCE, render_deb822(derived, SOURCE_COMMENT))
    installer.stale()


def start_again_in_group(restart: list[str]) -> NoReturn:
    """Run this process's command line once more; a new group only counts for processes started in it."""
    os.environ[REGROUPED] = "1"
    sys.stderr.flush()
    os.execvp("sg", ["sg", GROUP, "-c", f"exec {shlex.join(restart)}"])


def report(client: Client, progress: Progress) -> None:
    """One line on the engine that now answers, and what doesn't work in it."""
    info = run([client.path, "info", "--format", "{{json .}}"], timeout=INFO_LIMIT)
    line, notes = daemon.describe(info.output)
    progress.say(f"  engine: {line}, Compose {client.compose}, buildx {client.buildx}")
    for note in notes:
        progress.say(f"  note: {note}")


def _on_roots_path(name: str) -> bool:
    places = f"{os.environ.get('PATH', '')}:/usr/local/sbin:/usr/sbin:/sbin"
    return shutil.which(name, path=places) is not None


def _in_group() -> bool:
    try:
        return getpass.getuser() in grp.getgrnam(GROUP).gr_mem
    except (KeyError, OSError):
        return False
