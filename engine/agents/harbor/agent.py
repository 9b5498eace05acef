"""An agent of Harbor's on one of our trials. Needs Harbor."""

from __future__ import annotations

import json
import logging
import uuid
from collections.abc import Mapping
from logging.handlers import RotatingFileHandler
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import anyio
from harbor.models.agent.context import AgentContext
from harbor.models.task.config import MCPServerConfig
from harbor.models.trial.paths import TrialPaths
from harbor.utils.env import embedded_env_var_templates

from engine.agents.agent import AgentEnd, AgentSession
from engine.agents.harbor.arm import ORACLE, Configured, configured, traits_for
from engine.agents.harbor.catalogue import shows_steps_live
from engine.agents.harbor.endings import cause_of, exit_code_of, is_exit, issue_of
from engine.agents.harbor.environment import EnvironmentGone, TrialdeckEnvironment
from engine.agents.harbor.options import secret_values
from engine.agents.harbor.presence import quietly
from engine.agents.harbor.secrets import Secrets
from engine.agents.harbor.steps import TRAJECTORY, StepsTold, Totals, put
from engine.agents.harbor.way_to_model import forwarder
from engine.agents.in_main.forwarder import Forwarder
from engine.agents.in_main.setup_failed import setup_failed
from engine.events import ArmInfo
from engine.issues import Code, Evidence, Issue, Phase, Severity, TrialFailed
from engine.tasks.task import McpServer, NetworkMode
from engine.text import clean_line

LOG = "harbor-debug.log"
"""What Harbor's own code says, beside what the agent's commands print."""

MOST_LOG_BYTES = 16 << 20
LOOK_SEC = 1.0
FETCH_SEC = 5.0
MOST_SESSION_BYTES = 256 << 20
_WORDS_CHARS = 500


