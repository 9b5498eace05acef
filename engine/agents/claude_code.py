"""`claude_code`: the real Claude Code CLI in `main`; its model is behind the gateway, its stream is followed live."""

from __future__ import annotations

from pathlib import PurePosixPath

import anyio.to_thread
import msgspec

from engine.agents.agent import AgentEnd, AgentSession, AgentTraits
from engine.agents.capsules.capsule import Capsule
from engine.agents.capsules.claude_code import VERSION, tag_of
from engine.agents.capsules.node import NODE_TAG
from engine.agents.claude_code_end import ClaudeCodeEnd
from engine.agents.claude_code_parameters import (
    CONFIG,
    MCP_FILE,
    NPM,
    PARAMETERS,
    TEMPORARY,
    as_input,
    command_line,
    environment,
    mcp_config,
    read_parameters,
)
from engine.agents.claude_code_record import recorded
from engine.agents.in_main.carried import carried
from engine.agents.in_main.forwarder import OWN_RUNTIME, Forwarder
from engine.agents.in_main.installed import npm_install
from engine.agents.in_main.json_stream import JsonStream
from engine.agents.in_main.log_name import name_in_trial
from engine.agents.in_main.server_faults import wrong_definitions
from engine.agents.in_main.setup_failed import setup_failed
from engine.agents.in_main.skills import copy_skills
from engine.agents.in_main.task_servers import servers_of
from engine.agents.in_main.told_steps import TRAJECTORY, ToldSteps
from engine.agents.in_main.written_again import write_again
from engine.events import ArmInfo
from engine.models.settings import Wire
from engine.trajectories.claude_code import ClaudeCodeFold
from engine.trajectories.steps import Step

TRAITS = AgentTraits(
    name="claude_code",
    version=VERSION,
    summary="Anthropic's Claude Code CLI, in main; calls its model through the engine",
    wires=(Wire.ANTHROPIC,),
    mcp=frozenset({"stdio", "streamable-http", "sse"}),
    takes_skills=True,
    capsules=(tag_of(VERSION), NODE_TAG),
    needs_gateway=True,
    parameters=PARAMETERS,
)

PACKAGE = "@anthropic-ai/claude-code"
PREPARE_SEC = 120.0
VERSION_SEC = 60.0
PREPARE = """
const fs = require("node:fs");
fs.mkdirSync(process.argv[1], { recursive: true });
const shells = ["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash", "/bin/zsh", "/usr/bin/zsh"];
const shell = shells.find((one) => fs.existsSync(one)) ?? "";
const { PATH, NO_PROXY, no_proxy } = process.env;
console.log(JSON.stringify({ uid: process.getuid(), gid: process.getgid(), shell, env: { PATH, NO_PROXY, no_proxy } }));
"""
"""Run by the capsule's node as the agent's user: makes the CLI's folder, and looks at the image."""
MAKE = """
const fs = require("node:fs");
const [folder, uid, gid] = process.argv.slice(1);
fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
fs.chownSync(folder, Number(uid), Number(gid));
"""
"""Run as root: makes a folder that is the agent's alone."""


class _Prepared(msgspec.Struct):
    uid: int
    gid: int
    shell: str
    env: dict[str, str]


def traits_of(arm: ArmInfo) -> AgentTraits:
    """What one arm's needs: its own version's capsule, or the network."""
    parameters = read_parameters(arm)
    return msgspec.structs.replace(
        TRAITS,
        version=parameters.version,
        capsules=parameters.capsules,
        installs_over_network=parameters.install == NPM,
    )


