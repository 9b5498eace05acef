"""What one trial needs to know, made by the plan and given to `run_trial`."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path

import msgspec

from engine.events import ArmInfo
from engine.issues import Phase
from engine.tasks.task import AgentSettings, Step, Task, VerifierSettings
from engine.trial import acceptance

AGENT_SETUP_SEC = 360.0
DOWNLOAD_SEC = 600.0
SCRIPT_FETCH_SEC = 30.0
CLEANUP_SEC = 120.0
MAX_ARTIFACT_BYTES = 2 << 30
MAX_LOG_FOLDER_BYTES = 256 << 20


class Keep(StrEnum):
    """Which environments stay up after their trial, labelled, for a shell."""

    NEVER = "never"
    FAILED = "failed"
    ALWAYS = "always"


class TrialJob(msgspec.Struct, frozen=True, kw_only=True):
    """One attempt of one arm on one task. `acceptance` is a rule that `read_rule` can read. `cpus` and `memory_mb` cap
    what the task declares (None: as declared)."""

    run: str
    trial: str
    task: Task
    arm: ArmInfo
    attempt: int
    folder: Path
    run_number: int = 1
    allowed_host_env: Mapping[str, str] = {}
    timeout_factor: float = 1.0
    acceptance: str = acceptance.DEFAULT
    keep: Keep = Keep.NEVER
    cpus: float | None = None
    memory_mb: int | None = None

    def stages(self) -> list[Stage]:
        """The task's steps, or the task itself as its only one."""
        task = self.task
        if not task.steps:
            return [Stage(name="", folder=None, agent=task.agent, verifier=task.verifier, step=None)]
        return [
            Stage(name=step.name, folder=step.folder, agent=step.agent, verifier=step.verifier, step=step)
            for step in task.steps
        ]


class Stage(msgspec.Struct, frozen=True, kw_only=True):
    """One round of agent, collect and verify. `name` is empty in a task without steps."""

    name: str
    folder: Path | None
    agent: AgentSettings
    verifier: VerifierSettings
    step: Step | None


def limits_of(task: Task, timeout_factor: float) -> dict[Phase, float]:
    """Seconds that a phase may take, for the phases that have one limit (of the first step, in a multi-step task)."""
    first = task.steps[0] if task.steps else task
    limits = {
        Phase.PREPARE: task.environment.build_timeout_sec,
        Phase.VERIFY: first.verifier.timeout_sec * timeout_factor,
    }
    if first.agent.timeout_sec is not None:
        limits[Phase.AGENT] = first.agent.timeout_sec * timeout_factor
    return limits
