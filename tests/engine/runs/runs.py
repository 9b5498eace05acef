"""Whole runs on fake environments: nothing is started but what the provider pretends."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import anyio

from engine import events as ev
from engine.issues import Code
from engine.runs.card import CardTask, Conduct, RunCard
from engine.runs.event_log import EventLog
from engine.runs.plan import Plan, make_plan
from engine.runs.resume import Remaining, remaining, set_aside
from engine.runs.run import Run
from engine.state import RunState
from engine.tasks.task_set import find_tasks
from tests.engine.fake_environment import FakeProvider
from tests.engine.tasks.task_folders import make_task

ARM = ev.ArmInfo(name="a", agent="nop")
COMMAND = (ev.ArmInfo(name="a", agent="command", parameters={"run": "work"}),)
"""Its agent runs `work`, which the provider says what it does."""
REWARD = {"/logs/verifier/reward.txt": "1"}
SIX = tuple("abcdef")
BOUND_SEC = 120.0
"""No run here takes so long."""


class RunRig:
    """A run of small tasks. `provider` says how they go; `toml` is every task's, `conduct` goes into the card."""

    def __init__(
        self,
        place: Path,
        tasks: Sequence[str] = ("t",),
        *,
        attempts: int = 1,
        arms: tuple[ev.ArmInfo, ...] = (ARM,),
        toml: str = "",
        **conduct: Any,
    ) -> None:
        for name in tasks:
            make_task(place / "tasks" / name, toml)
        found = find_tasks([place / "tasks"], (), ())
        self.folder = place / "run"
        self.folder.mkdir()
        self.card = RunCard(
            run="run",
            name="run",
            created=datetime(2026, 1, 1, tzinfo=UTC),
            engine_version="0",
            arms=arms,
            task_set=ev.TaskSetInfo(name="tasks", digest="d"),
            tasks=tuple(CardTask(id=task.id, folder=str(task.folder), digest=task.digest) for task in found.tasks),
            attempts=attempts,
            conduct=Conduct(**conduct),
        )
        self.plan: Plan = make_plan(
            found, arms, attempts=attempts, seed=1, host=self.card.conduct.host, allowed_host_env={}
        )
        self.provider = FakeProvider(place / "containers")
        self.code = -1
        self.log = EventLog(self.folder)
        for planned in self.plan.trials:
            self.log.append(
                ev.TrialPlanned(
                    trial=planned.trial,
                    task=planned.task.id,
                    arm=planned.arm.name,
                    attempt=planned.attempt,
                    position=planned.position,
                )
            )

    @property
    def state(self) -> RunState:
        return self.log.state

    @classmethod
    def reopened(cls, other: RunRig) -> RunRig:
        """The same run in the next process: its log is read anew."""
        rig = cls.__new__(cls)
        rig.folder, rig.card, rig.plan, rig.code = other.folder, other.card, other.plan, -1
        rig.provider = FakeProvider(other.folder.parent / "containers-again")
        rig.log = EventLog(other.folder)
        return rig

    def run(self, left: Remaining | None = None) -> Run:
        """What is left of it (or what is said to be), for one process."""
        left = left or remaining(self.plan, self.state)
        set_aside(self.log, left)
        return Run(self.folder, self.card, self.plan, left.todo, self.log, self.provider, {})

    async def execute(self, left: Remaining | None = None) -> int:
        """One process's share of it."""
        with anyio.fail_after(BOUND_SEC):
            return await self.run(left).execute()

    @asynccontextmanager
    async def going(self) -> AsyncIterator[Run]:
        """The run while it lasts: it is over when the block is left, and `code` says how."""
        run = self.run()

        async def execute() -> None:
            self.code = await run.execute()

        with anyio.fail_after(BOUND_SEC):
            async with anyio.create_task_group() as group:
                group.start_soon(execute)
                yield run

    async def until(self, met: Callable[[], object]) -> None:
        """Lets the run go on until something is true of it."""
        while not met():
            await anyio.lowlevel.checkpoint()

    def told(self) -> list[str]:
        """What was said of the whole run."""
        return [issue.message for issue in self.state.run_issues]


def codes(rig: RunRig) -> list[Code]:
    """Of the issues of the run itself."""
    return [issue.code for issue in rig.state.run_issues]
