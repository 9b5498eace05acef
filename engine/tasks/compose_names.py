"""Names in a Compose file that are global on the daemon: as they stand, two trials of such a task can't be up at the
same time. Where nothing depends on them they are set aside; fixed addresses keep their address range.

The file is only looked at, never rewritten, and whatever can't be understood here is left to Compose.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import yaml

_LARGEST = 1 << 20  # bytes; a Compose file is small


class GlobalName(msgspec.Struct, frozen=True, kw_only=True):
    """`where` is the dotted place in the file (`services.main.container_name`), `value` what is taken there. `kept`:
    it can't be set aside.
    """

    where: str
    value: str
    kept: bool = False


class ComposeUnreadable(Exception):
    """The file is no YAML, or no mapping. `line` counts from 1, 0 where unknown."""

    def __init__(self, problem: str, line: int = 0) -> None:
        super().__init__(problem)
        self.line = line


class _Loader(yaml.SafeLoader):
    """Knows Compose's own tags: `!reset` takes a value away, `!override` stands before one."""


def _untagged(loader: yaml.SafeLoader, suffix: str, node: yaml.Node) -> Any:
    if suffix == "reset":
        return None
    if isinstance(node, yaml.MappingNode):
        return loader.construct_mapping(node, deep=True)
    if isinstance(node, yaml.SequenceNode):
        return loader.construct_sequence(node, deep=True)
    return loader.construct_scalar(node) if isinstance(node, yaml.ScalarNode) else None


_Loader.add_multi_constructor("!", _untagged)
# numbers and times stay text: YAML 1.1 would read the port mapping 22:22 as a number to the base of 60
_Loader.yaml_implicit_resolvers = {
    first: [pair for pair in pairs if pair[0].rpartition(":")[2] in ("merge", "null", "bool")]
    for first, pairs in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def read_compose(file: Path) -> dict[str, Any]:
    """The file's top-level mapping. Raises ComposeUnreadable, OSError."""
    if file.stat().st_size > _LARGEST:
        raise ComposeUnreadable(f"is larger than {_LARGEST} bytes")
    try:
        found = yaml.load(file.read_bytes(), Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 0
        raise ComposeUnreadable(str(error.problem or error.context or "is not valid YAML"), line) from None
    except (yaml.YAMLError, ValueError, TypeError, RecursionError) as error:
        raise ComposeUnreadable(str(error).splitlines()[0] if str(error) else "is not valid YAML") from None
    if not isinstance(found, dict):
        raise ComposeUnreadable("is not a mapping with services")
    return found


def service_names(compose: dict[str, Any]) -> frozenset[str] | None:
    """The services, None where other files add to them."""
    services = _mapping(compose, "services")
    return None if "include" in compose else frozenset(map(str, services))


def global_names(compose: dict[str, Any]) -> tuple[GlobalName, ...]:
    return tuple(_global_names(compose))


def _global_names(compose: dict[str, Any]) -> Iterator[GlobalName]:
    for name, service in _mapping(compose, "services").items():
        if not isinstance(service, dict):
            continue
        if fixed := service.get("container_name"):
            yield GlobalName(where=f"services.{name}.container_name", value=str(fixed))
        ports = service.get("ports")
        for port in ports if isinstance(ports, list) else ():
            if published := _published(port):
                yield GlobalName(where=f"services.{name}.ports", value=published)
    for kind in ("networks", "volumes"):
        for name, definition in _mapping(compose, kind).items():
            if isinstance(definition, dict) and definition.get("name") and not definition.get("external"):
                yield GlobalName(where=f"{kind}.{name}.name", value=str(definition["name"]))
    kept = _has_fixed_addresses(compose)
    for name, network in _mapping(compose, "networks").items():
        ipam = network.get("ipam") if isinstance(network, dict) else None
        config = ipam.get("config") if isinstance(ipam, dict) else None
        for part in config if isinstance(config, list) else ():
            if isinstance(part, dict) and part.get("subnet"):
                yield GlobalName(where=f"networks.{name}.ipam", value=str(part["subnet"]), kept=kept)


def taken_alone(file: Path | None) -> tuple[str, ...]:
    """The address ranges that only one environment of this Compose file can have at a time; none where the file can't
    be read."""
    if file is None:
        return ()
    try:
        return tuple(name.value for name in global_names(read_compose(file)) if name.kept)
    except (OSError, ComposeUnreadable):
        return ()


def _has_fixed_addresses(compose: dict[str, Any]) -> bool:
    for service in _mapping(compose, "services").values():
        joined = service.get("networks") if isinstance(service, dict) else None
        for settings in joined.values() if isinstance(joined, dict) else ():
            if isinstance(settings, dict) and (settings.get("ipv4_address") or settings.get("ipv6_address")):
                return True
    return False


def _published(port: object) -> str:
    """The host's side of a port, "" where the daemon is free to choose one."""
    if isinstance(port, dict):
        published = str(port.get("published") or "")
    else:
        published = str(port).rpartition(":")[0].rpartition(":")[2].strip("[]")
    return "" if published in ("", "0") else published


def _mapping(compose: dict[str, Any], key: str) -> dict[Any, Any]:
    found = compose.get(key)
    return found if isinstance(found, dict) else {}
