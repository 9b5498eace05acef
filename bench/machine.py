"""What was measured on: without it a figure can't be read later."""

from __future__ import annotations

import os
import platform
import subprocess
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version

import msgspec
import psutil

from engine.version import VERSION

ASK_TIMEOUT_SEC = 20.0
LIBRARIES = ("aiodocker", "anyio", "msgspec", "textual")


class Machine(msgspec.Struct, frozen=True, kw_only=True):
    """`load` are the load averages of 1, 5 and 15 minutes before the first benchmark."""

    started: str
    cpus: int
    memory_mb: int
    load: tuple[float, float, float]
    kernel: str
    python: str
    docker: str
    compose: str
    buildx: str
    trialdeck: str
    commit: str
    libraries: dict[str, str]


def look() -> Machine:
    return Machine(
        started=datetime.now(UTC).isoformat(timespec="seconds"),
        cpus=len(os.sched_getaffinity(0)),
        memory_mb=psutil.virtual_memory().total >> 20,
        load=os.getloadavg(),
        kernel=platform.release(),
        python=platform.python_version(),
        docker=_ask("docker", "version", "--format", "{{.Server.Version}}"),
        compose=_ask("docker", "compose", "version", "--short"),
        buildx=_ask("docker", "buildx", "version"),
        trialdeck=VERSION,
        commit=_ask("git", "describe", "--always", "--dirty"),
        libraries={name: found for name in LIBRARIES if (found := _installed(name))},
    )


def lines(machine: Machine) -> list[str]:
    load = " ".join(f"{value:.2f}" for value in machine.load)
    libraries = ", ".join(f"{name} {found}" for name, found in machine.libraries.items())
    busy = machine.load[0] > machine.cpus / 2
    return [
        f"{machine.cpus} CPUs, {machine.memory_mb / 1024:.1f} GiB, load {load}, Linux {machine.kernel}",
        f"Docker {machine.docker or '(none)'}, Compose {machine.compose or '(none)'}, {machine.buildx}".rstrip(", "),
        f"trialdeck {machine.trialdeck} {machine.commit}, Python {machine.python}; {libraries}",
        *(["! the machine is busy: what waits for a CPU here looks slower than it is"] if busy else []),
    ]


def _ask(*argv: str) -> str:
    """The first line of a command's answer, "" where there is none."""
    try:
        answer = subprocess.run(argv, capture_output=True, text=True, timeout=ASK_TIMEOUT_SEC, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return (answer.stdout.strip().splitlines() or [""])[0] if answer.returncode == 0 else ""


def _installed(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""
