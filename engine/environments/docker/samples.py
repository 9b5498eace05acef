"""Resources of every container once a second: from its control groups where the daemon is local, else from stats."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import anyio
import msgspec

from engine.environments.docker.containers import Container
from engine.environments.docker.engine_api import Engine, EngineCallFailed
from engine.environments.docker.host_view import HostView, number_in
from engine.environments.docker.together import together
from engine.environments.environment import Emit
from engine.events import ResourcePeaked, ResourceSampled, ThresholdCrossed

EVERY_SEC = 1.0
STATS_SEC = 5.0
STATS_AT_ONCE = 8
CROSSED, CALM = 0.90, 0.85
UNLIMITED = 1 << 60


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """Counters as they stand. Limits 0 where there is none."""

    cpu_seconds: float = 0.0
    memory: int = 0
    memory_limit: int = 0
    pids: int = 0
    pids_limit: int = 0
    received: int = 0
    sent: int = 0
    block_read: int = 0
    block_write: int = 0


class Watched:
    """One container that is sampled: its last reading, its peaks, and which thresholds it is above."""

    def __init__(self, trial: str, environment: str, container: Container, view: HostView | None, emit: Emit) -> None:
        self.trial = trial
        self.environment = environment
        self.container = container
        self.view = view
        self.emit = emit
        self._at = 0.0
        self._cpu = 0.0
        self._above: set[str] = set()
        self._peak = ResourcePeaked(trial=trial, service=container.service, environment=environment)

    def take(self, reading: Reading, at: float) -> None:
        passed = at - self._at
        percent = max(0.0, (reading.cpu_seconds - self._cpu) / passed * 100) if self._at and passed > 0.05 else 0.0
        self._at, self._cpu = at, reading.cpu_seconds
        limit = reading.memory_limit or self.container.memory_limit
        sample = ResourceSampled(
            trial=self.trial,
            service=self.container.service,
            environment=self.environment,
            cpu_percent=round(percent, 1),
            cpu_limit=self.container.cpu_limit * 100,
            memory_bytes=reading.memory,
            memory_limit=limit,
            pids=reading.pids,
            network_rx=reading.received,
            network_tx=reading.sent,
            block_read=reading.block_read,
            block_write=reading.block_write,
        )
        self.emit(sample)
        self._threshold("memory", reading.memory, limit)
        self._threshold("pids", reading.pids, reading.pids_limit)
        peak = self._peak
        self._peak = ResourcePeaked(
            trial=self.trial,
            service=self.container.service,
            environment=self.environment,
            cpu_percent=max(peak.cpu_percent, sample.cpu_percent),
            memory_bytes=max(peak.memory_bytes, reading.memory),
            memory_limit=limit,
            pids=max(peak.pids, reading.pids),
            network_bytes=max(peak.network_bytes, reading.received + reading.sent),
            block_bytes=max(peak.block_bytes, reading.block_read + reading.block_write),
        )

    def _threshold(self, what: str, value: float, limit: float) -> None:
        """Once per upward crossing; a value that trembles at the border crosses once."""
        if not limit:
            return
        if value >= limit * CROSSED and what not in self._above:
            self._above.add(what)
            self.emit(
                ThresholdCrossed(trial=self.trial, service=self.container.service, what=what, value=value, limit=limit)
            )
        elif value < limit * CALM:
            self._above.discard(what)

    def finish(self) -> None:
        self.emit(self._peak)


class Sampler:
    """One task for all containers of a provider."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._watched: dict[str, Watched] = {}
        self._slots = anyio.CapacityLimiter(STATS_AT_ONCE)

    def add(self, watched: Watched) -> None:
        self._watched[watched.container.id] = watched
        self._sample_local(watched)

    def remove(self, containers: Iterable[str]) -> None:
        """One last sample and the peaks; call it while the container still runs."""
        for container in containers:
            watched = self._watched.pop(container, None)
            if watched is None:
                continue
            self._sample_local(watched)
            watched.finish()

    async def run(self) -> None:
        while True:
            began = time.monotonic()
            remote = [watched for watched in list(self._watched.values()) if not self._sample_local(watched)]
            if remote:
                async with together() as group:
                    for watched in remote:
                        group.start_soon(self._sample_remote, watched)
            await anyio.sleep(max(0.1, EVERY_SEC - (time.monotonic() - began)))

    def _sample_local(self, watched: Watched) -> bool:
        """False where the control groups are not this host's."""
        if watched.view is None:
            return False
        reading = read_groups(watched.view)  # None where it has just gone
        if reading is not None:
            watched.take(reading, time.monotonic())
        return True

    async def _sample_remote(self, watched: Watched) -> None:
        path = f"containers/{watched.container.id}/stats"
        params: dict[str, str | int | bool] = {"stream": False, "one-shot": True}
        try:
            async with self._slots:
                told = await self._engine.call("GET", path, params=params, within=STATS_SEC)
            reading = read_stats(told)
        except (EngineCallFailed, KeyError, TypeError, ValueError):
            return
        watched.take(reading, time.monotonic())


