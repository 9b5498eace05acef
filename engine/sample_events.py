"""Samples of what containers and the host use: never in `events.jsonl`, each in a file of its own."""

from __future__ import annotations

from engine.event import Event


class ResourceSampled(Event, frozen=True, kw_only=True):
    """One container, once a second. CPU in percent of one core; limits 0 where there is none."""

    trial: str
    service: str
    environment: str = "agent"
    cpu_percent: float = 0
    cpu_limit: float = 0
    memory_bytes: int = 0
    memory_limit: int = 0
    pids: int = 0
    network_rx: int = 0
    network_tx: int = 0
    block_read: int = 0
    block_write: int = 0


class HostSampled(Event, frozen=True, kw_only=True):
    """The engine's host, once in a few seconds. CPU in percent of all cores; `networks_limit` is an estimate."""

    cpu_percent: float = 0
    memory_used: int = 0
    memory_total: int = 0
    disk_free: int = 0
    networks: int = 0
    networks_limit: int = 0
