"""Labels on every object of ours, and whose it is: how a sweep tells a dead run's leftovers from everything else."""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import socket
import unicodedata
from pathlib import Path

from engine.owner import boot_id, process_alive, process_started

RUN = "trialdeck.run"
TRIAL = "trialdeck.trial"
ENVIRONMENT = "trialdeck.phase"
PROJECT = "trialdeck.project"
SERVICE = "trialdeck.service"
OWNER = "trialdeck.owner"
HOST = "trialdeck.host"
KEPT = "trialdeck.kept"
KEPT_CONTAINER = "trialdeck.kept.container"
RUN_FOLDER = "trialdeck.kept.folder"
COMPOSE_PROJECT = "com.docker.compose.project"
COMPOSE_SERVICE = "com.docker.compose.service"

PREFIX = "trialdeck-"
BOOT_DIGITS = 8


def clean(name: str, most: int = 30) -> str:
    """`name` in the letters that Compose and image names allow; two names may become one, so a suffix must follow."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    plain = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")
    return plain[:most].rstrip("-") or "trial"


def project_name(name: str, environment: str) -> str:
    """Unique on this daemon for each call, valid for Compose whatever `name` holds."""
    kind = "" if environment == "agent" else f"-{clean(environment, 8)}"
    return f"{PREFIX}{clean(name)}{kind}-{secrets.token_hex(4)}"


def image_tag(name: str, digest: str, run: str) -> str:
    """The image of one content in one run, the same for all trials of a task; no other run meets it, so its removal
    hurts nobody."""
    run_hash = hashlib.sha256(run.encode("utf-8", "surrogateescape")).hexdigest()[:8]
    return f"{PREFIX}{clean(name, 60)}:{digest[:12]}-{run_hash}"


def content_name(folder: Path) -> str:
    """What a build context is called: its task, where it is the usual folder of one."""
    return folder.parent.name if folder.name in ("environment", "tests") else folder.name


def host() -> str:
    """This host and PID namespace: an owner's number means something only there."""
    try:
        identity = Path("/etc/machine-id").read_text().strip()
    except OSError:
        identity = ""
    try:
        namespace = str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        namespace = ""
    seed = f"{identity or socket.gethostname()} {namespace}"
    return f"{clean(socket.gethostname(), 20)}-{hashlib.sha256(seed.encode()).hexdigest()[:12]}"


def owner(pid: int | None = None) -> str:
    """`pid:start:boot` of the process that answers for an object."""
    number = pid or os.getpid()
    return f"{number}:{process_started(number) or 0.0:.2f}:{boot_id()[:BOOT_DIGITS]}"


def owner_alive(label: str) -> bool:
    """Whether the process that a label names still runs here. A label that can't be read counts as alive."""
    try:
        pid, start, boot = label.split(":")
        return boot == boot_id()[:BOOT_DIGITS] and process_alive(int(pid), float(start))
    except ValueError:
        return True


def of_run(run: str) -> dict[str, str]:
    return {RUN: run, OWNER: owner(), HOST: host()}


def of_environment(run: str, trial: str, environment: str, project: str) -> dict[str, str]:
    return {**of_run(run), TRIAL: trial, ENVIRONMENT: environment, PROJECT: project}