class HarborAgent:
    """Sets up, runs and reads one of Harbor's agents as Harbor's own trial does, in our environment."""

    log_name = "harbor.txt"

    def __init__(self, arm: ArmInfo) -> None:
        self.arm = arm
        traits = traits_for(arm)
        self.name = traits.name
        self.version = traits.version
        self._configured: Configured = configured(arm)
        self._agent: Any = None
        self._environment: TrialdeckEnvironment | None = None
        self._secrets = Secrets(lambda value: None)
        self._context = AgentContext()
        self._told: StepsTold | None = None
        self._forwarder: Forwarder | None = None

    async def set_up(self, session: AgentSession) -> None:
        self._secrets = Secrets(session.hide)
        self._know_secrets()
        self._told = StepsTold(session, self._secrets)
        logger = self._logger(session)
        try:
            if self._configured.gateway is not None:
                self._forwarder = await forwarder(session)
            agent = self._made(session, logger)
            self._agent = agent
            environment = TrialdeckEnvironment(session, self._secrets, logger)
            self._environment = environment
            self._know_secrets_of(agent)
            with environment.scoped_exec_env(self._environment_of_commands()):
                await agent.set_web_tools_disabled(_is_closed(session), environment)
                await agent.setup(environment)
        except TrialFailed:
            raise
        except Exception as error:
            raise TrialFailed(self._set_up_failed(error)) from None
        if version := agent.version():
            session.activity(f"{self._configured.name} {clean_line(str(version), 60)} is set up")

    def _environment_of_commands(self) -> dict[str, str]:
        """With the gateway, a proxy that the image names is none for the way to the model."""
        way = self._forwarder.environment if self._forwarder is not None else {}
        return {**way, **self._configured.env}

    async def run(self, session: AgentSession) -> AgentEnd:
        agent, environment = self._agent, self._environment
        if agent is None or environment is None:
            raise RuntimeError("run before set_up")
        end = AgentEnd()
        if not (self._configured.in_main or self._configured.is_free):
            await session.execute(["true"], logged=False)  # the clock runs from here, also while the model thinks
        async with anyio.create_task_group() as group:
            group.start_soon(self._follow, session)
            try:
                with environment.scoped_exec_env(self._environment_of_commands()):
                    instruction = session.instruction.decode("utf-8", "replace")
                    await agent.run(instruction, environment, self._context)
                end = AgentEnd(exit_code=self._exit_code(environment))
            except TrialFailed:
                raise
            except EnvironmentGone as gone:
                end = AgentEnd(note=str(gone))
            except Exception as error:
                end = self._failed(session, cause_of(error))
            group.cancel_scope.cancel()
        if self._forwarder is not None:
            await self._forwarder.stop()
        return end

    async def look_back(self, session: AgentSession) -> None:
        """Harbor's code reads what the agent left: its trajectory, its tokens, its costs."""
        agent, told = self._agent, self._told
        if agent is None or told is None:
            return
        try:
            if self._context.is_empty():
                await anyio.to_thread.run_sync(agent.populate_context_post_run, self._context)
        except (ValueError, TypeError, LookupError, AttributeError) as error:
            raise RuntimeError(self._secrets.out_of(f"{type(error).__name__}: {error}")) from None
        finally:
            try:
                found = await anyio.to_thread.run_sync(told.read_again)
                told.end(found, _totals(self._context), self._configured.name)
            finally:
                told.close()
                _close_log(agent.logger)
                await self._scrub(session)

    async def _follow(self, session: AgentSession) -> None:
        """Tell the steps as they come: of a host-side agent from the file that it writes, of one in `main` from its
        session, which Harbor's code turns into that file."""
        fetches = self._configured.in_main and shows_steps_live(self._configured.agent_class)
        fetched = anyio.current_time()
        while True:
            await anyio.sleep(LOOK_SEC)
            began = anyio.current_time()
            if fetches and began - fetched > FETCH_SEC:
                await self._fetch(session)
                fetched = anyio.current_time()
                await anyio.sleep(fetched - began)  # never more than half of the time
            await self._tell()

    async def _tell(self) -> None:
        if self._told is None:
            return
        found = await anyio.to_thread.run_sync(self._told.poll)
        if found is not None:
            self._told.tell(found)
            self._told.tell_activity(found, self._configured.name)

    async def _fetch(self, session: AgentSession) -> None:
        """What can't be read yet is read the next time, or at the end."""
        place = self._agent.remote_session_logs_dir
        if place is None:
            return
        with TemporaryDirectory(prefix="trialdeck-harbor-") as made:
            folder = Path(made)
            try:
                fetched = await session.environment.download(
                    str(place), folder / "sessions", max_bytes=MOST_SESSION_BYTES, timeout_sec=60.0
                )
                if fetched.status == "collected":
                    await anyio.to_thread.run_sync(self._convert, folder, session.folder / TRAJECTORY)
            except (TrialFailed, ValueError, KeyError, TypeError, AttributeError, IndexError, OSError) as error:
                self._agent.logger.debug("the session can't be read yet: %s", type(error).__name__)

    def _convert(self, folder: Path, target: Path) -> None:
        with quietly():
            found = self._agent.convert_trajectory(folder)
        if found is not None:
            text = json.dumps(found.to_json_dict(), ensure_ascii=False)
            put(target, self._secrets.out_of(text).encode("utf-8", "backslashreplace"))

    def _made(self, session: AgentSession, logger: logging.Logger) -> Any:
        """The agent with what the task gives it. Raises TrialFailed, or what Harbor's constructor raises."""
        given: dict[str, Any] = {}
        task = session.task
        found = self._configured
        if found.name == ORACLE:
            given = {"task_dir": task.folder, "trial_paths": _paths(session)}
        elif not found.is_free:
            if servers := task.environment.mcp_servers:
                allowed = session.environment.spec.allowed_host_env
                given["mcp_servers"] = [_server(server, allowed) for server in servers]
            if task.environment.skills_dir:
                given["skills_dir"] = task.environment.skills_dir
        address = self._forwarder.address if self._forwarder is not None else ""
        agent = found.agent(session.folder, logger, address=address, **given)
        trial = session.environment.spec.trial
        agent.session_id = f"{trial}__agent"
        agent.context_id = uuid.uuid5(uuid.NAMESPACE_URL, trial)
        if found.name == ORACLE:
            agent._task.config.solution.env = dict(session.solution_env)  # only what the user allowed of the host's
            names = [step.name for step in task.steps]
            agent._step_index = names.index(session.step) if session.step in names else 0
        return agent

    def _know_secrets(self) -> None:
        for value in (*secret_values(self.arm), *self._configured.hidden.values()):
            self._secrets.add(value)
        self._secrets.add_named(self._configured.env)

    def _know_secrets_of(self, agent: Any) -> None:
        """The key that Harbor chose, wherever it comes from; and what goes with MCP servers."""
        try:
            self._secrets.add(agent.model_connection.api_key)
            self._secrets.add_named(dict(agent.model_connection.env))
            for value in agent.mcp_header_env.secrets:
                self._secrets.add(value)
        except ValueError as error:
            raise TrialFailed(self._set_up_failed(error)) from None

    async def _scrub(self, session: AgentSession) -> None:
        taken = await anyio.to_thread.run_sync(self._secrets.out_of_folder, session.folder)
        if taken:
            session.issue(
                Issue(
                    Severity.WARNING,
                    Phase.AGENT,
                    Code.ARTIFACT_TOO_LARGE,
                    "files of the agent were taken away: a secret is in them and they are too large to be rewritten",
                    (Evidence("files", "\n".join(taken[:50])),),
                )
            )

    def _exit_code(self, environment: TrialdeckEnvironment) -> int | None:
        """Harbor's agents raise where their program fails; the oracle alone goes on."""
        if self._configured.name == ORACLE and environment.last is not None:
            return environment.last.exit_code
        return 0

    def _failed(self, session: AgentSession, error: BaseException) -> AgentEnd:
        issue = issue_of(error, self._configured.name, self._secrets, in_main=self._configured.in_main)
        if issue is not None:
            session.issue(issue)
        return AgentEnd(exit_code=exit_code_of(error) if is_exit(error) else None, note=type(error).__name__)

    def _set_up_failed(self, error: BaseException) -> Issue:
        words = self._secrets.out_of(str(error).strip())
        last = self._environment.last if self._environment is not None else None
        said = (Evidence("last output", self._secrets.out_of(last.tail)),) if last is not None and last.tail else ()
        return Issue(
            Severity.FATAL,
            Phase.AGENT,
            Code.AGENT_SETUP_FAILED,
            f"Harbor's {self._configured.name} could not be set up: {type(error).__name__}: "
            f"{clean_line(words, _WORDS_CHARS)}",
            (Evidence("Harbor says", words[-4000:]), *said),
        )

    def _logger(self, session: AgentSession) -> logging.Logger:
        """A logger of this trial's own, whose file is in the agent's folder."""
        logger = logging.getLogger(f"trialdeck.harbor.{uuid.uuid4().hex}")
        logger.setLevel(logging.DEBUG)
        logger.propagate = False
        handler = RotatingFileHandler(session.folder / LOG, maxBytes=MOST_LOG_BYTES, backupCount=1, encoding="utf-8")
        handler.setFormatter(_Scrubbed(self._secrets))
        logger.addHandler(handler)
        return logger