def read_groups(view: HostView) -> Reading | None:
    """None where the container has gone."""
    try:
        reading = _read_unified(view) if view.unified else _read_split(view)
    except (OSError, ValueError):
        return None
    received, sent = _network(view.init)
    return msgspec.structs.replace(reading, received=received, sent=sent)


def _read_split(view: HostView) -> Reading:
    memory, cpu, pids, block = (view.folders.get(name) for name in ("memory", "cpuacct", "pids", "blkio"))
    if memory is None:
        raise OSError("no memory group")
    used = _number(memory / "memory.usage_in_bytes")
    limit = _number(memory / "memory.limit_in_bytes")
    reads, writes = _block_split(block / "blkio.throttle.io_service_bytes_recursive") if block else (0, 0)
    return Reading(
        cpu_seconds=_number(cpu / "cpuacct.usage") / 1e9 if cpu else 0.0,
        memory=max(0, used - (number_in(memory / "memory.stat", "total_inactive_file") or 0)),
        memory_limit=limit if limit < UNLIMITED else 0,
        pids=_number(pids / "pids.current") if pids else 0,
        pids_limit=_number(pids / "pids.max") if pids else 0,
        block_read=reads,
        block_write=writes,
    )


def _read_unified(view: HostView) -> Reading:
    folder = view.folders[""]
    used = _number(folder / "memory.current")
    reads, writes = _block_unified(folder / "io.stat")
    return Reading(
        cpu_seconds=(number_in(folder / "cpu.stat", "usage_usec") or 0) / 1e6,
        memory=max(0, used - (number_in(folder / "memory.stat", "inactive_file") or 0)),
        memory_limit=_number(folder / "memory.max"),
        pids=_number(folder / "pids.current"),
        pids_limit=_number(folder / "pids.max"),
        block_read=reads,
        block_write=writes,
    )


def _number(file: Path) -> int:
    """The file's only number; 0 for `max`."""
    text = file.read_text().strip()
    return int(text) if text.isdigit() else 0


def _block_split(file: Path) -> tuple[int, int]:
    reads = writes = 0
    for line in _lines(file):
        fields = line.split()
        if len(fields) == 3:
            reads += int(fields[2]) if fields[1] == "Read" else 0
            writes += int(fields[2]) if fields[1] == "Write" else 0
    return reads, writes


def _block_unified(file: Path) -> tuple[int, int]:
    reads = writes = 0
    for line in _lines(file):
        for field in line.split()[1:]:
            name, _, value = field.partition("=")
            reads += int(value) if name == "rbytes" else 0
            writes += int(value) if name == "wbytes" else 0
    return reads, writes


def _network(pid: int) -> tuple[int, int]:
    """All interfaces but the loopback one, as the container sees them."""
    received = sent = 0
    for line in _lines(Path(f"/proc/{pid}/net/dev"))[2:]:
        name, _, numbers = line.partition(":")
        fields = numbers.split()
        if name.strip() != "lo" and len(fields) > 8:
            received += int(fields[0])
            sent += int(fields[8])
    return received, sent


def _lines(file: Path) -> list[str]:
    try:
        return file.read_text().splitlines()
    except OSError:
        return []


def read_stats(told: dict[str, Any]) -> Reading:
    """The Engine API's stats, for a daemon elsewhere."""
    memory = told.get("memory_stats") or {}
    details = memory.get("stats") or {}
    networks = (told.get("networks") or {}).values()
    block = (told.get("blkio_stats") or {}).get("io_service_bytes_recursive") or []
    limit = int(memory.get("limit") or 0)
    pids = told.get("pids_stats") or {}
    cache = details.get("total_inactive_file", details.get("inactive_file", 0))
    pids_limit = int(pids.get("limit") or 0)
    return Reading(
        cpu_seconds=told["cpu_stats"]["cpu_usage"]["total_usage"] / 1e9,
        memory=max(0, int(memory.get("usage") or 0) - int(cache or 0)),
        memory_limit=limit if limit < UNLIMITED else 0,
        pids=int(pids.get("current") or 0),
        pids_limit=pids_limit if pids_limit < UNLIMITED else 0,
        received=sum(int(network.get("rx_bytes", 0)) for network in networks),
        sent=sum(int(network.get("tx_bytes", 0)) for network in networks),
        block_read=sum(int(entry["value"]) for entry in block if str(entry["op"]).lower() == "read"),
        block_write=sum(int(entry["value"]) for entry in block if str(entry["op"]).lower() == "write"),
    )
