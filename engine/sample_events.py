"""Samples of what containers and the host use: never in `events.jsonl`, each in a file of its own."""

from __future__ import annotations

from engine.event import Event
from engine.json_numbers import Whole


class ResourceSampled(Event, frozen=True, kw_only=True):
    """One container, once a second. CPU in percent of one core; limits 0 where there is none."""

    trial: str
    service: str
    environment: str = "agent"
    cpu_percent: float = 0
    cpu_limit: float = 0
    memory_bytes: Whole = 0
    memory_limit: Whole = 0
    pids: Whole = 0
    network_rx: Whole = 0
    network_tx: Whole = 0
    block_read: Whole = 0
    block_write: Whole = 0


class HostSampled(Event, frozen=True, kw_only=True):
    """The engine's host, once in a few seconds. CPU in percent of all cores; `networks_limit` is an estimate."""

    cpu_percent: float = 0
    memory_used: Whole = 0
    memory_total: Whole = 0
    disk_free: Whole = 0
    networks: Whole = 0
    networks_limit: Whole = 0
