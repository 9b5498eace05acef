"""What a Compose project is made of: our base definition below the task's file, and what must hold above both.

Pure: dictionaries in, dictionaries out. Compose itself does the merging, between `base` and `settle`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from engine.environments.docker import labels
from engine.environments.environment import EnvironmentSpec
from engine.tasks.task import MAIN, NetworkMode

KEEP_ALIVE = ["sh", "-c", "sleep infinity"]
BROUGHT_IN = "/opt/trialdeck"
"""Below it lies in `main` whatever an agent brings along; above it everything is the task's."""
MOST_PROCESSES = 8192
"""Of one container, threads included, where the task says nothing: a fork bomb must not take every process number that
the host has, and with them the other trials and the engine."""
INHIBIT_GATEWAY = "com.docker.network.bridge.inhibit_ipv4"

Definition = dict[str, Any]


class DefinitionRefused(Exception):
    """Something in a task's definition that can't hold beside what must."""


class WantedImage(msgspec.Struct, frozen=True, kw_only=True):
    """An image that has to be there before the project starts. `pull`: missing, always or never."""

    image: str
    platform: str = ""
    pull: str = "missing"


class Settled(msgspec.Struct, frozen=True, kw_only=True):
    """`definition` starts the project; `build` is what Compose builds from (empty: nothing to build), `built` the tags
    that come of it. `notes` say what was taken out of the task's file, and why."""

    definition: Definition
    build: Definition
    built: dict[str, str]
    images: tuple[WantedImage, ...]
    notes: tuple[str, ...]


def as_written(value: str) -> str:
    """Compose replaces `$NAME`; doubled, a dollar arrives as itself."""
    return value.replace("$", "$$")


def bound_folders(spec: EnvironmentSpec) -> list[tuple[Path, str, bool]]:
    """Host folder, place in `main`, and whether `main` can't write to it."""
    written = [(source, target, False) for source, target in spec.bind.items()]
    return written + [(source, target, True) for source, target in spec.bind_read_only.items()]


def base(spec: EnvironmentSpec, image: str | None) -> Definition:
    """What `main` is where the task's file says nothing."""
    main: Definition = {"command": KEEP_ALIVE, "init": True}
    if image:
        main["image"] = as_written(image)
    if spec.env:
        main["environment"] = {name: as_written(value) for name, value in spec.env.items()}
    return {"services": {MAIN: main}}


def settle(rendered: Definition, spec: EnvironmentSpec, project: str) -> Settled:
    """The rendered merge, made fit to run beside other trials of the same task, under the task's limits and policy."""
    definition: Definition = json.loads(json.dumps(rendered))
    services: dict[str, Definition] = definition["services"]
    marks = labels.of_environment(spec.run, spec.trial, spec.environment, project)
    marks = {name: as_written(value) for name, value in marks.items()}
    notes: list[str] = []
    definition["name"] = project
    _networks(definition, project, marks, notes)
    _volumes(definition, project, marks, notes)
    for name, service in services.items():
        _service(name, service, marks, notes)
    if spec.network.mode is NetworkMode.NO_NETWORK:
        _cut_off(definition)
    _limits(services[MAIN], spec)
    for service in services.values():
        _cap(service, spec)
        _limit_processes(service)
    _binds(services[MAIN], spec)
    build, built = _builds(definition, spec)
    images = tuple(
        WantedImage(
            image=str(service["image"]).replace("$$", "$"),
            platform=str(service.get("platform") or ""),
            pull=_pull(service),
        )
        for name, service in services.items()
        if name not in built and service.get("image") and service["image"] not in built.values()
    )
    for service in services.values():
        service["pull_policy"] = "never"
    return Settled(definition=definition, build=build, built=built, images=images, notes=tuple(notes))


def _pull(service: Definition) -> str:
    policy = service.get("pull_policy") or "missing"
    return {"if_not_present": "missing", "build": "missing"}.get(policy, policy)


def _service(name: str, service: Definition, marks: Mapping[str, str], notes: list[str]) -> None:
    if service.get("environment"):  # a name without a value would be looked for in the tool's own environment
        service["environment"] = {key: value for key, value in service["environment"].items() if value is not None}
    service["labels"] = {**(service.get("labels") or {}), **marks, labels.SERVICE: name}
    fixed = service.pop("container_name", None)
    if fixed:
        notes.append(f"service {name}: the fixed container_name {fixed!r} is left out; it answers to it by DNS only")
        for network, settings in (service.get("networks") or {}).items():
            settings = settings or {}
            settings["aliases"] = sorted({*(settings.get("aliases") or ()), fixed})
            service["networks"][network] = settings
    ports = service.pop("ports", None) or []
    taken = [str(port["published"]) for port in ports if isinstance(port, dict) and port.get("published")]
    if taken:
        notes.append(f"service {name}: the host port {', '.join(taken)} is left out: trials run side by side")
    exposed = [f"{p['target']}/{p.get('protocol', 'tcp')}" for p in ports if isinstance(p, dict) and p.get("target")]
    if exposed:
        service["expose"] = sorted({*(str(port) for port in service.get("expose") or ()), *exposed})


def _networks(definition: Definition, project: str, marks: Mapping[str, str], notes: list[str]) -> None:
    static = any(
        settings and (settings.get("ipv4_address") or settings.get("ipv6_address"))
        for service in definition["services"].values()
        for settings in (service.get("networks") or {}).values()
    )
    for key, network in (definition.get("networks") or {}).items():
        if network is None or network.get("external"):
            continue
        if network.get("name") not in (None, f"{project}_{key}"):
            notes.append(f"network {key}: the fixed name {network['name']!r} is left out, each trial has its own")
        network["name"] = f"{project}_{key}"
        network["labels"] = {**(network.get("labels") or {}), **marks}
        if not static and (network.get("ipam") or {}).get("config"):
            notes.append(f"network {key}: the fixed subnet is left out, so that trials can run side by side")
            network["ipam"] = {}