class _Scrubbed(logging.Formatter):
    def __init__(self, secrets: Secrets) -> None:
        super().__init__("%(asctime)s %(levelname)s %(message)s")
        self._secrets = secrets

    def format(self, record: logging.LogRecord) -> str:
        text = self._secrets.out_of(super().format(record))
        return text.encode("utf-8", "backslashreplace").decode()


def _close_log(logger: logging.Logger) -> None:
    found: logging.Logger | None = logger
    while found is not None and not found.handlers:
        found = found.parent
    for handler in list(found.handlers) if found is not None and found.name.startswith("trialdeck.harbor.") else ():
        handler.close()
        if found is not None:
            found.removeHandler(handler)


def _totals(context: AgentContext) -> Totals:
    return Totals(
        tokens_in=context.n_input_tokens,
        tokens_cached=context.n_cache_tokens,
        tokens_out=context.n_output_tokens,
        cost_usd=context.cost_usd,
    )


def _paths(session: AgentSession) -> TrialPaths:
    return TrialPaths(session.folder.parent)


def _is_closed(session: AgentSession) -> bool:
    """Harbor takes web tools away from an agent whose network is not open."""
    policy = session.task.agent.network or session.task.environment.network
    return policy is not None and policy.mode is not NetworkMode.PUBLIC


def _server(server: McpServer, allowed: Mapping[str, str]) -> MCPServerConfig:
    """Raises TrialFailed where a header asks for a variable of the host that the user didn't allow: Harbor would fill
    in whatever the engine's process has."""
    for header, value in server.headers.items():
        for variable, default in embedded_env_var_templates(value):
            if variable not in allowed and default is None:
                raise setup_failed(
                    f"MCP server {server.name}: header {header} asks for the host's {variable}",
                    way_out=f"allow it with --allow-host-env {variable}",
                    code=Code.MCP_SERVER_FAILED,
                )
    return MCPServerConfig(
        name=server.name,
        transport=server.transport,
        url=server.url,
        command=server.command,
        args=list(server.args),
        headers=dict(server.headers),
    )
