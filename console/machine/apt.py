"""Installing packages with apt: bounded, patient with another apt, and clear about what went wrong."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from pathlib import Path

from console.machine.command import Outcome, run
from console.machine.privilege import Privilege
from console.machine.progress import Progress
from console.machine.trouble import Trouble

UPDATE_LIMIT = 300.0
INSTALL_LIMIT = 900.0
QUERY_LIMIT = 60.0
LOCK_LIMIT = 300.0
LOCK_PAUSE = 3.0

# LC_ALL: the output is read by the patterns below. NEEDRESTART_SUSPEND: Ubuntu's hook asks questions.
QUIET = ("env", "LC_ALL=C", "DEBIAN_FRONTEND=noninteractive", "NEEDRESTART_SUSPEND=1")
PATIENT = ("-o", "Acquire::Retries=2", "-o", "Dpkg::Use-Pty=0")

LOCKED = re.compile(
    r"Could not get lock (?P<file>\S+?)\.(?:.* held by process (?P<pid>\d+)(?: \((?P<name>[^)]*)\))?)?"
    r"|Unable to (?:lock|acquire)"
)
OFFLINE = re.compile(
    r"Could not resolve|Temporary failure resolving|Cannot initiate the connection|Could not connect"
    r"|[Cc]onnection timed out|Network is unreachable|Unable to connect|Connection refused"
)
FULL = re.compile(r"No space left on device|don't have enough free space")
INTERRUPTED = re.compile(r"dpkg was interrupted")
UNSIGNED = re.compile(r"NO_PUBKEY|is not signed|not valid yet|EXPKEYSIG|Release file .* expired")
UNKNOWN = re.compile(r"Unable to locate package (\S+)|Package '?([^\s']+)'? has no installation candidate")
REFUSED = re.compile(r"Packages need to be removed but remove is disabled")


def is_locked(output: str) -> bool:
    return LOCKED.search(output) is not None


def lock_holder(output: str) -> str:
    """Who holds apt's lock, as far as apt says it."""
    found = LOCKED.search(output)
    if found is None or not found["pid"]:
        return "another package operation"
    return f"{found['name'] or 'another program'} (process {found['pid']})"


def explain(output: str, doing: str) -> Trouble:
    """Turn apt's output into the one thing that a person can act on."""
    evidence = "\n".join(line for line in output.splitlines() if re.match(r"(E:|W: Failed|dpkg:)", line))
    evidence = "\n".join((evidence or output).strip().splitlines()[-5:])
    if is_locked(output):
        return Trouble(
            f"{doing}: {lock_holder(output)} still holds apt's lock after {LOCK_LIMIT:.0f} s",
            "let it finish (or stop it), then run ./dev again",
            evidence,
        )
    if INTERRUPTED.search(output):
        return Trouble(f"{doing}: an earlier dpkg run was interrupted", "run: dpkg --configure -a (as root)", evidence)
    if FULL.search(output):
        return Trouble(f"{doing}: the disk is full", "free some space (see: df -h /var)", evidence)
    if REFUSED.search(output):
        return Trouble(
            f"{doing}: apt would have to remove packages that are installed here, so nothing was changed",
            "install Docker with Compose 2 and buildx by hand, from where the present packages come",
            evidence,
        )
    if UNSIGNED.search(output):
        return Trouble(
            f"{doing}: apt doesn't trust the package lists", "check the clock and the archive's key", evidence
        )
    if OFFLINE.search(output):
        return Trouble(
            f"{doing}: the package archive in this machine's apt sources can't be reached",
            "check the network, the proxy (Acquire::http::Proxy) and /etc/apt/sources.list*",
            evidence,
        )
    if missing := UNKNOWN.search(output):
        return Trouble(
            f"{doing}: this machine's apt sources have no package {missing[1] or missing[2]}",
            "check /etc/apt/sources.list* (on Ubuntu, the component universe has to be enabled)",
            evidence,
        )
    return Trouble(f"{doing}: apt failed", "read apt's words below, then run ./dev again", evidence)


class Apt:
    """apt as root. The lists are fetched once for each `Apt`, and again after `stale()`."""

    def __init__(self, privilege: Privilege, progress: Progress) -> None:
        self._privilege = privilege
        self._progress = progress
        self._fresh = False
        self._warnings = ""

    def stale(self) -> None:
        """Say that a source was added, so that the next use fetches the lists again."""
        self._fresh = False

    def update(self) -> None:
        """Fetch the lists; a source of somebody else's that is broken is not our trouble yet."""
        if self._fresh:
            return
        with self._progress.step("fetching apt's package lists"):
            done = self._patiently(["update"], UPDATE_LIMIT)
            if not done.ok:
                raise explain(done.output, "fetching apt's package lists")
        self._fresh = True
        self._warnings = done.output

    def install(self, packages: Sequence[str]) -> None:
        """Install packages (nothing recommended, nothing removed), or raise what a person can act on."""
        self.update()
        doing = f"installing {' '.join(packages)} with apt"
        with self._progress.step(doing):
            done = self._patiently(
                ["install", "-y", "--no-install-recommends", "--no-remove", *packages], INSTALL_LIMIT
            )
            if not done.ok:
                # `apt-get update` succeeds with old lists where the network is away; its words then explain.
                offline = OFFLINE.search(self._warnings) and UNKNOWN.search(done.output)
                raise explain(self._warnings if offline else done.output, doing)

    def archive_uris(self, origin: str) -> frozenset[str] | None:
        """The URIs whose Release file names `origin` as theirs; None before any list was fetched."""
        done = run(
            ["apt-get", "indextargets", "--format", "$(ORIGIN)\t$(REPO_URI)", "Created-By: Packages"],
            timeout=QUERY_LIMIT,
        )
        rows = [line.split("\t") for line in done.output.splitlines()] if done.ok else []
        found = frozenset(row[1].rstrip("/") for row in rows if len(row) == 2 and row[0] == origin)
        return found or None

    def _patiently(self, arguments: list[str], timeout: float) -> Outcome:
        argv = [*QUIET, "apt-get", "-q", *PATIENT, *arguments]
        deadline = time.monotonic() + LOCK_LIMIT
        told = False
        while True:
            done = self._privilege.run(argv, timeout=timeout)
            if done.ok or not is_locked(done.output) or time.monotonic() > deadline:
                return done
            if not told:
                self._progress.say(f"  {lock_holder(done.output)} holds apt's lock; waiting for it")
                told = True
            time.sleep(LOCK_PAUSE)


def settings(names: Sequence[str]) -> dict[str, str]:
    """apt's settings of these names on this machine, those that are set."""
    done = run(["apt-config", "dump"], timeout=QUERY_LIMIT)
    found = {}
    for line in done.output.splitlines() if done.ok else []:
        name, _, value = line.partition(" ")
        if name in names and value.strip('";'):
            found[name] = value.rstrip(";").strip('"')
    return found


def installed(package: str) -> bool:
    done = run(["dpkg-query", "-W", "-f", "${db:Status-Status}", package], timeout=QUERY_LIMIT)
    return done.ok and done.output.strip() == "installed"


def has_apt() -> bool:
    return Path("/usr/bin/apt-get").exists()
