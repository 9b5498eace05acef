"""One environment on a Docker engine: what its two ways of starting have in common."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import IO

import anyio
import anyio.to_thread

from engine.environments.docker import agent_processes, kept, labels
from engine.environments.docker.archive_in import TransferFailed, pack_bytes, pack_path, put, transfer_failed
from engine.environments.docker.archive_out import Download, holds_nothing
from engine.environments.docker.changes import changes_of, unseen
from engine.environments.docker.containers import Container, inspect, main_first
from engine.environments.docker.engine_api import EngineCallFailed
from engine.environments.docker.exec import ExecEnd, ExecRequest, run_exec
from engine.environments.docker.failures import fail, from_daemon
from engine.environments.docker.processes import NOTHING_KNOWN
from engine.environments.docker.readiness import first_failed, judge, not_ready, start_timeout, waiting_for
from engine.environments.docker.removal import Thing, remove_project
from engine.environments.docker.start_again import start_with_images
from engine.environments.docker.task_healthcheck import wait_healthy
from engine.environments.docker.watching import KILLED, Watch, located
from engine.environments.docker.workshop import Workshop
from engine.environments.environment import Emit, EnvironmentSpec, ExecResult, FileChange, Sink, Transfer
from engine.issues import Code, Evidence, Phase, Severity, TrialFailed
from engine.tasks.task import MAIN, Healthcheck, NetworkMode

LOOK_AGAIN_SEC = 1.0
DEATH_SHOWS_SEC = 0.3
LAST_LOOK_SEC = 5.0
STOP_GRACE_SEC = 1
LINGER_SEC = 0.5


class DockerEnvironment(ABC):
    """See the protocol."""

    def __init__(self, spec: EnvironmentSpec, emit: Emit, shop: Workshop) -> None:
        self.spec = spec
        self.project = labels.project_name(spec.name, spec.environment)
        self.image = ""
        self._shop = shop
        self._engine = shop.engine
        self._watch = Watch(spec, self.project, emit, shop)
        self._known = NOTHING_KNOWN
        self._killed = 0
        self._kept = False
        self._cut_off = False

    @property
    def services(self) -> Sequence[str]:
        return main_first(list(self._watch.containers))

    @property
    def workdir(self) -> str:
        main = self._watch.containers.get(MAIN)
        return self.spec.workdir or (main.workdir if main else "") or "/"

    @property
    def phase(self) -> Phase:
        return self._watch.phase

    @phase.setter
    def phase(self, phase: Phase) -> None:
        self._watch.phase = phase

    # --- start ----------------------------------------------------------------------------------------------------

    @abstractmethod
    async def _prepare_images(self) -> None:
        """Build and pull, on clocks of their own."""

    @abstractmethod
    async def _get_images(self) -> None:
        """The part of it that can be done again."""

    @abstractmethod
    def _forget_images(self) -> None:
        """That they had been there."""

    @abstractmethod
    async def _bring_up(self, limit: float) -> None:
        """Create and start everything."""

    @abstractmethod
    def _made(self) -> Sequence[Thing]:
        """The networks and volumes that a start makes, by name."""

    @abstractmethod
    async def _find_containers(self) -> Sequence[str]:
        """The ids of all containers of the project."""

    async def start(self) -> None:
        """Raises TrialFailed with the service, the step, the last output and how long it had."""
        try:
            if self.spec.network.mode is NetworkMode.ALLOWLIST:
                raise fail(Code.TASK_REFUSED, "a network allowlist can't be enforced on Docker yet")
            self._shop.neighbours.comes(self.project)
            self.spec = await self._shop.locality.fit(self.spec)
            await self._prepare_images()
            began = await start_with_images(
                self._start_all, self._get_images_again, self.project, self._watch, self._shop.neighbours
            )
            await self._wait_ready(self.spec.start_timeout_sec - (time.monotonic() - began))
            if self.spec.healthcheck is not None:
                self._watch.activity("health check")
                await wait_healthy(self.spec.healthcheck, self._run_healthcheck)
        except EngineCallFailed as error:
            raise self._located(from_daemon(error, "start")) from error
        except TrialFailed as error:
            raise self._located(error) from error
        self._watch.ready = True
        if self._watch.phase is Phase.PREPARE and self.spec.environment == "agent":
            self._watch.phase = Phase.AGENT
        elif self._watch.phase is Phase.PREPARE:
            self._watch.phase = Phase.VERIFY

    async def _start_all(self) -> None:
        self._cut_off = True
        await self._bring_up(self.spec.start_timeout_sec)
        self._cut_off = False

    async def _get_images_again(self) -> None:
        self._forget_images()
        await self._get_images()

    async def _wait_ready(self, left: float) -> None:
        """Every service running and healthy, or ended well; samples and logs begin with the first look."""
        shown = ""
        first = True
        with anyio.move_on_after(max(LOOK_AGAIN_SEC, left)):
            while True:
                await self._watch.look(self._find_containers)
                self._watch.follow_logs()
                if first:
                    first = False
                    self._watch.sample()
                await self._raise_failed()
                waiting = waiting_for(self._watch.containers.values())
                if not waiting:
                    return
                if shown != waiting[0]:
                    shown = waiting[0]
                    self._watch.activity(f"wait for {shown}")
                with anyio.move_on_after(LOOK_AGAIN_SEC):
                    await self._watch.changed.wait()
        await self._raise_start_timeout()

    async def _raise_failed(self) -> None:
        failed = first_failed(self._watch.containers.values())
        if failed is not None:
            raise not_ready(*failed, await self._watch.last_words(failed[0]))

    async def _raise_start_timeout(self) -> None:
        with anyio.move_on_after(LAST_LOOK_SEC, shield=True):
            await self._watch.look(self._find_containers)
        self._watch.follow_logs()
        containers = self._watch.containers.values()
        words = {one.service: await self._watch.last_words(one) for one in containers if not judge(one).ready}
        raise start_timeout(containers, self.spec.start_timeout_sec, words)

    async def check_health(self, healthcheck: Healthcheck) -> None:
        try:
            await wait_healthy(healthcheck, self._run_healthcheck)
        except TrialFailed as error:
            raise self._located(error) from error

    async def _run_healthcheck(self, command: str, timeout_sec: float) -> ExecResult:
        result = await self.execute(["bash", "-c", command], timeout_sec=timeout_sec)
        if result.started or not result.environment_alive:
            return result
        return await self.execute(["sh", "-c", command], timeout_sec=timeout_sec)

    # --- commands -------------------------------------------------------------------------------------------------

    async def execute(
        self,
        command: Sequence[str],
        *,
        service: str = MAIN,
        user: str | None = None,
        workdir: str | None = None,
        env: Mapping[str, str] | None = None,
        stdin: bytes | None = None,
        sink: Sink | None = None,
        timeout_sec: float | None = None,
    ) -> ExecResult:
        container = self._container(service)
        request = ExecRequest(
            command=command,
            user=user,
            workdir=workdir or (self.spec.workdir if service == MAIN else None),
            env=env or {},
            stdin=stdin,
        )
        hits = self._watch.memory_hits(service)
        view = self._watch.views.get(service)
        try:
            end = await run_exec(self._engine, container, view, request, sink=sink, timeout_sec=timeout_sec)
        except EngineCallFailed as error:
            raise self._located(from_daemon(error, f"run a command in {service}", phase=self.phase)) from error
        alive = await self._is_alive(service, end)
        if service == MAIN:
            self._killed += end.killed
        return ExecResult(
            exit_code=end.exit_code if end.started or alive else None,
            seconds=end.seconds,
            timed_out=end.timed_out,
            out_of_memory=self._watch.memory_hits(service) > hits,
            environment_alive=alive,
            started=end.started,
            tail=end.tail or end.refused,
        )

    async def _is_alive(self, service: str, end: ExecEnd) -> bool:
        """Asked of the engine, never concluded from text. A death shows a moment after the 137 that it causes."""
        if end.exit_code == 0:
            return True
        if (end.exit_code == KILLED and not end.timed_out) or end.exit_code is None:
            await self._watch.dies_within(service, DEATH_SHOWS_SEC)
        if not self._watch.alive(service):
            await self._watch.hears_of_death(service)
            return False
        if end.exit_code is not None and self._watch.views.get(service) is not None:
            return True
        try:
            return (await inspect(self._engine, self._container(service).id)).running
        except EngineCallFailed as error:
            if error.unreachable:  # nobody knows then whether it is dead
                raise self._located(from_daemon(error, f"run a command in {service}", phase=self.phase)) from error
            return False

    def _container(self, service: str) -> Container:
        container = self._watch.containers.get(service)
        if container is None:
            message = f"there is no service {service!r} (there is: {', '.join(self.services) or 'none'})"
            raise fail(Code.ENVIRONMENT_FAILED, message, phase=self.phase, service=service)
        return container

    # --- files ----------------------------------------------------------------------------------------------------

    async def upload(self, source: Path, target: str, *, service: str = MAIN) -> None:
        """The owner inside is root. Raises TrialFailed `artifact_transfer_failed`."""
        try:
            archive = await anyio.to_thread.run_sync(pack_path, source, PurePosixPath(target))
        except OSError as error:
            raise self._transfer_failed(error, f"read {source} for {service}", service) from error
        await self._put(service, target, archive)

    async def upload_bytes(self, data: bytes, target: str, *, mode: int = 0o644, service: str = MAIN) -> None:
        await self._put(service, target, pack_bytes(data, PurePosixPath(target), mode))

    async def _put(self, service: str, target: str, archive: IO[bytes]) -> None:
        container = self._container(service)
        try:
            await put(self._engine, container, self._watch.views.get(service), archive, PurePosixPath(target))
        except (EngineCallFailed, TransferFailed, OSError) as error:
            raise self._transfer_failed(error, f"put {target} into {service}", service) from error

    async def is_empty(self, folder: str) -> bool:
        return self._watch.alive(MAIN) and await holds_nothing(self._engine, self._container(MAIN), folder)

    async def download(
        self,
        source: str,
        destination: Path,
        *,
        service: str = MAIN,
        exclude: Sequence[str] = (),
        max_bytes: int | None = None,
        timeout_sec: float | None = None,
    ) -> Transfer:
        """A relative source is taken from the working directory. Raises TrialFailed `artifact_transfer_failed`."""
        container = self._container(service)
        if service in self._watch.dead and container.running:
            container = await self._watch.again(service)
        view = self._watch.views.get(service)
        place = str(PurePosixPath(self.workdir if service == MAIN else container.workdir) / source)
        one = Download(self._engine, container, view, place, destination, exclude=exclude, max_bytes=max_bytes)
        doing = f"fetch {source} from {service}"
        with anyio.move_on_after(timeout_sec):
            try:
                return await one.fetch()
            except (EngineCallFailed, TransferFailed, OSError) as error:
                raise self._transfer_failed(error, doing, service) from error
        raise self._transfer_failed(TransferFailed(f"not done within {timeout_sec or 0:g} s"), doing, service)

    def _transfer_failed(self, error: Exception, doing: str, service: str) -> TrialFailed:
        return self._located(transfer_failed(error, doing, self.phase, service))

    # --- processes ------------------------------------------------------------------------------------------------

    async def note_processes(self) -> None:
        main = self._container(MAIN)
        try:
            self._known = await agent_processes.note_processes(self._engine, main, self._watch.views.get(MAIN))
            self._killed = 0
        except EngineCallFailed as error:
            raise self._located(from_daemon(error, "list the processes of main", phase=self.phase)) from error

    async def kill_agent(self, mark: str) -> int:
        """Counts what died at a command's timeout too. Where something survives, `main` itself is killed and
        `agent_not_stopped` raised as an issue."""
        main, view = self._container(MAIN), self._watch.views.get(MAIN)
        if not self._watch.alive(MAIN):
            return self._killed
        try:
            return self._killed + await agent_processes.kill_agent(self._engine, main, view, self._known, mark)
        except (agent_processes.AgentNotStopped, EngineCallFailed) as error:
            why = str(error)
        self._watch.ending.add(MAIN)
        with suppress(EngineCallFailed):
            await self._engine.post(f"containers/{main.id}/kill")
        self._watch.raise_issue(
            Severity.ERROR,
            Code.AGENT_NOT_STOPPED,
            "the agent's processes could not be ended one by one, so main was killed",
            Evidence("why", why),
            service=MAIN,
        )
        return self._killed

    @property
    def unseen(self) -> tuple[str, ...]:
        return unseen(self._container(MAIN).beside_layers)

    async def changes(self) -> list[FileChange]:
        try:
            return await changes_of(self._engine, self._container(MAIN), here=self._watch.views.get(MAIN) is not None)
        except EngineCallFailed as error:
            raise self._located(from_daemon(error, "list what changed in main", phase=self.phase)) from error

    # --- the end --------------------------------------------------------------------------------------------------

    async def stop(self, service: str) -> None:
        """TERM, and KILL a second later. Its files stay readable."""
        container = self._container(service)
        self._watch.ending.add(service)
        self._shop.sampler.remove([container.id])
        try:
            await self._engine.post(f"containers/{container.id}/stop", t=STOP_GRACE_SEC)
        except EngineCallFailed as error:
            if not error.not_found:
                doing = f"stop {service}"
                raise self._located(from_daemon(error, doing, phase=self.phase, service=service)) from error
        self._watch.dead.add(service)
        await self._watch.again(service)

    async def keep(self) -> None:
        """Leave everything up for a person: `down` and a sweep spare it, a start without room doesn't. Where its mark
        can't be made it is not kept: raises TrialFailed."""
        try:
            await kept.mark(self._engine, self.spec, self.project, self._watch.containers)
        except EngineCallFailed as error:
            raise self._located(from_daemon(error, "mark the environment as kept", phase=self.phase)) from error
        self._kept = True
        self._shop.neighbours.keeps(self.project)
        self._shop.sampler.remove([container.id for container in self._watch.containers.values()])
        for service in self._watch.ending:  # stopped for collection: a shell needs it running
            with suppress(EngineCallFailed):
                await self._engine.post(f"containers/{self._container(service).id}/start")
        self._watch.close()

    async def down(self) -> list[str]:
        if self._kept:
            return []
        await self._watch.all_told()
        self._watch.closed = True
        containers = list(self._watch.containers.values())
        self._shop.sampler.remove([container.id for container in containers])
        try:
            await self._watch.end_all()
            known = [Thing("container", container.id, container.name) for container in containers]
            linger = LINGER_SEC if self._cut_off else 0.0
            return await remove_project(self._engine, self.project, [*known, *self._made()], linger_sec=linger)
        except EngineCallFailed as error:
            return [f"project {self.project}: {error.message}"]
        finally:
            self._watch.close()
            self._shop.neighbours.goes(self.project)

    def _located(self, failed: TrialFailed) -> TrialFailed:
        return TrialFailed(located(failed.issue, self.spec))
