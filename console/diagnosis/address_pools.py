"""How many networks a daemon can make before its address pools are used up. Every Compose project takes one."""

from __future__ import annotations

import ipaddress
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

DAEMON_SETTINGS = Path("/etc/docker/daemon.json")
BUILT_IN = (
    *((f"172.{second}.0.0/16", 16) for second in range(17, 32)),
    ("192.168.0.0/16", 20),
)
"""The pools of a daemon that was told nothing: 31 networks, its own bridge among them."""

Pool = tuple[str, int]
"""A base network and the prefix length of the networks cut out of it."""


def pools(info: Mapping[str, Any], settings: Path | None = DAEMON_SETTINGS) -> tuple[tuple[Pool, ...], str]:
    """The pools and where that is known from: the daemon's own word, else its settings file, else what is built in.

    `settings` is None where the daemon's files are not this host's.
    """
    told = _read(info.get("DefaultAddressPools"), "Base", "Size")
    if told:
        return told, "as the daemon says"
    if settings is not None:
        try:
            written = json.loads(settings.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            written = {}
        found = _read(written.get("default-address-pools") if isinstance(written, dict) else None, "base", "size")
        if found:
            return found, f"as {settings} says"
    return BUILT_IN, "the built-in pools"


def networks_in(found: Iterable[Pool]) -> int:
    """How many IPv4 networks fit."""
    total = 0
    for base, size in found:
        try:
            network = ipaddress.ip_network(base, strict=False)
        except ValueError:
            continue
        if network.version == 4 and size >= network.prefixlen:
            total += 1 << (size - network.prefixlen)
    return total


def taken(networks: Iterable[Mapping[str, Any]]) -> int:
    """Networks that hold a piece of a pool: not `host`, `none` and the like, which have no subnet."""
    return sum(1 for network in networks if ((network.get("IPAM") or {}).get("Config") or ()))


def _read(value: object, base: str, size: str) -> tuple[Pool, ...]:
    if not isinstance(value, list):
        return ()
    return tuple(
        (str(item[base]), int(item[size]))
        for item in value
        if isinstance(item, dict) and item.get(base) and str(item.get(size, "")).isdigit()
    )
