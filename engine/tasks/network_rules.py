"""`network_mode` and `allowed_hosts` of one table -> NetworkPolicy.

`allowed_hosts` without `network_mode = "allowlist"` is an error as it is in Harbor: a list of hosts that
nothing enforces would let a person believe in a limit that isn't there.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Sequence

from engine.tasks.task import NetworkMode, NetworkPolicy
from engine.tasks.toml_table import TableReader, joined

_LABEL = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")


def network_policy(
    reader: TableReader,
    key: str,
    mode: NetworkMode | None,
    hosts: Sequence[str] | None,
    allow_internet: bool | None = None,
) -> NetworkPolicy | None:
    """None where the table says nothing. `allow_internet` is the older spelling; a newer key beside it
    wins.
    """
    if hosts and mode is not NetworkMode.ALLOWLIST:
        found = f'network_mode is "{mode}"' if mode else "network_mode is not given"
        raise reader.invalid(joined(key, "allowed_hosts"), f'only goes with network_mode = "allowlist", but {found}')
    if mode is None and allow_internet is not None:
        mode = NetworkMode.PUBLIC if allow_internet else NetworkMode.NO_NETWORK
    elif mode is not None and allow_internet is not None and allow_internet != (mode is not NetworkMode.NO_NETWORK):
        reader.warn(joined(key, "allow_internet"), f'contradicts network_mode = "{mode}", which wins')
    if mode is None:
        return None
    checked = [
        _host(reader, f"{joined(key, 'allowed_hosts')}[{index}]", host) for index, host in enumerate(hosts or ())
    ]
    return NetworkPolicy(mode=mode, allowed_hosts=tuple(dict.fromkeys(checked)))


def _host(reader: TableReader, key: str, written: str) -> str:
    """The entry in lower case without a final dot: a host, `*.host`, an IP address or a CIDR range."""
    host = written.strip().lower().rstrip(".")
    try:
        if "%" in host:
            raise ValueError("no zones")
        if "/" in host:
            return ipaddress.ip_network(host, strict=True).compressed
        if ":" in host:
            return ipaddress.ip_address(host).compressed
        name = host.removeprefix("*.")
        if not all(_LABEL.fullmatch(label) for label in name.split(".")):
            raise ValueError("no host name")
        if name != host and _is_address(name):
            raise ValueError("no wildcard of an address")
    except ValueError:
        raise reader.invalid(
            key, f'expected a host name, "*.host", an IP address or a CIDR range, found "{written}"'
        ) from None
    return host


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True
