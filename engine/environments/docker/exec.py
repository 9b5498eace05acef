"""One command in a container, from its start to an exit code that is known."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager

import anyio
import msgspec
from aiodocker.stream import Stream

from engine.environments.docker.containers import Container
from engine.environments.docker.engine_api import Engine, EngineCallFailed
from engine.environments.docker.host_view import HostView
from engine.environments.docker.processes import Process, tree_of
from engine.environments.docker.together import together
from engine.environments.environment import Sink

EXIT_CODE_SEC = 10.0
KILL_SEC = 10.0
DRAIN_SEC = 2.0
TAIL_BYTES = 16 * 1024
EXEC_MARK = "TRIALDECK_EXEC"
LISTING_BYTES = 8 * 1024 * 1024
"""More than all processes that a host may have: the shell that lists them is the container's, and may say anything."""
LOOK_SEC = 1.0
LOOK_MOST_SEC = 10.0
OVER_SEC = 2.0
SILENT_MOST = 3
STDIN_CHUNK = 64 * 1024


class ExecEnd(msgspec.Struct, frozen=True, kw_only=True):
    """`exit_code` None: unknown. `started` False: the runtime could not start the command (`tail` has its words).
    `refused`: the daemon's words where it did not even try (the container is gone or stopped). `killed`: how many
    processes died at the timeout."""

    exit_code: int | None
    seconds: float
    timed_out: bool = False
    started: bool = True
    refused: str = ""
    killed: int = 0
    tail: str = ""


class ExecRequest(msgspec.Struct, frozen=True, kw_only=True):
    command: Sequence[str]
    user: str | None = None
    workdir: str | None = None
    env: Mapping[str, str] = {}
    stdin: bytes | None = None
    privileged: bool = False


class Tail:
    """The last bytes of both streams; decoded once, at the end, so that no character is cut by a frame."""

    def __init__(self, most: int = TAIL_BYTES) -> None:
        self._parts: deque[bytes] = deque()
        self._size = 0
        self._most = most
        self.cut = False

    def add(self, data: bytes) -> None:
        self._parts.append(data[-self._most :])
        self._size += len(self._parts[-1])
        while self._size - len(self._parts[0]) >= self._most:
            self._size -= len(self._parts.popleft())
            self.cut = True

    def text(self) -> str:
        joined = b"".join(self._parts)
        return joined[-self._most :].decode("utf-8", "replace")


async def run_exec(
    engine: Engine,
    container: Container,
    view: HostView | None,
    request: ExecRequest,
    *,
    sink: Sink | None = None,
    timeout_sec: float | None = None,
) -> ExecEnd:
    """Run to the end or to the timeout. On a timeout or a cancellation the command and its process tree are dead.

    Raises EngineCallFailed only where the command was not started; afterwards a lost daemon is an unknown exit code.
    """
    began = time.monotonic()
    tail = Tail()
    env = dict(request.env)
    mark = ""
    if view is None or not view.may_kill:
        mark = f"{time.monotonic_ns():x}{id(request):x}"
        env[EXEC_MARK] = mark
    try:
        made = await engine.post(f"containers/{container.id}/exec", _body(request, env))
    except EngineCallFailed as error:
        if error.status not in (404, 409) and not error.unreachable:
            raise
        return ExecEnd(exit_code=None, seconds=time.monotonic() - began, started=False, refused=error.message)
    exec_id: str = made["Id"]

    def take(stream: str, data: bytes) -> None:
        tail.add(data)
        if sink is not None:
            sink(stream, data)

    timed_out, killed, attached = False, 0, False
    try:
        async with engine.attach_exec(exec_id) as stream:
            ended, attached = False, True
            try:
                with anyio.move_on_after(timeout_sec):
                    async with together() as group:
                        group.start_soon(_end_of_process, engine, exec_id, group.cancel_scope)
                        await _pump(stream, request.stdin, take)
                        group.cancel_scope.cancel()
                    ended = True
            except BaseException:
                with anyio.move_on_after(KILL_SEC, shield=True):
                    await _kill(engine, container, view, exec_id, mark)
                raise
            if not ended:
                timed_out = True
                with anyio.move_on_after(KILL_SEC, shield=True):
                    killed = await _kill(engine, container, view, exec_id, mark)
                with anyio.move_on_after(DRAIN_SEC):
                    await _pump(stream, None, take)
        told = await _exit(engine, exec_id)
    except (EngineCallFailed, ConnectionError) as error:
        # A container that dies between the two calls lets a command be made and refuses to start it.
        return ExecEnd(
            exit_code=None,
            seconds=time.monotonic() - began,
            timed_out=timed_out,
            started=await _ever_ran(engine, exec_id, otherwise=attached or _unreachable(error)),
            refused=str(error),
            tail=tail.text(),
        )
    code, started = told
    return ExecEnd(
        exit_code=code,
        seconds=time.monotonic() - began,
        timed_out=timed_out,
        started=started or timed_out,
        killed=killed,
        tail=tail.text(),
    )


