"""A provider without containers: environments whose files lie in a folder and whose commands answer as they are told.

Every call is written down in the order it came, as one line of text: `agent: execute main: bash -c …`,
`verifier: upload /tests`, `agent: down`. The first word is the kind of environment.
"""

from __future__ import annotations

import hashlib
import inspect
import shutil
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath

import anyio

from engine.environments.environment import Emit, EnvironmentSpec, ExecResult, FileChange, Sink, Transfer
from engine.issues import Code, Issue, Phase, Severity, TrialFailed
from engine.tasks.task import MAIN, Healthcheck
from engine.trial.places import EMPTY_SCRIPT

DEAD = ExecResult(exit_code=None, seconds=0.0, environment_alive=False, started=False, tail="container is not running")


@dataclass
class Command:
    """One call of `execute`."""

    environment: FakeEnvironment
    words: tuple[str, ...]
    service: str
    user: str | None
    workdir: str | None
    env: dict[str, str]
    stdin: bytes | None
    timeout_sec: float | None

    @property
    def text(self) -> str:
        return " ".join(self.words)


Does = Callable[[Command], object]


@dataclass
class Reply:
    """How commands that contain `match` end. `does` may write files, wait, or raise; it may be a coroutine function.
    `forever`: it runs until its time limit or its cancellation. `times`: for so many commands, then the next reply."""

    match: str
    exit_code: int | None = 0
    out: bytes = b""
    err: bytes = b""
    does: Does | None = None
    forever: bool = False
    out_of_memory: bool = False
    kills_environment: bool = False
    times: int = -1
    starts: bool = True


@dataclass
class FakeProvider:
    """`faults` and `hangs` go by the first words of a call's line: what it raises, and how many seconds it takes, once.
    `image` puts files into an environment that starts."""

    root: Path
    services: tuple[str, ...] = (MAIN,)
    calls: list[str] = field(default_factory=list)
    commands: list[Command] = field(default_factory=list)
    environments: list[FakeEnvironment] = field(default_factory=list)
    replies: list[Reply] = field(default_factory=list)
    faults: dict[str, BaseException] = field(default_factory=dict)
    hangs: dict[str, float] = field(default_factory=dict)
    changed: list[FileChange] = field(default_factory=lambda: [FileChange("/app/answer.txt", "added")])
    unseen: tuple[str, ...] = ()
    transfers: dict[str, Transfer] = field(default_factory=dict)
    leftovers: list[str] = field(default_factory=list)
    survivors: int = 0
    image: Callable[[FakeEnvironment], None] | None = None
    mounts: bool = True
    cancelled: list[str] = field(default_factory=list)
    away: list[str] = field(default_factory=list)  # why it can't be reached, an answer each

    def when(
        self,
        match: str,
        exit_code: int | None = 0,
        *,
        out: bytes = b"",
        err: bytes = b"",
        does: Does | None = None,
        forever: bool = False,
        out_of_memory: bool = False,
        kills_environment: bool = False,
        times: int = -1,
        starts: bool = True,
    ) -> None:
        self.replies.append(
            Reply(match, exit_code, out, err, does, forever, out_of_memory, kills_environment, times, starts),
        )

    def environment(self, spec: EnvironmentSpec, emit: Emit) -> FakeEnvironment:
        made = FakeEnvironment(self, spec, emit)
        self.environments.append(made)
        return made

    def said(self, *words: str) -> list[str]:
        """The calls that contain one of these words, in order."""
        return [call for call in self.calls if any(word in call for word in words)]

    def up(self) -> list[str]:
        """Environments that were started and are neither down nor kept."""
        return [one.spec.name for one in self.environments if one.state == "up"]

    async def remove_run(self, run: str) -> list[str]:
        await self.call(f"provider: remove_run {run}")
        for one in self.environments:
            one.state = "down" if one.state == "up" else one.state
        return []

    async def remove_images(self, run: str) -> list[str]:
        await self.call(f"provider: remove_images {run}")
        return []

    async def root_folder(self) -> Path | None:
        return None

    async def mounts_host_folders(self) -> bool:
        return self.mounts

    async def answers(self) -> str:
        await self.call("provider: answers")
        return self.away.pop(0) if self.away else ""

    async def close(self) -> None:
        self.calls.append("provider: close")

    @asynccontextmanager
    async def open(self) -> AsyncIterator[FakeProvider]:
        await self.call("provider: open")
        yield self

    async def call(self, line: str) -> None:
        self.calls.append(line)
        await anyio.lowlevel.checkpoint()
        for begins in [begins for begins in self.hangs if f"{line} ".startswith(f"{begins} ")]:
            try:
                await anyio.sleep(self.hangs.pop(begins))
            except anyio.get_cancelled_exc_class():
                self.cancelled.append(line)
                raise
        for begins, fault in self.faults.items():
            if f"{line} ".startswith(f"{begins} "):
                raise fault


