"""The protocol of an agent: who works on a task, and what it may ask of the trial."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol, runtime_checkable

import msgspec

from engine.environments.environment import Environment, ExecResult, Sink
from engine.events import ArmInfo
from engine.issues import Issue
from engine.models.conversation import ModelClient
from engine.models.model_call import CostSource
from engine.models.settings import ModelSettings, Wire
from engine.tasks.task import Task

MARK_NAME = "TRIALDECK_AGENT"
"""Environment variable that every process of an agent inherits: by it a timed-out agent is found and killed."""

INSTRUCTION_PATH = "/logs/agent/instruction.md"


class AgentConfigInvalid(Exception):
    """An arm that cannot be run as written; the message names the arm and the key and says what was expected."""


class AgentUnavailable(AgentConfigInvalid):
    """An arm that is written well and lacks something of this host: a package, a key. The message says how to get it;
    a plan refuses the arm's trials and no other's."""


class AgentMissing(AgentUnavailable):
    """The agent itself isn't here, so that not even its version is known."""


class AgentTraits(msgspec.Struct, frozen=True, kw_only=True):
    """What an agent can take and what it needs, known before anything is started.

    `wires`: model protocols it speaks, most usual first; empty: it calls no model of ours. `mcp`: transports of
    MCP servers it can be given, and `mcp_headers`: also where they want headers. `takes_skills`: it can be given a
    folder of skills. `capsules`: tags of the runtime capsules that it is carried in with, all of them;
    `installs_over_network`: its set-up needs the container's network.
    `needs_gateway`: it calls its model from within `main`. `parameters`: name -> what it means, in a line; those of
    the model (model, protocol, base_url, ...) are not among them.
    """

    name: str
    version: str
    summary: str
    wires: tuple[Wire, ...] = ()
    mcp: frozenset[str] = frozenset()
    mcp_headers: bool = True
    takes_skills: bool = False
    capsules: tuple[str, ...] = ()
    installs_over_network: bool = False
    needs_gateway: bool = False
    parameters: Mapping[str, str] = {}
    costs_nothing: bool = False

    @property
    def calls_model(self) -> bool:
        return bool(self.wires)


GATEWAY_FOLDER = "/opt/trialdeck/model"
GATEWAY_SOCKET = f"{GATEWAY_FOLDER}/socket"
"""Where `main` finds the gateway: HTTP over a Unix socket, at which any key will do: the real one never
enters `main`."""


class ModelAccess(Protocol):
    """The model of one trial. Every call made through it is counted, and what fails in it becomes an issue."""

    settings: ModelSettings

    @property
    def calls(self) -> int:
        """How many calls were answered so far."""

    def client(self) -> ModelClient:
        """For an agent that runs on the host. Calls are counted here; the agent reports its steps itself."""

    @property
    def wire_in_main(self) -> Wire:
        """What the gateway speaks at GATEWAY_SOCKET: the same as the model's server."""


class AgentEnd(msgspec.Struct, frozen=True, kw_only=True):
    """How an agent ended by itself. `exit_code` None where it has none."""

    exit_code: int | None = None
    note: str = ""


class StepReport(msgspec.Struct, frozen=True, kw_only=True):
    """One step an agent made; None means unknown. Tokens as in `engine.models.model_call.Usage`."""

    what: str
    tokens_in: int | None = None
    tokens_cached: int | None = None
    tokens_cache_written: int | None = None
    tokens_out: int | None = None
    tokens_reasoning: int | None = None
    cost_usd: float | None = None
    cost_source: CostSource | None = None


class Execute(Protocol):
    """Run a command in `main` as the agent: its user, workdir and mark are set, the output goes to the agent's log
    while the command runs, and the agent's clock starts with the first call made in `run` (not in `set_up`).

    `sink` gets the output as well, as it comes. `logged` False keeps it out of the agent's log (a look at a terminal's
    screen, many times a minute)."""

    async def __call__(
        self,
        command: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        stdin: bytes | None = None,
        user: str | None = None,
        timeout_sec: float | None = None,
        sink: Sink | None = None,
        logged: bool = True,
    ) -> ExecResult: ...


def _not_hidden(value: str) -> None:
    """Where nothing keeps a log."""


class AgentSession(msgspec.Struct, frozen=True, kw_only=True):
    """What an agent gets for one trial (or one step of it).

    `instruction` is exactly what the task says, canary lines left out. `folder` is the agent's folder on the host
    (`<trial>/agent`). `model` is None for an agent that calls none.
    `step_folder` is the step's folder in the task, None in a task without steps. `hide` takes a secret that `main` gets
    to know: from then on the agent's log shows `***` in its place.
    """

    task: Task
    arm: ArmInfo
    attempt: int
    instruction: bytes
    environment: Environment
    folder: Path
    step: str
    step_folder: Path | None
    solution_env: Mapping[str, str]
    user: str | None
    execute: Execute
    report_step: Callable[[StepReport], None]
    issue: Callable[[Issue], None]
    model: ModelAccess | None
    activity: Callable[[str], None]
    hide: Callable[[str], None] = _not_hidden


class Agent(Protocol):
    """An agent serves one stage of a trial: a fresh one is made for each. `log_name` names its log file in the
    agent's folder."""

    name: str
    version: str
    log_name: str

    async def set_up(self, session: AgentSession) -> None:
        """Bring in what is needed; has a budget of its own and happens before the agent's clock starts."""

    async def run(self, session: AgentSession) -> AgentEnd:
        """Work until done. May be cancelled at any await when time is up."""


@runtime_checkable
class LooksBack(Protocol):
    """An agent whose steps and costs can be read only once it has ended."""

    async def look_back(self, session: AgentSession) -> None:
        """Called after every end, time-outs included: what the agent left in `/logs/agent` is in its folder by then.
        Bounded in time; what it raises is a warning."""