class OpenExec:
    """A running command whose stdout the caller reads at its own pace."""

    def __init__(self, engine: Engine, exec_id: str, stream: Stream) -> None:
        self._engine = engine
        self._id = exec_id
        self._stream = stream
        self.complaints = Tail()
        self.ended = False

    async def read(self) -> bytes:
        """The next piece of stdout, b"" at the end."""
        while (message := await self._stream.read_out()) is not None:
            if message.stream == 1:
                return message.data
            self.complaints.add(message.data)
        self.ended = True
        return b""

    async def exit_code(self) -> int | None:
        code, _ = await _exit(self._engine, self._id)
        return code


@asynccontextmanager
async def open_exec(
    engine: Engine, container: Container, view: HostView | None, request: ExecRequest
) -> AsyncIterator[OpenExec]:
    """Starts a command; leaving the block before its end kills it."""
    mark = f"{time.monotonic_ns():x}{id(request):x}"
    env = {**request.env, EXEC_MARK: mark}
    made = await engine.post(f"containers/{container.id}/exec", _body(request, env))
    async with engine.attach_exec(made["Id"]) as stream:
        opened = OpenExec(engine, made["Id"], stream)
        try:
            yield opened
        finally:
            if not opened.ended:
                with anyio.move_on_after(KILL_SEC, shield=True):
                    await _kill(engine, container, view, made["Id"], mark)


def _body(request: ExecRequest, env: Mapping[str, str]) -> dict[str, object]:
    body: dict[str, object] = {
        "Cmd": list(request.command),
        "AttachStdin": request.stdin is not None,
        "AttachStdout": True,
        "AttachStderr": True,
        "Tty": False,
        "Env": [f"{name}={value}" for name, value in env.items()],
    }
    if request.user:
        body["User"] = request.user
    if request.workdir:
        body["WorkingDir"] = request.workdir
    if request.privileged:
        body["Privileged"] = True
    return body


async def _pump(stream: Stream, stdin: bytes | None, take: Callable[[str, bytes], None]) -> None:
    """Reads to the end of both streams while stdin is fed; a command that doesn't read its stdin stops nobody."""

    async def feed(data: bytes) -> None:
        view = memoryview(data)
        try:
            for at in range(0, len(view), STDIN_CHUNK):
                await stream.write_in(bytes(view[at : at + STDIN_CHUNK]))
        except (OSError, RuntimeError, AssertionError):
            return
        close_stdin(stream)

    async with together() as group:
        if stdin is not None:
            group.start_soon(feed, stdin)
        while (message := await stream.read_out()) is not None:
            take("stderr" if message.stream == 2 else "stdout", message.data)
        group.cancel_scope.cancel()


async def _end_of_process(engine: Engine, exec_id: str, scope: anyio.CancelScope) -> None:
    """Ends the reading of streams that stay open though the command is long over, or though the daemon forgot it."""
    pause, silent = LOOK_SEC, 0
    while silent < SILENT_MOST:
        await anyio.sleep(pause)
        pause = min(pause * 2, LOOK_MOST_SEC)
        try:
            code, running, _ = read_exec(await engine.get(f"exec/{exec_id}/json"))
        except EngineCallFailed as error:
            if error.not_found:
                break
            silent += 1
            continue
        silent = 0
        if not running and code is not None:
            break
    await anyio.sleep(OVER_SEC)
    scope.cancel()


def close_stdin(stream: Stream) -> None:
    """Half-close: the command reads an end of file, we go on reading its output."""
    response = stream._resp
    transport = response.connection.transport if response is not None and response.connection is not None else None
    if transport is not None and transport.can_write_eof():
        transport.write_eof()


async def _exit(engine: Engine, exec_id: str) -> tuple[int | None, bool]:
    """The exit code once there is one, and whether the command ever ran. `Running` false alone says nothing."""
    pause, ran = 0.005, True
    with anyio.move_on_after(EXIT_CODE_SEC):
        while True:
            code, running, pid = read_exec(await engine.get(f"exec/{exec_id}/json"))
            ran = running or pid != 0
            if not running and code is not None:
                return code, pid != 0
            await anyio.sleep(pause)
            pause = min(pause * 2, 0.25)
    return None, ran