class FakeEnvironment:
    def __init__(self, provider: FakeProvider, spec: EnvironmentSpec, emit: Emit) -> None:
        self.provider = provider
        self.spec = spec
        self.emit = emit
        self.phase = Phase.PREPARE
        self.state = "new"
        self.stopped: set[str] = set()
        self.dead: set[str] = set()

    @property
    def services(self) -> Sequence[str]:
        return self.provider.services if self.spec.environment == "agent" else (MAIN,)

    @property
    def workdir(self) -> str:
        return self.spec.workdir or "/app"

    def place(self, path: str, service: str = MAIN) -> Path:
        """Where a path of the container lies on the host."""
        inside = PurePosixPath(self.workdir) / path
        return self.provider.root / self.spec.name / service / str(inside).lstrip("/")

    def write(self, path: str, content: str | bytes, service: str = MAIN) -> None:
        place = self.place(path, service)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content if isinstance(content, bytes) else content.encode())

    def read(self, path: str, service: str = MAIN) -> bytes:
        return self.place(path, service).read_bytes()

    async def _call(self, what: str) -> None:
        await self.provider.call(f"{self.spec.environment}: {what}")

    async def start(self) -> None:
        self.state = "up"
        self.place("/").mkdir(parents=True, exist_ok=True)
        if self.provider.image is not None:
            self.provider.image(self)
        await self._call("start")

    async def check_health(self, healthcheck: Healthcheck) -> None:
        await self._call(f"check_health {healthcheck.command}")

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
        given = Command(self, tuple(command), service, user, workdir, dict(env or {}), stdin, timeout_sec)
        self.provider.commands.append(given)
        await self._call(f"execute {service}: {given.text}")
        if service in self.dead | self.stopped:
            return DEAD
        reply = next((one for one in self.provider.replies if one.match in given.text and one.times), None)
        if reply is None:
            return self._by_itself(given)
        reply.times -= 1
        if sink is not None and reply.out:
            sink("stdout", reply.out)
        if sink is not None and reply.err:
            sink("stderr", reply.err)
        return await self._reply(given, reply)

    async def _reply(self, given: Command, reply: Reply) -> ExecResult:
        try:
            with anyio.move_on_after(given.timeout_sec) as scope:
                done = reply.does(given) if reply.does is not None else None
                if inspect.isawaitable(done):
                    await _as_awaitable(done)
                if reply.forever:
                    await anyio.sleep_forever()
        except anyio.get_cancelled_exc_class():
            self.provider.cancelled.append(given.text)
            raise
        if reply.kills_environment:
            self.dead.add(given.service)
        return ExecResult(
            exit_code=137 if scope.cancelled_caught else reply.exit_code,
            seconds=0.01,
            timed_out=scope.cancelled_caught,
            out_of_memory=reply.out_of_memory,
            environment_alive=given.service not in self.dead,
            started=reply.starts,
            tail=(reply.out + reply.err).decode("utf-8", "replace"),
        )

    def _by_itself(self, given: Command) -> ExecResult:
        """What nobody scripted: the engine's own emptying of folders is done for real, all else ends well."""
        if given.words[:3] == ("bash", "-c", EMPTY_SCRIPT):
            folders = [str(self.place(path, given.service)) for path in given.words[4:]]
            done = subprocess.run([*given.words[:4], *folders], check=False)
            return ExecResult(exit_code=done.returncode, seconds=0.0)
        return ExecResult(exit_code=0, seconds=0.0)

    async def upload(self, source: Path, target: str, *, service: str = MAIN) -> None:
        await self._call(f"upload {target}")
        place = self.place(target, service)
        place.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, place, dirs_exist_ok=True, symlinks=True)
        else:
            shutil.copy2(source, place)

    async def upload_bytes(self, data: bytes, target: str, *, mode: int = 0o644, service: str = MAIN) -> None:
        await self._call(f"upload_bytes {target}")
        self.write(target, data, service)
        self.place(target, service).chmod(mode)

    async def is_empty(self, folder: str) -> bool:
        return False

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
        await self._call(f"download {service}:{source}")
        if f"{service}:{source}" in self.provider.transfers:
            return self.provider.transfers[f"{service}:{source}"]
        place = self.place(source, service)
        if not place.exists():
            return Transfer(status="missing")
        destination.parent.mkdir(parents=True, exist_ok=True)
        if place.is_file():
            shutil.copy2(place, destination)
            return Transfer(status="collected", files=1, bytes=place.stat().st_size, sha256=_sha256(place))
        return _copy_folder(place, destination, source, exclude)

    async def note_processes(self) -> None:
        await self._call("note_processes")

    async def kill_agent(self, mark: str) -> int:
        await self._call(f"kill_agent {mark}")
        return self.provider.survivors

    @property
    def unseen(self) -> tuple[str, ...]:
        return self.provider.unseen

    async def changes(self) -> list[FileChange]:
        await self._call("changes")
        return list(self.provider.changed)

    async def stop(self, service: str) -> None:
        await self._call(f"stop {service}")
        self.stopped.add(service)

    async def keep(self) -> None:
        await self._call("keep")
        self.stopped.clear()
        self.state = "kept"

    async def down(self) -> list[str]:
        await self._call("down")
        self.state = "down"
        return list(self.provider.leftovers)


def _copy_folder(place: Path, destination: Path, source: str, exclude: Sequence[str]) -> Transfer:
    files = size = 0
    listing = hashlib.sha256()
    destination.mkdir(parents=True, exist_ok=True)
    for path in sorted(place.rglob("*")):
        relative = path.relative_to(place)
        whole = f"{source.rstrip('/')}/{relative}"
        if any(fnmatch(whole, pattern) or fnmatch(path.name, pattern) for pattern in exclude):
            continue
        if path.is_dir():
            (destination / relative).mkdir(parents=True, exist_ok=True)
            continue
        (destination / relative).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, destination / relative)
        files, size = files + 1, size + path.stat().st_size
        listing.update(f"{_sha256(path)}  {relative}\n".encode("utf-8", "surrogateescape"))
    status = "collected" if files else "empty"
    return Transfer(status=status, files=files, bytes=size, sha256=listing.hexdigest(), is_folder=True)


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


async def _as_awaitable(value: object) -> None:
    assert isinstance(value, Awaitable)
    await value


def broken(code: Code, message: str = "broken on demand", phase: Phase = Phase.PREPARE) -> TrialFailed:
    """What a provider raises where the environment itself fails."""
    return TrialFailed(Issue(Severity.FATAL, phase, code, message))
