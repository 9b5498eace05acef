"""The protocol of an agent: who works on a task, and what it may ask of the trial."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

import msgspec

from engine.environments.environment import Environment, ExecResult
from engine.events import ArmInfo
from engine.tasks.task import Task

MARK_NAME = "TRIALDECK_AGENT"
"""Environment variable that every process of an agent inherits: by it a timed-out agent is found and killed."""

INSTRUCTION_PATH = "/logs/agent/instruction.md"


class AgentConfigInvalid(Exception):
    """An arm that cannot be run as written; the message names the arm and the key and says what was expected."""


class AgentEnd(msgspec.Struct, frozen=True, kw_only=True):
    """How an agent ended by itself. `exit_code` None where it has none."""

    exit_code: int | None = None
    note: str = ""


class StepReport(msgspec.Struct, frozen=True, kw_only=True):
    """One step an agent made; None means unknown."""

    what: str
    tokens_in: int | None = None
    tokens_cached: int | None = None
    tokens_out: int | None = None
    cost_usd: float | None = None


class Execute(Protocol):
    """Run a command in `main` as the agent: its user, workdir and mark are set, the output goes to the agent's log
    while the command runs, and the agent's clock starts with the first call made in `run` (not in `set_up`)."""

    async def __call__(
        self,
        command: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        stdin: bytes | None = None,
        user: str | None = None,
        timeout_sec: float | None = None,
    ) -> ExecResult: ...


class AgentSession(msgspec.Struct, frozen=True, kw_only=True):
    """What an agent gets for one trial (or one step of it).

    `instruction` is exactly what the task says, canary lines left out. `folder` is the agent's folder on the host
    (`<trial>/agent`). `step_folder` is the step's folder in the task, None in a task without steps.
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
    activity: Callable[[str], None]


class Agent(Protocol):
    """An agent serves one trial. `log_name` names its log file in the agent's folder."""

    name: str
    version: str
    log_name: str

    async def set_up(self, session: AgentSession) -> None:
        """Bring in what is needed; has a budget of its own and happens before the agent's clock starts."""

    async def run(self, session: AgentSession) -> AgentEnd:
        """Work until done. May be cancelled at any await when time is up."""