class ClaudeCodeAgent:
    name = "claude_code"
    log_name = "claude_code.txt"

    def __init__(self, arm: ArmInfo) -> None:
        self.parameters = read_parameters(arm)
        self.version = self.parameters.version
        self._program = ""
        self._env: dict[str, str] = {}
        self._forwarder: Forwarder | None = None
        self._end: ClaudeCodeEnd | None = None
        self._wrong: dict[str, str] = {}
        self._made = 0

    async def set_up(self, session: AgentSession) -> None:
        if session.model is None:
            raise setup_failed("claude_code has no model to work with", way_out="give the arm model=NAME")
        capsules = await carried(session, self.parameters.capsules)
        node = capsules[NODE_TAG]
        prepared = await self._prepare(session, node)
        if self.parameters.install == NPM:
            self._program = await self._install(session, node)
        else:
            self._program = capsules[self.parameters.capsule].programs["claude"]
        await copy_skills(session, f"{CONFIG}/skills", "node", node.programs["node"])
        servers = servers_of(session)
        if servers:
            await session.environment.upload_bytes(mcp_config(servers), MCP_FILE, mode=0o644)
        session.activity("open the way to the model")
        self._forwarder = await Forwarder.start(session, "node", node.programs["node"])
        self._env = environment(self.parameters, session.model.settings, self._forwarder.address, prepared.env)
        if self.parameters.runtime:
            self._env["PATH"] = f"{prepared.env.get('PATH', '')}:{node.place}/bin".removeprefix(":")
        shell = prepared.shell or self._shell_of(capsules)
        if shell:
            self._env["SHELL"] = shell
        self._wrong = await wrong_definitions(session, servers, _path_of(self._env))

    async def run(self, session: AgentSession) -> AgentEnd:
        if session.model is None or self._forwarder is None:
            raise RuntimeError("run before set_up")
        words = command_line(
            self._program, self.parameters, session.model.settings, mcp=bool(session.task.environment.mcp_servers)
        )
        end = self._end = ClaudeCodeEnd(session, name_in_trial(session, self.log_name), self._wrong)
        steps = ToldSteps(session, agent="claude-code", version=self.version, as_told=_without_output_tokens)
        stream = JsonStream(ClaudeCodeFold(), steps, session.folder / self.log_name, watch=end.take)
        try:
            result = await session.execute(words, env=self._env, stdin=as_input(session.instruction), sink=stream.sink)
        finally:  # also when time is up: what it did until then counts
            stream.finish()
            self._made = steps.made
            steps.finish(ended=end.ended, cost_usd=end.cost_usd, cost_source=end.cost_source)
            end.finish()
        await self._forwarder.stop()
        return AgentEnd(exit_code=result.exit_code)

    async def look_back(self, session: AgentSession) -> None:
        """Claude Code tells what an answer used only in its own record of the session."""
        end, made = self._end, self._made
        if end is None:
            return

        def look() -> None:
            found = recorded(session.folder / PurePosixPath(CONFIG).name, end.session, steps=made)
            if found is not None:
                write_again(
                    found,
                    session.folder / TRAJECTORY,
                    agent="claude-code",
                    version=self.version,
                    session_id=session.environment.spec.trial,
                    ended=end.ended,
                    cost_usd=end.cost_usd,
                )

        await anyio.to_thread.run_sync(look)

    async def _prepare(self, session: AgentSession, node: Capsule) -> _Prepared:
        said = bytearray()
        result = await session.execute(
            [node.programs["node"], "-e", PREPARE, CONFIG],
            env=OWN_RUNTIME,
            sink=lambda stream, data: said.extend(data if stream == "stdout" else b""),
            logged=False,
            timeout_sec=PREPARE_SEC,
        )
        try:
            found = msgspec.json.decode(bytes(said), type=_Prepared)
        except msgspec.DecodeError:
            raise setup_failed(f"{CONFIG} can't be made in main", result) from None
        result = await session.execute(
            [node.programs["node"], "-e", MAKE, TEMPORARY, str(found.uid), str(found.gid)],
            user="0",
            env=OWN_RUNTIME,
            logged=False,
            timeout_sec=PREPARE_SEC,
        )
        if result.exit_code != 0:
            raise setup_failed(f"{TEMPORARY} can't be made in main", result)
        return found

    async def _install(self, session: AgentSession, node: Capsule) -> str:
        """By npm in `main`: the image's own, or the capsule's where the arm asks for it."""
        own = node if self.parameters.runtime else None
        _, folder = await npm_install(session, PACKAGE, self.version, node=own)
        program = f"{folder.removesuffix(PACKAGE)}.bin/claude"
        said = bytearray()
        result = await session.execute(
            [program, "--version"],
            sink=lambda stream, data: said.extend(data if stream == "stdout" else b""),
            timeout_sec=VERSION_SEC,
        )
        if result.exit_code != 0 or not bytes(said).startswith(f"{self.version} ".encode()):
            raise setup_failed(
                f"Claude Code {self.version}, as npm installed it in main, does not run there",
                result,
                way_out="a capsule: leave the parameter install away",
            )
        return program

    def _shell_of(self, capsules: dict[str, Capsule]) -> str:
        """For an image without a shell that Claude Code can work with."""
        own = capsules.get(self.parameters.capsule)
        return own.programs.get("bash", "") if own is not None else ""


def _path_of(env: dict[str, str]) -> dict[str, str]:
    return {name: env[name] for name in ("PATH",) if name in env}


def _without_output_tokens(step: Step) -> Step:
    """The stream tells what a message had cost when it began: its output is not counted yet."""
    return msgspec.structs.replace(step, tokens_out=None)
