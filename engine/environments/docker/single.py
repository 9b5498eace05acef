"""An environment of one container, straight through the Engine API: no Compose file, so nothing to merge."""

from __future__ import annotations

from collections.abc import Sequence

import anyio

from engine.environments.docker import labels
from engine.environments.docker.conflicts import with_holder
from engine.environments.docker.definition import KEEP_ALIVE, MOST_PROCESSES, WantedImage, bound_folders
from engine.environments.docker.engine_api import EngineCallFailed
from engine.environments.docker.environment import DockerEnvironment
from engine.environments.docker.failures import fail
from engine.environments.docker.readiness import start_timeout
from engine.environments.docker.removal import Thing
from engine.environments.docker.together import together
from engine.issues import Code, TrialFailed
from engine.tasks.task import MAIN, NetworkMode


class SingleEnvironment(DockerEnvironment):
    """`main` and its own network (none where the policy says so)."""

    _id = ""
    _networked = False

    @property
    def _network(self) -> str:
        return f"{self.project}_default"

    async def _prepare_images(self) -> None:
        async with together() as group:  # a network takes the daemon 0.1 s; a build doesn't need it
            if self.spec.build_context is not None:
                group.start_soon(self._create_network_early)
            await self._get_images()

    async def _get_images(self) -> None:
        spec = self.spec
        if spec.build_context is not None:
            tag = labels.image_tag(labels.content_name(spec.build_context), spec.content_digest, spec.run)
            log = spec.log_folder / "build.log"
            self.image = await self._shop.builds.image(
                tag, spec.build_context, spec.run, log, spec.build_timeout_sec, self._watch.activity
            )
        elif spec.image:
            self.image = spec.image
            wanted = WantedImage(image=self.image)
            await self._shop.images.ensure(wanted, spec.log_folder / "pull.log", self._watch.activity)
        else:
            raise fail(Code.ENVIRONMENT_FAILED, "the task has neither an image nor a Dockerfile nor a Compose file")

    def _forget_images(self) -> None:
        self._shop.builds.forget(self.image)
        self._shop.images.forget(WantedImage(image=self.image))

    async def _create_network_early(self) -> None:
        try:
            await self._create_network()
        except TrialFailed as error:  # the start tries again, and waits for room
            if error.issue.code is not Code.ADDRESS_POOL_EXHAUSTED:
                raise

    async def _create_network(self) -> None:
        if self._networked or self.spec.network.mode is NetworkMode.NO_NETWORK:
            return
        self._cut_off = True
        body = {"Name": self._network, "Driver": "bridge", "Labels": self._marks()}
        try:
            await self._engine.post("networks/create", body)
        except EngineCallFailed as error:
            raise await with_holder(self._engine, error, "create the network") from error
        self._cut_off = False
        self._networked = True

    def _marks(self) -> dict[str, str]:
        return labels.of_environment(self.spec.run, self.spec.trial, self.spec.environment, self.project)

    async def _bring_up(self, limit: float) -> None:
        with anyio.move_on_after(limit):
            async with self._shop.starts:
                await self._create_and_start()
            return
        raise start_timeout((), limit, {})

    async def _create_and_start(self) -> None:
        await self._create_network()
        self._cut_off = True
        network = self._network if self._networked else "none"
        try:
            made = await self._engine.post(
                "containers/create", self._container_body(network, self._marks()), name=f"{self.project}-{MAIN}-1"
            )
            self._id = made["Id"]
            await self._engine.post(f"containers/{self._id}/start")
        except EngineCallFailed as error:
            raise await with_holder(self._engine, error, "start main", service=MAIN) from error

    def _container_body(self, network: str, marks: dict[str, str]) -> dict[str, object]:
        spec = self.spec
        host: dict[str, object] = {
            "Init": True,
            "NetworkMode": network,
            "PidsLimit": MOST_PROCESSES,
            "Mounts": [
                {"Type": "bind", "Source": str(source), "Target": target, "ReadOnly": read_only}
                for source, target, read_only in bound_folders(spec)
            ],
        }
        if spec.cpus:
            host["NanoCpus"] = int(spec.cpus * 1e9)
        if spec.memory_mb:
            host["Memory"] = spec.memory_mb * 1024 * 1024
        body: dict[str, object] = {
            "Image": self.image,
            "Cmd": KEEP_ALIVE,
            "Env": [f"{name}={value}" for name, value in spec.env.items()],
            "Labels": {**marks, labels.SERVICE: MAIN},
            "HostConfig": host,
        }
        if network != "none":
            body["NetworkingConfig"] = {"EndpointsConfig": {network: {"Aliases": [MAIN]}}}
        return body

    def _made(self) -> Sequence[Thing]:
        if self.spec.network.mode is NetworkMode.NO_NETWORK:
            return []
        return [Thing("network", self._network, self._network)]

    async def _find_containers(self) -> Sequence[str]:
        return [self._id] if self._id else []