def _volumes(definition: Definition, project: str, marks: Mapping[str, str], notes: list[str]) -> None:
    for key, volume in (definition.get("volumes") or {}).items():
        if volume is None or volume.get("external"):
            continue
        if volume.get("name") not in (None, f"{project}_{key}"):
            notes.append(f"volume {key}: the fixed name {volume['name']!r} is left out, each trial has its own data")
        volume["name"] = f"{project}_{key}"
        volume["labels"] = {**(volume.get("labels") or {}), **marks}


def _cut_off(definition: Definition) -> None:
    """Services still reach each other; nobody reaches the host or what lies beyond."""
    for name, service in definition["services"].items():
        mode = str(service.get("network_mode") or "")
        if mode and mode != "none" and not mode.startswith("service:"):
            raise DefinitionRefused(f"service {name} has network_mode {mode!r}, but the task's policy is no-network")
    for key, network in (definition.get("networks") or {}).items():
        if network.get("external"):
            raise DefinitionRefused(f"network {key} is external, but the task's policy is no-network")
        network["internal"] = True
        if network.get("driver") in (None, "", "bridge"):
            network["driver_opts"] = {**(network.get("driver_opts") or {}), INHIBIT_GATEWAY: "true"}


def _limit_processes(service: Definition) -> None:
    """Where the task set none. Beside limits for its deployment Compose takes the number only among those."""
    limits = _deploy_limits(service)
    if not service.get("pids_limit") and not limits.get("pids"):
        place, key = (limits, "pids") if limits else (service, "pids_limit")
        place[key] = MOST_PROCESSES


def _deploy_limits(service: Definition) -> Definition:
    limits: Definition = ((service.get("deploy") or {}).get("resources") or {}).get("limits") or {}
    return limits


def _limits(main: Definition, spec: EnvironmentSpec) -> None:
    """Declared CPU and memory limit `main`, unless its own definition says otherwise."""
    declared = _deploy_limits(main)
    memory = str(spec.memory_mb * 1024 * 1024) if spec.memory_mb else None
    for short, long, value in (("mem_limit", "memory", memory), ("cpus", "cpus", spec.cpus)):
        if not value or main.get(short) or declared.get(long):
            continue
        if declared:  # Compose refuses the two spellings side by side
            declared[long] = value
        else:
            main[short] = value


def _cap(service: Definition, spec: EnvironmentSpec) -> None:
    """No service may have more than the host, where the user allowed a smaller one."""
    limits = _deploy_limits(service)
    memory_cap = spec.memory_mb_cap * 1024 * 1024 if spec.memory_mb_cap else None
    for place, key, cap in (
        (service, "cpus", spec.cpus_cap),
        (limits, "cpus", spec.cpus_cap),
        (service, "mem_limit", memory_cap),
        (limits, "memory", memory_cap),
    ):
        if cap is not None and place.get(key) and float(place[key]) > cap:
            place[key] = cap if key == "cpus" else str(cap)


def _binds(main: Definition, spec: EnvironmentSpec) -> None:
    if (spec.brings_in or spec.bind_read_only) and main.get("read_only"):
        main["tmpfs"] = [*(main.get("tmpfs") or ()), f"{BROUGHT_IN}:mode=755,exec"]
    for source, target, read_only in bound_folders(spec):
        kept = [volume for volume in main.get("volumes") or () if volume.get("target") != target]
        bind = {"type": "bind", "source": as_written(str(source)), "target": target, "bind": {}}
        kept.append({**bind, "read_only": True} if read_only else bind)
        main["volumes"] = kept


def _builds(definition: Definition, spec: EnvironmentSpec) -> tuple[Definition, dict[str, str]]:
    """Takes the builds out of the definition: each gets a tag of this content and run, whoever else builds the same."""
    services: dict[str, Definition] = definition["services"]
    folder = spec.compose_file.parent if spec.compose_file is not None else spec.task_folder
    task = labels.content_name(folder)
    built: dict[str, str] = {}
    renamed: dict[str, str] = {}
    sections: dict[str, Definition] = {}
    marks = {name: as_written(value) for name, value in labels.of_run(spec.run).items()}
    for name, service in services.items():
        section = service.pop("build", None)
        if section is None:
            continue
        content = json.dumps([spec.content_digest, name, section], sort_keys=True)
        digest = hashlib.sha256(content.encode("utf-8", "surrogateescape")).hexdigest()
        tag = labels.image_tag(f"{task}-{name}", digest, spec.run)
        if service.get("image"):
            renamed[service["image"]] = tag
        service["image"] = built[name] = tag
        if section.get("args"):
            section["args"] = {key: value for key, value in section["args"].items() if value is not None}
        section["labels"] = {**(section.get("labels") or {}), **marks}
        sections[name] = {"image": tag, "build": section}
        if service.get("platform"):
            sections[name]["platform"] = service["platform"]
    for name, service in services.items():
        if name not in built and service.get("image") in renamed:
            service["image"] = renamed[service["image"]]
    if not built:
        return {}, {}
    build: Definition = {"name": definition["name"], "services": sections}
    for shared in ("secrets", "networks"):
        if definition.get(shared):
            build[shared] = definition[shared]
    return build, built
