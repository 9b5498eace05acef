"""The agent: Codex is carried in or installed, configured for the trial, and runs once."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import anyio
import anyio.to_thread

from engine.agents.agent import AgentConfigInvalid, AgentEnd, AgentSession
from engine.agents.capsules.capsule import Capsule
from engine.agents.capsules.codex import PACKAGE, tag_of
from engine.agents.capsules.node import NODE_TAG
from engine.agents.capsules.python_v1 import PYTHON
from engine.agents.codex.arm import CAPSULE, configured
from engine.agents.codex.config import config_toml
from engine.agents.codex.ended import CodexEnd
from engine.agents.codex.looking_back import recorded
from engine.agents.in_main.carried import carried
from engine.agents.in_main.forwarder import Forwarder
from engine.agents.in_main.installed import npm_install
from engine.agents.in_main.json_stream import JsonStream
from engine.agents.in_main.log_name import name_in_trial
from engine.agents.in_main.server_faults import wrong_definitions
from engine.agents.in_main.setup_failed import setup_failed
from engine.agents.in_main.skills import copy_skills
from engine.agents.in_main.task_servers import servers_of
from engine.agents.in_main.told_steps import TRAJECTORY, ToldSteps
from engine.agents.in_main.written_again import write_again
from engine.environments.environment import ExecResult
from engine.events import ArmInfo
from engine.tasks.task import LOGS_AGENT
from engine.trajectories.codex_events import CodexEventsFold

HOME = "/opt/trialdeck/codex"
"""Where its configuration, its state and its skills lie; nothing of the image's own is read or changed."""
SESSIONS = f"{LOGS_AGENT}/sessions"
"""Its own record of the session says more than its events: it is kept with the agent's logs."""
_VERSION_SEC = 60.0
_REMOVE_SEC = 30.0
_SAYS_VERSION = re.compile(r"codex-cli (\S+)")


class CodexAgent:
    """Raises AgentConfigInvalid for an arm that can't work."""

    name = "codex"
    log_name = "codex.txt"

    def __init__(self, arm: ArmInfo) -> None:
        self._arm = configured(arm)
        self.version = self._arm.version
        self._program: tuple[str, ...] = ()
        self._forwarder: Forwarder | None = None
        self._end: CodexEnd | None = None
        self._wrong: dict[str, str] = {}
        self._made = 0

    async def set_up(self, session: AgentSession) -> None:
        """Raises TrialFailed."""
        _check_instruction(session.instruction)
        capsules = await carried(session, self._arm.capsules)
        runtime, program = _runtime(capsules)
        if self._arm.install == CAPSULE:
            self._program = (capsules[tag_of(self._arm.version)].programs["codex"],)
        else:
            node, package = await npm_install(session, PACKAGE, self._arm.version, node=capsules.get(self._arm.runtime))
            self._program = (node, f"{package}/bin/codex.js")
        self._forwarder = await Forwarder.start(session, runtime, program)
        await self._put_home(session, self._forwarder.address)
        await copy_skills(session, f"{HOME}/skills", runtime, program)
        await self._check_version(session)
        self._wrong = await wrong_definitions(session, session.task.environment.mcp_servers)

    async def run(self, session: AgentSession) -> AgentEnd:
        scope = anyio.CancelScope()
        end = self._end = CodexEnd(name_in_trial(session, self.log_name), session.activity, scope.cancel)
        steps = ToldSteps(session, agent=self.name, version=self.version)
        stream = JsonStream(CodexEventsFold(), steps, session.folder / self.log_name, watch=end.watch)
        way = self._forwarder.environment if self._forwarder is not None else {}
        result: ExecResult | None = None
        try:
            with scope:
                result = await session.execute(
                    command(self._program), env={**ENV, **way}, stdin=session.instruction, sink=stream.sink
                )
        finally:  # also when time is up: what it did until then counts
            stream.finish()
            self._made = steps.made
            steps.finish(ended=end.ended())
            servers = [server.name for server in session.task.environment.mcp_servers]
            for issue in end.issues(result.tail if result is not None else "", servers, self._wrong):
                session.issue(issue)
        if self._forwarder is not None:
            await self._forwarder.stop()
        return AgentEnd(exit_code=result.exit_code if result is not None else None, note=end.ended())

    async def look_back(self, session: AgentSession) -> None:
        """Codex tells what a step used only in its own record of the session."""
        if self._end is None or not self._end.thread:
            return
        thread, ended, made = self._end.thread, self._end.ended(), self._made

        def look() -> None:
            found = recorded(session.folder / Path(SESSIONS).name, thread, steps=made)
            if found is not None:
                write_again(
                    found,
                    session.folder / TRAJECTORY,
                    agent=self.name,
                    version=self.version,
                    session_id=session.environment.spec.trial,
                    ended=ended,
                )

        await anyio.to_thread.run_sync(look)

    async def _put_home(self, session: AgentSession, address: str) -> None:
        """Whoever the agent runs as may write there."""
        if session.model is None:
            raise setup_failed("codex works with a model, and this trial has none")
        try:
            config = config_toml(
                session.model.settings,
                address,
                servers_of(session),
                web_search=self._arm.web_search,
                pass_on=sorted(session.task.environment.env),
            )
        except AgentConfigInvalid as error:
            raise setup_failed(str(error)) from None
        with tempfile.TemporaryDirectory(prefix="trialdeck-codex-") as made:
            root = Path(made)
            home, sessions = root / "home" / Path(HOME).name, root / "sessions"
            for folder in (home, home / "skills", sessions):
                folder.mkdir(parents=True)
                folder.chmod(0o777)
            (home / "config.toml").write_bytes(config)
            (home / "config.toml").chmod(0o666)
            (home / "sessions").symlink_to(SESSIONS)
            # What the agent of an earlier step left there may belong to another user.
            await session.environment.execute(["rm", "-rf", HOME], user="0", timeout_sec=_REMOVE_SEC)
            await session.environment.upload(sessions, SESSIONS)
            await session.environment.upload(root / "home", str(Path(HOME).parent))

    async def _check_version(self, session: AgentSession) -> None:
        """That the program runs in this image is known before the clock starts, and so is which one it is."""
        said = bytearray()
        result = await session.execute(
            [*self._program, "--version"],
            env=ENV,
            timeout_sec=_VERSION_SEC,
            logged=False,
            sink=lambda stream, data: said.extend(data) if stream == "stdout" else None,
        )
        found = _SAYS_VERSION.search(said.decode("utf-8", "replace"))
        if result.exit_code != 0 or found is None:
            raise setup_failed("codex can't be started in main", result)
        self.version = found[1]


ENV = {"CODEX_HOME": HOME}


def command(program: Sequence[str]) -> list[str]:
    """The instruction comes on stdin: any text arrives as it is, and no list of processes shows it."""
    return [*program, "exec", "--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "-"]


def _runtime(capsules: dict[str, Capsule]) -> tuple[Literal["node", "python"], str]:
    """What the way to the model runs with."""
    for capsule in capsules.values():
        if PYTHON in capsule.programs:
            return "python", capsule.programs[PYTHON]
    node = capsules.get(NODE_TAG)
    return "node", node.programs["node"] if node is not None else "node"


def _check_instruction(instruction: bytes) -> None:
    """Said before the clock starts, since Codex would say it in its own words and end."""
    try:
        words = instruction.decode()
    except UnicodeDecodeError as error:
        raise setup_failed(
            f"the instruction is no UTF-8 (byte {error.start:,}): codex takes text, and no byte of it is changed for it"
        ) from None
    if not words.strip():
        raise setup_failed("the instruction is empty: codex doesn't start without one")
