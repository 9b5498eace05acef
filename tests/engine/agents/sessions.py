"""An agent alone with a fake environment, without a trial around it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from engine.agents.agent import AgentSession, ModelAccess, StepReport
from engine.environments.environment import EnvironmentSpec, ExecResult, Sink
from engine.events import ArmInfo
from engine.issues import Issue
from engine.tasks.folder import read_task
from tests.engine.fake_environment import FakeEnvironment, FakeProvider
from tests.engine.tasks.task_folders import make_task


class Session:
    """What an agent was given, and what it did with it."""

    def __init__(
        self,
        folder: Path,
        arm: ArmInfo,
        *,
        instruction: bytes = b"do it",
        toml: str = "",
        files: Mapping[str, str | bytes | None] | None = None,
        step: str = "",
        attempt: int = 1,
        solution_env: Mapping[str, str] | None = None,
        model: ModelAccess | None = None,
    ) -> None:
        task = read_task(make_task(folder / "task", toml, dict(files or {})))
        self.provider = FakeProvider(folder / "containers")
        spec = EnvironmentSpec(
            run="r", trial="t", name="t", environment="agent", log_folder=folder, task_folder=task.folder
        )
        self.environment: FakeEnvironment = self.provider.environment(spec, lambda event: None)
        self.steps: list[StepReport] = []
        self.activities: list[str] = []
        self.issues: list[Issue] = []
        self.folder = folder / "agent"
        self.folder.mkdir()
        self.given = AgentSession(
            task=task,
            arm=arm,
            attempt=attempt,
            instruction=instruction,
            environment=self.environment,
            folder=self.folder,
            step=step,
            step_folder=task.folder / "steps" / step if step else None,
            solution_env=solution_env or {},
            user=None,
            execute=self.execute,
            report_step=self.steps.append,
            issue=self.issues.append,
            model=model,
            activity=self.activities.append,
        )

    async def execute(
        self,
        command: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        stdin: bytes | None = None,
        user: str | None = None,
        timeout_sec: float | None = None,
        sink: Sink | None = None,
        logged: bool = True,
    ) -> ExecResult:
        return await self.environment.execute(
            command, env=env, stdin=stdin, user=user, sink=sink, timeout_sec=timeout_sec
        )
