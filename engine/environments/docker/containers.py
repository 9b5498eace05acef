"""What an inspect says about a container, read once into the facts that the rest of the provider asks for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from engine.environments.docker import labels
from engine.environments.docker.engine_api import Engine
from engine.environments.docker.layers import Layers, layers_of


class HealthProbe(msgspec.Struct, frozen=True, kw_only=True):
    exit_code: int
    output: str
    ended: str


class Container(msgspec.Struct, frozen=True, kw_only=True):
    """`health`: "", starting, healthy or unhealthy. `restarts`: a policy that starts it again after an end.
    `hidden` are places that the archive API can't see (tmpfs). `network_of`: the id of the container whose network it
    shares, empty where it has one of its own. `beside_layers`: places that can be written and are none of its layers
    (tmpfs, volumes, folders of the host), so that no list of changes tells of them."""

    id: str
    name: str
    service: str
    state: str
    running: bool
    exit_code: int
    oom_killed: bool
    error: str
    pid: int
    started: str
    finished: str
    health: str = ""
    probes: tuple[HealthProbe, ...] = ()
    has_healthcheck: bool = False
    restarts: bool = False
    tty: bool = False
    user: str = ""
    workdir: str = "/"
    read_only: bool = False
    hidden: tuple[str, ...] = ()
    mounted: tuple[str, ...] = ()
    beside_layers: tuple[str, ...] = ()
    memory_limit: int = 0
    cpu_limit: float = 0.0
    network_of: str = ""
    layers: Layers | None = None


def read_container(told: dict[str, Any]) -> Container:
    state, config, host = told["State"], told["Config"], told["HostConfig"]
    health = state.get("Health") or {}
    test = (config.get("Healthcheck") or {}).get("Test") or []
    mounts = told.get("Mounts") or []
    hidden = [*(host.get("Tmpfs") or {}), *(m["Destination"] for m in mounts if m.get("Type") == "tmpfs")]
    marked = config.get("Labels") or {}
    quota, period = host.get("CpuQuota") or 0, host.get("CpuPeriod") or 100_000
    cpus = (host.get("NanoCpus") or 0) / 1e9 or (quota / period if quota > 0 else 0.0)
    return Container(
        id=told["Id"],
        name=str(told["Name"]).lstrip("/"),
        service=marked.get(labels.SERVICE) or marked.get(labels.COMPOSE_SERVICE) or "",
        state=state["Status"],
        running=bool(state["Running"]) and not state.get("Restarting"),
        exit_code=state["ExitCode"],
        oom_killed=bool(state.get("OOMKilled")),
        error=state.get("Error") or "",
        pid=state.get("Pid") or 0,
        started=state.get("StartedAt") or "",
        finished=state.get("FinishedAt") or "",
        health=health.get("Status") or "",
        probes=tuple(
            HealthProbe(exit_code=p.get("ExitCode", 0), output=p.get("Output") or "", ended=p.get("End") or "")
            for p in health.get("Log") or ()
        ),
        has_healthcheck=bool(test) and test[0] != "NONE",
        restarts=(host.get("RestartPolicy") or {}).get("Name") not in (None, "", "no"),
        tty=bool(config.get("Tty")),
        user=config.get("User") or "",
        workdir=config.get("WorkingDir") or "/",
        read_only=bool(host.get("ReadonlyRootfs")),
        hidden=tuple(path.rstrip("/") or "/" for path in hidden),
        mounted=tuple(m["Destination"] for m in mounts if m.get("Type") != "tmpfs"),
        beside_layers=_beside_layers(host, mounts),
        memory_limit=host.get("Memory") or 0,
        cpu_limit=cpus,
        network_of=_network_of(str(host.get("NetworkMode") or "")),
        layers=layers_of(told.get("GraphDriver")),
    )


def _beside_layers(host: dict[str, Any], mounts: Sequence[dict[str, Any]]) -> tuple[str, ...]:
    memory = [path for path, options in (host.get("Tmpfs") or {}).items() if "ro" not in str(options).split(",")]
    written = [str(mount["Destination"]) for mount in mounts if mount.get("RW", True)]
    return tuple(sorted({path.rstrip("/") or "/" for path in (*memory, *written)}))


def _network_of(mode: str) -> str:
    kind, _, whose = mode.partition(":")
    return whose if kind == "container" else ""


def sharing_network(container: Container, others: Iterable[Container]) -> list[str]:
    """The services that share the network of a container, and lose it when that one ends."""
    return sorted(other.service for other in others if other.network_of and other.network_of == container.id)


async def inspect(engine: Engine, container: str) -> Container:
    return read_container(await engine.get(f"containers/{container}/json"))


async def last_log(engine: Engine, container: Container, lines: int = 40) -> str:
    """The end of what a container said, both streams in order; empty where its log can't be had."""
    raw = b""
    params: dict[str, str | int | bool] = {"stdout": True, "stderr": True, "tail": lines}
    async with engine.stream("GET", f"containers/{container.id}/logs", params=params) as response:
        raw = await response.read()
    return (raw if container.tty else strip_frames(raw)).decode("utf-8", "replace").rstrip()


def strip_frames(raw: bytes) -> bytes:
    """The payload of a multiplexed log that is complete in memory."""
    parts: list[bytes] = []
    at = 0
    while at + 8 <= len(raw):
        size = int.from_bytes(raw[at + 4 : at + 8], "big")
        parts.append(raw[at + 8 : at + 8 + size])
        at += 8 + size
    return b"".join(parts)


def main_first(services: Sequence[str]) -> tuple[str, ...]:
    return tuple(sorted(set(services), key=lambda name: (name != "main", name)))
