"""The protocol that every environment provider fulfils: what a trial needs from the place it runs in."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

import msgspec

from engine.events import Event
from engine.issues import Phase
from engine.tasks.task import Healthcheck, NetworkPolicy

Emit = Callable[[Event], None]
"""Takes an event at once; never blocks, never raises."""

Sink = Callable[[str, bytes], None]
"""Takes output while it comes: the stream's name (`stdout` or `stderr`) and raw bytes, cut anywhere."""


class EnvironmentSpec(msgspec.Struct, frozen=True, kw_only=True):
    """Everything a provider must know to make one environment. Paths are of the host.

    `build_context` is the folder whose Dockerfile makes the image of `main` (None: `image` is used as it is).
    `compose_file` is the task's own definition, merged over the base definition of `main`.
    `content_digest` names what is built, so that the same content is built once however many trials start together.
    `cpus_cap` and `memory_mb_cap` are what no service may exceed, where a smaller host was allowed.
    `bind` are host folders mounted into `main` (host path -> container path), `bind_read_only` those that `main` can't
    write to. A provider whose engine is on another host mounts neither. `brings_in`: an agent's own files are put below
    /opt/trialdeck, for which there is to be a place also in a root that is read-only.
    `trial_folder` is what the files of evidence are named from (None: from `log_folder`).
    """

    run: str
    trial: str
    name: str
    environment: str  # "agent" or "verifier"
    log_folder: Path
    task_folder: Path
    trial_folder: Path | None = None
    build_context: Path | None = None
    image: str | None = None
    compose_file: Path | None = None
    content_digest: str = ""
    build_timeout_sec: float = 600.0
    start_timeout_sec: float = 600.0
    cpus: float | None = None
    memory_mb: int | None = None
    cpus_cap: float | None = None
    memory_mb_cap: int | None = None
    network: NetworkPolicy = NetworkPolicy()
    env: Mapping[str, str] = {}
    workdir: str | None = None
    healthcheck: Healthcheck | None = None
    bind: Mapping[Path, str] = {}
    bind_read_only: Mapping[Path, str] = {}
    brings_in: bool = False
    allowed_host_env: Mapping[str, str] = {}


class ExecResult(msgspec.Struct, frozen=True, kw_only=True):
    """How a command ended. `exit_code` None: unknown (the environment or the daemon went away).

    `tail` is the end of both streams, decoded and bounded, for messages. `out_of_memory`: the container's memory limit
    was hit while this command ran (the engine's own record, not a guess from 137). `started` False: the runtime could
    not start it at all (no such program, no such folder, a dead container); `tail` then holds the engine's words.
    """

    exit_code: int | None
    seconds: float
    timed_out: bool = False
    out_of_memory: bool = False
    environment_alive: bool = True
    started: bool = True
    tail: str = ""


class FileChange(msgspec.Struct, frozen=True):
    """`kind`: added, changed or deleted; from the engine's own record of a container's layers."""

    path: str
    kind: str


class Transfer(msgspec.Struct, frozen=True, kw_only=True):
    """A download. `status`: collected, empty, missing, refused, too_large. `sha256` of the file, or of a folder's
    sorted (path, sha256) listing. `skipped` names members left out, with why."""

    status: str
    files: int = 0
    bytes: int = 0
    sha256: str = ""
    is_folder: bool = False
    skipped: tuple[str, ...] = ()


class Environment(Protocol):
    """One started Compose project (or its equal). Every method raises `TrialFailed` when the environment itself fails.

    `phase` is what an issue that comes by itself (a service dies) is booked under: prepare until the start is done,
    then agent or verify after the kind of environment; the trial sets it where that is not so.
    """

    spec: EnvironmentSpec
    phase: Phase

    @property
    def services(self) -> Sequence[str]: ...

    @property
    def workdir(self) -> str: ...

    async def start(self) -> None:
        """Build or pull, start, wait for dependencies, Compose health checks, then the task's health check."""

    async def check_health(self, healthcheck: Healthcheck) -> None:
        """Run a health check of the task in `main` until it passes; raises TrialFailed where it doesn't."""

    async def execute(
        self,
        command: Sequence[str],
        *,
        service: str = "main",
        user: str | None = None,
        workdir: str | None = None,
        env: Mapping[str, str] | None = None,
        stdin: bytes | None = None,
        sink: Sink | None = None,
        timeout_sec: float | None = None,
    ) -> ExecResult:
        """Run to the end or to the timeout; on a timeout or cancellation the command and its process group are dead."""

    async def upload(self, source: Path, target: str, *, service: str = "main") -> None:
        """Put a file at `target`, or a folder's content into the folder `target` (made if missing). Modes are kept."""

    async def upload_bytes(self, data: bytes, target: str, *, mode: int = 0o644, service: str = "main") -> None: ...

    async def is_empty(self, folder: str) -> bool:
        """Whether it is certain that nothing is in a folder of `main`; false where only a command could tell."""

    async def download(
        self,
        source: str,
        destination: Path,
        *,
        service: str = "main",
        exclude: Sequence[str] = (),
        max_bytes: int | None = None,
        timeout_sec: float | None = None,
    ) -> Transfer:
        """Fetch a file to `destination`, or a folder's content into it. Works on a stopped service too."""

    async def note_processes(self) -> None:
        """Remember what runs in `main` now, before the agent."""

    async def kill_agent(self, mark: str) -> int:
        """Kill all that the agent started (mark: NAME=value in its environment); returns how many. Dead on return."""

    @property
    def unseen(self) -> Sequence[str]:
        """Places of `main` in which an agent's work may lie and of which `changes` can't tell: tmpfs, volumes."""

    async def changes(self) -> list[FileChange]:
        """What was added, changed and deleted in `main` since it was created, mounts left out."""

    async def stop(self, service: str) -> None: ...

    async def keep(self) -> None:
        """Leave everything up for a person, marked so that a sweep spares it. Nothing follows it any more."""

    async def down(self) -> list[str]:
        """Remove everything; returns what could not be removed. Bounded in time, shielded by the caller."""


class Provider(Protocol):
    """Makes environments and answers for the host behind them."""

    def environment(self, spec: EnvironmentSpec, emit: Emit) -> Environment: ...

    async def remove_run(self, run: str) -> list[str]:
        """Remove every container, network, volume and image of a run that is not kept; returns what could not be."""

    async def mounts_host_folders(self) -> bool:
        """Are `bind` and `bind_read_only` of a spec obeyed, since the engine is on this host?"""

    async def answers(self) -> str:
        """Why the engine can't be reached now, "" where it answers. Bounded in time, raises nothing."""

    async def close(self) -> None: ...