async def _ever_ran(engine: Engine, exec_id: str, *, otherwise: bool) -> bool:
    """Whether a command whose start or stream broke was started; `otherwise` where the daemon can't say."""
    try:
        _, running, pid = read_exec(await engine.get(f"exec/{exec_id}/json"))
    except EngineCallFailed:
        return otherwise
    return running or pid != 0


def _unreachable(error: Exception) -> bool:
    """A broken connection leaves open what became of the call; a refusal doesn't."""
    return not isinstance(error, EngineCallFailed) or error.unreachable


def read_exec(told: Mapping[str, object]) -> tuple[int | None, bool, int]:
    """Exit code (None: not known yet), whether it runs, the host's process number (0: not started)."""
    code, pid = told.get("ExitCode"), told.get("Pid")
    return (
        code if isinstance(code, int) and not isinstance(code, bool) else None,
        bool(told.get("Running")),
        pid if isinstance(pid, int) else 0,
    )


async def _kill(engine: Engine, container: Container, view: HostView | None, exec_id: str, mark: str) -> int:
    """The command, its descendants and its session; returns how many there were."""
    if view is None or not view.may_kill:
        listed = await list_inside(engine, container, f"{EXEC_MARK}={mark}")
        members = [process.pid for process, marked in listed if marked]
        await signal_inside(engine, container, "KILL", members)
        return len(members)
    pid = 0
    for _ in range(100):
        code, _, pid = read_exec(await engine.get(f"exec/{exec_id}/json"))
        if pid or code is not None:
            break
        await anyio.sleep(0.01)
    killed: set[tuple[int, int]] = set()
    while pid:
        async with view.frozen():
            tree = tree_of(view.processes(), pid)
            view.kill(tree)
        if not tree:
            break
        killed.update(process.key for process in tree)
        await anyio.sleep(0.005)
    return len(killed)


LIST_SCRIPT = """
set -f
[ "$2" = stop ] && kill -STOP -1
set +f
for folder in /proc/[0-9]*; do
  pid=${folder#/proc/}
  [ "$pid" = $$ ] && continue
  line=$(cat "$folder/stat" 2>/dev/null) || continue
  case "$(cat "$folder/environ" 2>/dev/null)" in *"$1"*) marked=1 ;; *) marked=0 ;; esac
  rest=${line##*) }
  set -f; set -- "$1" "$2" $rest; set +f
  echo "$pid $3 $4 $6 ${22} ${28} $marked"
  set -- "$1" "$2"
done
"""


async def list_inside(
    engine: Engine, container: Container, mark: str, *, stop: bool = False
) -> list[tuple[Process, bool]]:
    """The container's processes as seen inside, and whether each carries the mark; for a daemon that is not local.

    With `stop` everything but the first process stands still afterwards, until a CONT.
    """
    output = bytearray()

    def keep(stream: str, data: bytes) -> None:
        if stream == "stdout":
            output.extend(data[: LISTING_BYTES - len(output)])

    request = ExecRequest(
        command=["sh", "-c", LIST_SCRIPT, "sh", mark, "stop" if stop else ""], user="0", privileged=True
    )
    end = await run_exec(engine, container, None, request, sink=keep, timeout_sec=KILL_SEC)
    if end.exit_code is None or not end.started or len(output) >= LISTING_BYTES:
        raise EngineCallFailed(500, f"the processes of {container.name} can't be listed: {end.refused or end.tail}")
    return read_listing(bytes(output))


def read_listing(text: bytes) -> list[tuple[Process, bool]]:
    listed: list[tuple[Process, bool]] = []
    for line in text.decode("utf-8", "replace").splitlines():
        fields = line.split()
        if len(fields) == 7 and all(field.isdigit() for field in (fields[0], *fields[2:])):
            pid, parent, session, start, stack = (int(field) for field in (fields[0], *fields[2:6]))
            process = Process(pid=pid, parent=parent, session=session, start=start, stack=stack, state=fields[1])
            listed.append((process, fields[6] == "1"))
    return listed


async def signal_inside(engine: Engine, container: Container, name: str, pids: Sequence[int]) -> None:
    """Send a signal from inside; processes that are gone by now don't matter."""
    script = 'name=$1; shift; for pid; do kill -s "$name" "$pid" 2>/dev/null; done; kill -s CONT -- -1 2>/dev/null; :'
    request = ExecRequest(command=["sh", "-c", script, "sh", name, *map(str, pids)], user="0", privileged=True)
    await run_exec(engine, container, None, request, timeout_sec=KILL_SEC)
