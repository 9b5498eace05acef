"""The Docker engine: whether it answers, what it can do, what dead runs left on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from console.diagnosis.address_pools import DAEMON_SETTINGS, networks_in, pools, taken
from console.diagnosis.check import Check, failed, ok, warning
from console.diagnosis.machine import GIB, check_disk
from engine.issues import TrialFailed

if TYPE_CHECKING:
    from engine.environments.docker.engine_api import Engine
    from engine.environments.docker.provider import DockerFacts

BASE_IMAGE = "debian:bookworm-slim"
STAND_IN_LABEL = "trialdeck.stand-in"
COMPOSE_MAJOR = 2
POOL_LOW = 5
"""Fewer networks left than this is worth a warning."""
_LIMITS = (
    ("MemoryLimit", "memory"),
    ("CpuCfsQuota", "CPU"),
    ("PidsLimit", "process"),
)


async def docker_checks() -> list[Check]:
    """In the order in which one thing needs another; the first alone where no engine answers."""
    from engine.environments.docker.engine_api import EngineCallFailed
    from engine.environments.docker.provider import DockerProvider

    found: list[Check] = []
    try:
        provider = await DockerProvider.connect()
    except TrialFailed as problem:
        return [_unreachable(problem.issue.message)]
    try:
        facts = await provider.facts()
        info: dict[str, Any] = await provider.engine.get("info")
        networks: list[dict[str, Any]] = await provider.engine.get("networks")
        found += [
            check_engine(provider.engine.endpoint.host, facts),
            check_cgroups(facts, info),
            check_storage(facts.storage_driver),
            *check_tools(facts.compose, facts.buildx),
        ]
        if facts.local and facts.root_folder:
            found.append(check_disk("Docker", Path(facts.root_folder)))
        found.append(check_address_pool(info, networks, local=facts.local, ours=facts.networks_ours))
        found.append(check_base_image(await _image(provider.engine)))
        found.append(check_leftovers(await _leftovers(provider.engine)))
    except EngineCallFailed as error:
        found.append(failed("Docker engine", f"it stopped answering: {error}", "see the daemon's own log"))
    finally:
        await provider.engine.close()
    return found


def _unreachable(message: str) -> Check:
    """The message says already what can be done about it."""
    return failed("Docker engine", message, "a run can be seen without: `trialdeck watch sample_runs/recorded/demo`")


def check_engine(endpoint: str, facts: DockerFacts) -> Check:
    elsewhere = (
        "taken to be on another host (its own socket is not what leads there): samples come from its stats API, and "
        "agents in main can't call their models"
    )
    where = "on this host" if facts.local else elsewhere
    return ok(
        "Docker engine",
        f"{facts.version} (API {facts.api_version}) at {endpoint}, {where}; {facts.operating_system}, "
        f"{facts.cpus} CPUs, {facts.memory_bytes / GIB:.1f} GiB memory",
    )


def check_cgroups(facts: DockerFacts, info: Mapping[str, Any]) -> Check:
    missing = [name for key, name in _LIMITS if info.get(key) is False]
    text = f"cgroup v{facts.cgroup_version or '?'}, {info.get('CgroupDriver') or 'unknown'} driver"
    if missing:
        return warning(
            "limits",
            f"{text}; {' and '.join(missing)} limits do not hold",
            "enable those controllers in the kernel, or delegate them to a rootless daemon",
        )
    return ok("limits", f"{text}: memory, CPU and process limits hold")


def check_storage(driver: str) -> Check:
    if driver == "vfs":
        return warning(
            "storage driver", "vfs copies every layer: slow, and hungry for disk", "use overlay2 (`docker info`)"
        )
    return ok("storage driver", driver or "unknown")


def check_tools(compose: str, buildx: str) -> list[Check]:
    found = []
    major = compose.lstrip("v").partition(".")[0]
    if not major.isdigit() or int(major) < COMPOSE_MAJOR:
        text = f"{compose} is too old" if compose else "missing"
        found.append(failed("Compose", text, "install the Docker Compose v2 plugin, or let `./dev setup` do it"))
    else:
        found.append(ok("Compose", compose))
    if buildx:
        found.append(ok("buildx", buildx))
    else:
        found.append(failed("buildx", "missing", "install the buildx plugin, or let `./dev setup` do it"))
    return found


def check_address_pool(
    info: Mapping[str, Any], networks: Sequence[Mapping[str, Any]], *, local: bool, ours: int
) -> Check:
    known, source = pools(info, DAEMON_SETTINGS if local else None)
    limit, used = networks_in(known), taken(networks)
    text = f"{used} of about {limit} networks in use ({source}), {ours} of them ours"
    way_out = (
        "`trialdeck sweep` and `docker network ls`; more room: default-address-pools in the daemon's settings, such as "
        '{"base": "10.200.0.0/16", "size": 24}'
    )
    if limit - used < 1:
        return failed("address pool", text, way_out)
    if limit - used < POOL_LOW:
        return warning("address pool", text, way_out)
    return ok("address pool", text)


def check_base_image(image: Mapping[str, Any] | None) -> Check:
    if image is None:
        return warning(
            "base image",
            f"{BASE_IMAGE} is not here: it is pulled when a task needs it",
            "where no registry can be reached, `./dev setup` makes a stand-in",
        )
    labels = (image.get("Config") or {}).get("Labels") or {}
    if STAND_IN_LABEL in labels:
        return ok("base image", f"{BASE_IMAGE}, a stand-in made on this machine (a pull replaces it)")
    return ok("base image", BASE_IMAGE)


def check_leftovers(names: Sequence[str]) -> Check:
    if not names:
        return ok("leftovers", "dead runs left nothing")
    shown = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    return warning("leftovers", f"{len(names)} of dead runs: {shown}", "`trialdeck sweep` removes them")


async def _image(engine: Engine) -> dict[str, Any] | None:
    from engine.environments.docker.engine_api import EngineCallFailed

    try:
        found: dict[str, Any] = await engine.get(f"images/{BASE_IMAGE}/json")
        return found
    except EngineCallFailed as error:
        if error.not_found:
            return None
        raise


async def _leftovers(engine: Engine) -> list[str]:
    from engine.environments.docker.sweep import find_leftovers

    return [str(leftover.thing) for leftover in await find_leftovers(engine)]
