"""A program's agent at work in a real container without network, its model a scripted server behind the socket."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import msgspec

from engine.agents.agent import GATEWAY_FOLDER, MARK_NAME, Agent, AgentEnd, AgentSession, StepReport
from engine.agents.capsules.capsule import Capsule
from engine.agents.registry import make_agent
from engine.environments.docker.environment import DockerEnvironment
from engine.events import ArmInfo
from engine.issues import Issue
from engine.models.conversation import ModelClient
from engine.models.scripted.script import Script
from engine.models.scripted.server import ScriptedServer
from engine.models.settings import ModelSettings, Secret, Wire
from engine.tasks.folder import read_task
from engine.tasks.task import NetworkMode, NetworkPolicy
from engine.trial.log_file import LogFile
from tests.engine.agents.as_agent import AsAgent
from tests.engine.environments.rig import Rig
from tests.engine.tasks.task_folders import make_task

MARK = "trial-under-test"
_PIECE = 65536


class Model(msgspec.Struct):
    """The model's side of a session: settings alone, since the program itself calls."""

    settings: ModelSettings
    calls: int = 0

    @property
    def wire_in_main(self) -> Wire:
        return self.settings.wire

    def client(self) -> ModelClient:
        raise AssertionError("a program in main calls its model itself")


class Work:
    """One agent, what it was given, and what it did with it."""

    def __init__(self, agent: Agent, given: AgentSession, server: ScriptedServer, folder: Path) -> None:
        self.agent = agent
        self.given = given
        self.server = server
        self.folder = folder
        self.steps: list[StepReport] = []
        self.issues: list[Issue] = []
        self.activities: list[str] = []

    @property
    def environment(self) -> DockerEnvironment:
        found = self.given.environment
        assert isinstance(found, DockerEnvironment)
        return found

    @property
    def log(self) -> str:
        return (self.folder / self.agent.log_name).read_text()

    @property
    def bodies(self) -> list[Mapping[str, Any]]:
        return [heard.body for heard in self.server.asked]

    async def do(self) -> AgentEnd:
        await self.agent.set_up(self.given)
        return await self.agent.run(self.given)

    async def said(self, *command: str) -> str:
        """The output of a command in `main`, which must end well."""
        result = await self.environment.execute(command, timeout_sec=30)
        assert result.exit_code == 0, result.tail
        return result.tail


async def time_up(rig: Rig, work: Work, ran: str) -> None:
    """Its time is up while its second question waits for an answer, and once its log tells of the command that it
    `ran`: it is cut off, and killed as a trial does."""
    await work.environment.note_processes()
    await work.agent.set_up(work.given)
    async with anyio.create_task_group() as group:
        group.start_soon(work.agent.run, work.given)
        await work.server.heard(2)
        await rig.recorder.wait(lambda: ran in work.log, seconds=30)
        group.cancel_scope.cancel()
    await work.environment.kill_agent(f"{MARK_NAME}={MARK}")


@asynccontextmanager
async def at_work(
    rig: Rig,
    arm: ArmInfo,
    wire: Wire,
    script: Script,
    capsules: Sequence[Capsule],
    *,
    instruction: bytes = b"Write 42 into answer.txt.",
    toml: str = "",
    dockerfile: str | None = None,
    image: Mapping[str, Any] | None = None,
    user: str | None = None,
    settings: Mapping[str, Any] | None = None,
    network: NetworkMode = NetworkMode.NO_NETWORK,
) -> AsyncIterator[Work]:
    """`main` has no network unless it is told so, and capsules as the trial mounts them."""
    folder = rig.folder / "agent"
    folder.mkdir()
    task = read_task(make_task(rig.folder / "a-task", toml))
    model = ModelSettings(
        name=arm.model or "scripted", wire=wire, base_url="https://model.example", key=Secret("k"), **(settings or {})
    )
    async with ScriptedServer(script) as server, socket_of(server.port) as sockets:
        spec: dict[str, Any] = {"dockerfile": dockerfile} if dockerfile is not None else dict(image or {})
        mounts = {sockets: GATEWAY_FOLDER, **{capsule.folder: capsule.place for capsule in capsules}}
        policy = NetworkPolicy(mode=network)
        async with rig.up(network=policy, bind_read_only=mounts, memory_mb=2048, **spec) as environment:
            await environment.execute(["mkdir", "-m", "777", "-p", "/logs/agent"], user="0")
            agent = make_agent(arm)
            with LogFile(folder / agent.log_name, folder) as log:
                given = _session(arm, task, instruction, environment, folder, model, user, log)
                work = Work(agent, given, server, folder)
                work.given = msgspec.structs.replace(
                    given, report_step=work.steps.append, issue=work.issues.append, activity=work.activities.append
                )
                yield work


@asynccontextmanager
async def socket_of(port: int) -> AsyncIterator[Path]:
    """A folder with a socket in it, whose connections go on to a port of the loopback."""

    async def pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while data := await reader.read(_PIECE):
                writer.write(data)
                await writer.drain()
            writer.write_eof()
        except OSError:
            writer.transport.abort()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", port)
        await asyncio.gather(pass_on(reader, far_writer), pass_on(far_reader, writer))
        writer.close()
        far_writer.close()

    with tempfile.TemporaryDirectory(prefix="td-") as made:
        folder = Path(made)
        folder.chmod(0o755)
        server = await asyncio.start_unix_server(connected, folder / "socket")
        (folder / "socket").chmod(0o666)
        async with server:
            yield folder


def _session(
    arm: ArmInfo,
    task: Any,
    instruction: bytes,
    environment: DockerEnvironment,
    folder: Path,
    model: Model | ModelSettings,
    user: str | None,
    log: LogFile,
) -> AgentSession:
    return AgentSession(
        task=task,
        arm=arm,
        attempt=1,
        instruction=instruction,
        environment=environment,
        folder=folder,
        step="",
        step_folder=None,
        solution_env={},
        user=user,
        execute=AsAgent(environment, MARK, user, log.write),
        report_step=lambda step: None,
        issue=lambda issue: None,
        model=Model(model) if isinstance(model, ModelSettings) else model,
        activity=lambda words: None,
    )
