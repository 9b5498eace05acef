"""The Docker provider: one connection, one event subscription and one sampler for all of a process's environments."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

import anyio
import anyio.abc
import msgspec

from engine.environments.docker import labels
from engine.environments.docker.build import Builds
from engine.environments.docker.daemon_events import DaemonEvents
from engine.environments.docker.endpoint import cli_environment, find_endpoint, is_here
from engine.environments.docker.engine_api import Engine, EngineCallFailed, filters
from engine.environments.docker.environment import DockerEnvironment
from engine.environments.docker.failures import fail, from_daemon
from engine.environments.docker.host_tools import ToolMissing, plugin, run_tool
from engine.environments.docker.locality import Locality
from engine.environments.docker.neighbours import Neighbours
from engine.environments.docker.project import ProjectEnvironment
from engine.environments.docker.pull import Images
from engine.environments.docker.removal import KINDS, find, remove_all
from engine.environments.docker.samples import Sampler
from engine.environments.docker.single import SingleEnvironment
from engine.environments.docker.together import first_of, together
from engine.environments.docker.workshop import Workshop
from engine.environments.environment import Emit, EnvironmentSpec
from engine.issues import Code

STARTS_AT_ONCE = 4
VERSION_SEC = 20.0
PING_SEC = 10.0


class DockerFacts(msgspec.Struct, frozen=True, kw_only=True):
    """`local`: the daemon's processes are this host's. `networks` counts all of the daemon, `networks_ours` ours.
    `compose` and `buildx` are empty where the plugin is missing."""

    version: str = ""
    api_version: str = ""
    compose: str = ""
    buildx: str = ""
    cpus: int = 0
    memory_bytes: int = 0
    cgroup_version: str = ""
    storage_driver: str = ""
    root_folder: str = ""
    operating_system: str = ""
    host_name: str = ""
    local: bool = False
    root: bool = False
    networks: int = 0
    networks_ours: int = 0


class DockerProvider:
    """`async with await DockerProvider.connect()`, or `async with DockerProvider.open()`: the block owns the background
    tasks. Before it is entered only `facts`, `engine` and `remove_images` work."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._locality = Locality(engine)
        self._group: anyio.abc.TaskGroup | None = None
        self._shop: Workshop | None = None

    @classmethod
    async def connect(cls) -> DockerProvider:
        """Raises TrialFailed `daemon_unreachable` where no engine answers."""
        try:
            return cls(await Engine.connect(find_endpoint()))
        except (EngineCallFailed, ValueError) as error:
            raise fail(Code.DAEMON_UNREACHABLE, str(error)) from error

    @classmethod
    @asynccontextmanager
    async def open(cls) -> AsyncIterator[DockerProvider]:
        async with await cls.connect() as provider:
            yield provider

    async def __aenter__(self) -> DockerProvider:
        self._group = await anyio.create_task_group().__aenter__()
        events, sampler = DaemonEvents(self.engine), Sampler(self.engine)
        self._shop = Workshop(
            engine=self.engine,
            tasks=self._group,
            events=events,
            sampler=sampler,
            builds=Builds(self.engine.reached_at),
            images=Images(self.engine),
            starts=anyio.CapacityLimiter(STARTS_AT_ONCE),
            neighbours=Neighbours(),
            locality=self._locality,
        )
        await self._group.start(events.follow)
        self._group.start_soon(sampler.run)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        group, self._group, self._shop = self._group, None, None
        try:
            if group is not None:
                group.cancel_scope.cancel()
                return await group.__aexit__(kind, error, trace)
        except BaseExceptionGroup as several:
            if first_of(several) is not error:
                raise
        finally:
            with anyio.CancelScope(shield=True):
                await self.engine.close()
        return None

    async def close(self) -> None:
        """Ends the background tasks (where the block was entered, leaving it does the rest) and the connection."""
        if self._group is not None:
            self._group.cancel_scope.cancel()
            return
        await self.engine.close()

    def environment(self, spec: EnvironmentSpec, emit: Emit) -> DockerEnvironment:
        if self._shop is None:
            raise RuntimeError("enter the provider first: async with provider")
        if spec.compose_file is not None:
            return ProjectEnvironment(spec, emit, self._shop)
        return SingleEnvironment(spec, emit, self._shop)

    async def remove_images(self, run: str) -> list[str]:
        """Removes what a run built; the layers' cache stays. Returns what could not be removed."""
        return await self._remove(run, ["image"])

    async def remove_run(self, run: str) -> list[str]:
        """Removes every container, network, volume and image of a run that is not kept, whoever made it. Returns what
        could not be removed."""
        return await self._remove(run, KINDS)

    async def _remove(self, run: str, kinds: Sequence[str]) -> list[str]:
        wanted = await find(self.engine, f"{labels.RUN}={run}", {*kinds, "volume"})
        kept = {marks.get(labels.PROJECT) for marks in wanted.values() if labels.KEPT in marks}
        chosen = [t for t, marks in wanted.items() if t.kind in kinds and marks.get(labels.PROJECT, "") not in kept]
        left = await remove_all(self.engine, chosen)
        if self._shop is not None:
            for thing in chosen:
                self._shop.builds.forget(thing.name)
        # The image of a kept container can't go before that one does.
        return sorted(f"{thing}: {why}" for thing, why in left.items() if not (kept and thing.kind == "image"))

    async def facts(self) -> DockerFacts:
        info: dict[str, Any] = await self.engine.get("info")
        version = self.engine.version
        found: dict[str, str] = {}

        async def ask(name: str) -> None:
            found[name] = await _plugin_version(name)

        networks: list[dict[str, Any]] = []

        async def count() -> None:
            networks.extend(await self.engine.get("networks"))

        async with together() as group:
            group.start_soon(ask, "compose")
            group.start_soon(ask, "buildx")
            group.start_soon(count)
        return DockerFacts(
            version=str(version["Version"]),
            api_version=str(version["ApiVersion"]),
            compose=found["compose"],
            buildx=found["buildx"],
            cpus=int(info["NCPU"]),
            memory_bytes=int(info["MemTotal"]),
            cgroup_version=str(info.get("CgroupVersion", "")),
            storage_driver=str(info.get("Driver", "")),
            root_folder=str(info.get("DockerRootDir", "")),
            operating_system=str(info.get("OperatingSystem", "")),
            host_name=str(info.get("Name", "")),
            local=is_here(self.engine.endpoint, info),
            root=os.geteuid() == 0,
            networks=len(networks),
            networks_ours=sum(1 for one in networks if labels.OWNER in (one.get("Labels") or {})),
        )

    async def root_folder(self) -> Path | None:
        """Where a local daemon keeps images and containers, so that its disk can be watched; None if remote."""
        info: dict[str, Any] = await self.engine.get("info")
        folder = Path(str(info.get("DockerRootDir", "")))
        return folder if is_here(self.engine.endpoint, info) and folder.is_absolute() and folder.is_dir() else None

    async def mounts_host_folders(self) -> bool:
        try:
            return await self._locality.here()
        except EngineCallFailed as error:
            raise from_daemon(error, "ask Docker where it is") from error

    async def answers(self) -> str:
        try:
            await self.engine.raw("GET", "_ping", versioned=False, within=PING_SEC)
        except EngineCallFailed as error:
            return error.message
        return ""

    async def networks(self) -> tuple[int, int]:
        """How many networks the daemon has, and how many of them are ours."""
        every = await self.engine.get("networks")
        ours = await self.engine.get("networks", filters=filters(label=[labels.OWNER]))
        return len(every), len(ours)


async def _plugin_version(name: str) -> str:
    try:
        words = ["version", "--short"] if name == "compose" else ["version"]
        result = await run_tool(
            [*plugin(name), *words], env=cli_environment(), timeout_sec=VERSION_SEC, keep_stdout=True
        )
    except (ToolMissing, OSError):
        return ""
    text = result.stdout.decode("utf-8", "replace").strip()
    return text if name == "compose" else next((word for word in text.split() if word[:1] in "v0123456789"), text)
