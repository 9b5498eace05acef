"""What happens in a project by itself: its containers' states, deaths and memory hits, their logs and samples."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from pathlib import PurePath

import anyio
import msgspec

from engine.environments.docker.containers import Container, inspect, last_log, sharing_network
from engine.environments.docker.daemon_events import ContainerEvent
from engine.environments.docker.engine_api import EngineCallFailed
from engine.environments.docker.host_view import HostView, find_view
from engine.environments.docker.kept import make_room
from engine.environments.docker.samples import Watched
from engine.environments.docker.service_logs import ServiceLog
from engine.environments.docker.together import together
from engine.environments.docker.workshop import Workshop
from engine.environments.environment import Emit, EnvironmentSpec
from engine.events import ActivityChanged, IssueRaised, RunIssue, ServiceChanged
from engine.hidden_values import HiddenValues
from engine.issues import Code, Evidence, Issue, Phase, Severity
from engine.tasks.task import MAIN

TELL_SEC = 5.0
HEARD_SEC = 10.0
END_SEC = 3.0
DEATH_STEP_SEC = 0.03
LOG_CHARS = 4000
KILLED = 137
HIT_BEFORE_DEATH_NS = 1_000_000_000
STATES = {
    "create": "created",
    "start": "running",
    "die": "exited",
    "pause": "paused",
    "unpause": "running",
    "destroy": "removed",
}
TOLD = frozenset({"die", "oom", "pause"})


class Watch:
    """The containers of one project by service, and what became of them.

    Nothing that we end ourselves is reported: name it in `ending` first, or set `closed`.
    """

    def __init__(self, spec: EnvironmentSpec, project: str, emit: Emit, shop: Workshop) -> None:
        self.phase = Phase.PREPARE
        self.containers: dict[str, Container] = {}
        self.views: dict[str, HostView | None] = {}
        self.dead: set[str] = set()
        self.ending: set[str] = set()
        self.closed = False
        self.ready = False
        self.changed = anyio.Event()
        self._died = anyio.Event()
        self._spec = spec
        self._project = project
        self._emit = emit
        self._shop = shop
        self._hidden = HiddenValues.of(spec.allowed_host_env)
        self._logs: dict[str, ServiceLog] = {}
        self._memory_hits: dict[str, int] = {}
        self._last_hit: dict[str, int] = {}
        self._memory_told: set[tuple[str, Phase]] = set()
        self._being_told = 0
        self._all_told = anyio.Event()
        shop.events.listen(project, self._on_event)

    def close(self) -> None:
        """Hears no more; follows no more logs."""
        self.closed = True
        self._shop.events.forget(self._project)
        for log in self._logs.values():
            log.let_go()

    # --- states ---------------------------------------------------------------------------------------------------

    async def look(self, found: Callable[[], Awaitable[Iterable[str]]]) -> None:
        """Reads every container's state anew, all at once. Of several containers of a service the first by name counts,
        unless another one of them is in a worse state."""
        self.changed = anyio.Event()
        read: list[Container] = []

        async def one(identity: str) -> None:
            with suppress(EngineCallFailed):
                read.append(await inspect(self._shop.engine, identity))

        async with together() as group:
            for identity in await found():
                group.start_soon(one, identity)
        read.sort(key=lambda container: (container.running and container.health != "unhealthy", container.name))
        latest: dict[str, Container] = {}
        for container in read:
            latest.setdefault(container.service, container)
        self.containers.update(latest)

    async def again(self, service: str) -> Container:
        """One container's state, now; the last known one where the daemon doesn't say."""
        with suppress(EngineCallFailed):
            self.containers[service] = await inspect(self._shop.engine, self.containers[service].id)
        return self.containers[service]

    def alive(self, service: str) -> bool:
        """As far as is known without asking the daemon."""
        view = self.views.get(service)
        return service not in self.dead and (view is None or view.alive())

    async def dies_within(self, service: str, seconds: float) -> None:
        """Waits for a death to show; returns at once when it does."""
        until = time.monotonic() + seconds
        while self.alive(service) and time.monotonic() < until:
            self.changed = anyio.Event()
            with anyio.move_on_after(DEATH_STEP_SEC):
                await self.changed.wait()

    async def hears_of_death(self, service: str) -> None:
        """The kernel shows a death before the daemon tells of it: waits for that, so that it is booked under the phase
        in which it happened."""
        with anyio.move_on_after(HEARD_SEC):
            while service not in self.dead:
                await self._died.wait()  # several commands may wait for the same death

    def memory_hits(self, service: str) -> int:
        """How often something in it was killed for its memory limit: the kernel's count, else the daemon's."""
        view = self.views.get(service)
        return max(view.oom_kills() or 0 if view is not None else 0, self._memory_hits.get(service, 0))

    # --- logs and samples -----------------------------------------------------------------------------------------

    def follow_logs(self) -> None:
        """Follows the log of every container that is not followed yet."""
        for container in self.containers.values():
            before = self._logs.get(container.service)
            if before is not None and not before.ended.is_set() and before.container.id == container.id:
                continue
            file = self._spec.log_folder / "services" / f"{container.service}.log"
            since = before.last if before is not None and before.container.id == container.id else 0.0
            log = ServiceLog(self._shop.engine, container, file, self._hidden, since)
            self._logs[container.service] = log
            self._shop.in_background(log.follow)

    def sample(self) -> None:
        for container in self.containers.values():
            self._sample(container)

    def _sample(self, container: Container) -> None:
        self.views[container.service] = view = find_view(container)
        if container.running:
            self._shop.sampler.add(Watched(self._spec.trial, self._spec.environment, container, view, self._emit))

    async def flushed(self, service: str) -> None:
        log = self._logs.get(service)
        if log is not None:
            await log.flushed()

    async def end_all(self) -> None:
        """Kills what still runs, and reads the logs to their end, so that the containers can go."""

        async def end(container: Container) -> None:
            with suppress(EngineCallFailed):
                await self._shop.engine.post(f"containers/{container.id}/kill")
            await self.flushed(container.service)

        with anyio.move_on_after(END_SEC):
            async with together() as group:
                for container in self.containers.values():
                    if container.service not in self.dead:
                        group.start_soon(end, container)

    async def last_words(self, container: Container) -> str:
        with suppress(EngineCallFailed), anyio.move_on_after(TELL_SEC, shield=True):
            words = (await last_log(self._shop.engine, container)).encode("utf-8", "replace")
            return self._hidden.replaced(words, whole=True)[0].decode("utf-8", "replace")[-LOG_CHARS:]
        return ""

    # --- events ---------------------------------------------------------------------------------------------------

    def _on_event(self, event: ContainerEvent) -> None:
        self.changed.set()
        service = event.service
        if event.action == "oom":
            self._memory_hits[service] = self._memory_hits.get(service, 0) + 1
            self._last_hit[event.container] = event.at
        elif event.action == "die":
            self.dead.add(service)
            self._died.set()
            self._died = anyio.Event()
        elif event.action == "start":
            self.dead.discard(service)
            if self.ready and not self.closed:
                self._shop.in_background(self._started_again, event)
        if event.action != "starting":
            self._emit(
                ServiceChanged(
                    trial=self._spec.trial,
                    service=service,
                    state=STATES.get(event.action, event.action),
                    environment=self._spec.environment,
                    container=event.container[:12],
                    exit_code=event.exit_code,
                )
            )
        if self.ready and not self.closed and service not in self.ending and event.action in TOLD:
            self._being_told += 1
            self._shop.in_background(self._tell, event)

    async def _started_again(self, event: ContainerEvent) -> None:
        with suppress(EngineCallFailed):
            container = await inspect(self._shop.engine, event.container)
            self.containers[container.service] = container
            self._sample(container)
            self.follow_logs()

    async def _tell(self, event: ContainerEvent) -> None:
        """An issue of something that nobody here caused, with what is known about it."""
        phase = self.phase
        try:
            container = await self._as_it_is(event)
            if event.action == "pause":
                self._tell_pause(event.service, phase)
            elif container is not None and event.action == "oom":
                self._tell_memory(container, phase)
            elif container is not None:
                await self._tell_death(container, event, phase)
        finally:
            self._being_told -= 1
            self._all_told.set()

    async def _as_it_is(self, event: ContainerEvent) -> Container | None:
        """A container that somebody removed by hand is told of as it was last seen."""
        with anyio.move_on_after(TELL_SEC), suppress(EngineCallFailed):
            return await inspect(self._shop.engine, event.container)
        return next((one for one in self.containers.values() if one.id == event.container), None)

    async def all_told(self) -> None:
        """Waits until what happened by itself has its issue; not for ever."""
        with anyio.move_on_after(TELL_SEC):
            while self._being_told:
                self._all_told = anyio.Event()
                await self._all_told.wait()

    def _tell_memory(self, container: Container, phase: Phase) -> None:
        """Once per service and phase: a process that dies of it again and again says nothing new."""
        if (container.service, phase) in self._memory_told:
            return
        self._memory_told.add((container.service, phase))
        limit = f"{container.memory_limit / 1024 / 1024:.0f} MiB" if container.memory_limit else "none of its own"
        self.raise_issue(
            Severity.WARNING,
            Code.OUT_OF_MEMORY,
            f"service {container.service} hit its memory limit ({limit}): the kernel killed a process in it",
            Evidence("limit", limit),
            Evidence("container", f"{container.state}, OOMKilled {str(container.oom_killed).lower()}"),
            service=container.service,
            phase=phase,
        )

    def _tell_pause(self, service: str, phase: Phase) -> None:
        """The engine itself pauses nothing: this stops an agent whose clock goes on."""
        self.raise_issue(
            Severity.ERROR,
            Code.ENVIRONMENT_FAILED,
            f"service {service} was paused while the trial was running, and not by this engine",
            Evidence("way out", "leave a trial's containers alone; `docker unpause` lets it go on"),
            service=service,
            phase=phase,
        )

    async def _tell_death(self, container: Container, event: ContainerEvent, phase: Phase) -> None:
        service = container.service
        code = container.exit_code if event.exit_code is None else event.exit_code
        sharing = sharing_network(container, self.containers.values())
        harmless = service != MAIN and not container.restarts and not container.has_healthcheck and not sharing
        if code == 0 and harmless:
            return
        for_memory = self._for_memory(container, code, event)
        by = "the kernel, for its memory limit" if for_memory else "not by this engine"
        if code == KILLED and not for_memory:
            by = "a SIGKILL of unknown origin: neither this engine's nor for its memory limit"
        evidence = [Evidence("exit code", str(code)), Evidence("ended by", by)]
        if container.restarts:
            evidence.append(Evidence("restart policy", "the engine starts it again"))
        if sharing:
            evidence.append(Evidence("network", f"lost by {', '.join(sharing)} as well, which shared it"))
        words = await self.last_words(container)
        if words:
            evidence.append(Evidence("log", words, file=f"services/{service}.log"))
        why = "for its memory limit" if for_memory else f"with exit code {code}"
        self.raise_issue(
            Severity.ERROR,
            Code.SERVICE_DIED,
            f"service {service} ended {why} while the trial was running",
            *evidence,
            service=service,
            phase=phase,
        )

    def _for_memory(self, container: Container, code: int, event: ContainerEvent) -> bool:
        """The daemon's flag stays set after a child's death, so a hit that is known to be older is not the cause."""
        hit = self._last_hit.get(event.container)
        recent = hit is None or event.at - hit <= HIT_BEFORE_DEATH_NS
        return code == KILLED and container.oom_killed and recent

    # --- telling --------------------------------------------------------------------------------------------------

    def activity(self, what: str) -> None:
        self._emit(ActivityChanged(trial=self._spec.trial, activity=what))

    async def kept_made_room(self) -> bool:
        """Whether a kept environment of this run has gone so that another one can start; said once in a run."""
        neighbours = self._shop.neighbours
        async with neighbours.making_room:
            gone = await make_room(self._shop.engine, self._spec.run)
        if gone is None:
            return False
        self._emit(gone)
        if not neighbours.room_was_made:
            neighbours.room_was_made = True
            told = (
                f"Docker has no address range left: the environment kept of {gone.trial} went; "
                "the longest kept one goes next"
            )
            self._emit(RunIssue(issue=Issue(Severity.WARNING, None, Code.ADDRESS_POOL_EXHAUSTED, told)))
        return True

    def raise_issue(
        self,
        severity: Severity,
        code: Code,
        message: str,
        *evidence: Evidence,
        service: str = "",
        phase: Phase | None = None,
    ) -> None:
        issue = Issue(
            severity=severity,
            phase=phase or self.phase,
            code=code,
            message=message,
            evidence=evidence,
            service=service,
        )
        self._emit(IssueRaised(trial=self._spec.trial, issue=located(issue, self._spec)))


def located(issue: Issue, spec: EnvironmentSpec) -> Issue:
    """Evidence files are named from the trial's folder on; here they are still named from the log folder on."""
    base = spec.trial_folder or spec.log_folder
    if not spec.log_folder.is_relative_to(base):
        return issue
    prefix = PurePath(spec.log_folder.relative_to(base))
    evidence = tuple(
        msgspec.structs.replace(fact, file=str(prefix / fact.file)) if fact.file else fact for fact in issue.evidence
    )
    return msgspec.structs.replace(issue, evidence=evidence)
