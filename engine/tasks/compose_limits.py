"""The CPU and memory that a task's services declare as limits, for admission: what a trial may take of the host."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from engine.tasks.compose_names import ComposeUnreadable, read_compose
from engine.tasks.task import MAIN, EnvironmentSettings

_SIZE = re.compile(r"\s*([0-9.]+)\s*([bkmgt]?)(?:i?b)?\s*", re.IGNORECASE)
_UNITS = {"": 1, "b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}


def declared_limits(settings: EnvironmentSettings, compose_file: Path | None) -> tuple[float, int]:
    """(CPUs, MiB) summed over all services; a service that declares none adds nothing.

    `main` has the task's own declaration unless the Compose file says otherwise. A file that can't be read adds
    nothing: starting the environment will say what is wrong with it.
    """
    cpus, memory = {MAIN: settings.cpus or 0.0}, {MAIN: settings.memory_mb or 0}
    try:
        services = read_compose(compose_file).get("services") if compose_file is not None else None
    except (ComposeUnreadable, OSError):
        services = None
    for name, service in (services if isinstance(services, dict) else {}).items():
        if isinstance(service, dict):
            found = _service(service)
            cpus[str(name)] = found[0] or cpus.get(str(name), 0.0)
            memory[str(name)] = found[1] or memory.get(str(name), 0)
    return sum(cpus.values()), sum(memory.values())


def _service(service: dict[str, Any]) -> tuple[float, int]:
    limits: object = service
    for key in ("deploy", "resources", "limits"):
        limits = limits.get(key) if isinstance(limits, dict) else None
    limits = limits if isinstance(limits, dict) else {}
    return _number(service.get("cpus") or limits.get("cpus")), _mebibytes(
        service.get("mem_limit") or limits.get("memory")
    )


def _number(value: object) -> float:
    try:
        return float(str(value))
    except ValueError:
        return 0.0


def _mebibytes(value: object) -> int:
    found = _SIZE.fullmatch(str(value))
    return int(float(found[1]) * _UNITS[found[2].lower()]) >> 20 if found else 0
