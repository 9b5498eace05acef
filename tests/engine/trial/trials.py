"""Whole trials on fake environments."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from engine import events as ev
from engine.events import ArmInfo
from engine.issues import Code, Issue
from engine.tasks.folder import read_task
from engine.trial.job import TrialJob
from engine.trial.record import Record
from engine.trial.trial import run_trial
from tests.engine.fake_environment import Command, Does, FakeEnvironment, FakeProvider
from tests.engine.tasks.task_folders import make_task
from tests.engine.time_passing import pass_time

Kind = TypeVar("Kind", bound=ev.Event)

FRESH = '[verifier]\nenvironment_mode = "separate"\n'
BAKED: dict[str, str | bytes | None] = {"tests/Dockerfile": "FROM debian:bookworm-slim\nCOPY . /tests\n"}
STEPS = '[[steps]]\nname = "one"\n[[steps]]\nname = "two"\n'
STEP_FILES: dict[str, str | bytes | None] = {
    "steps/one/instruction.md": "first\n",
    "steps/two/instruction.md": "second\n",
}


class Rig:
    """One task and the trials on it. `run` is the command of the agent."""

    def __init__(
        self,
        folder: Path,
        toml: str = "",
        files: Mapping[str, str | bytes | None] | None = None,
        *,
        run: str = "work",
        agent: str = "command",
        services: tuple[str, ...] = ("main",),
        **job: Any,
    ) -> None:
        compose = "services:\n" + "".join(f"  {name}: {{image: x}}\n" for name in services)
        several: dict[str, str | bytes | None] = {"environment/docker-compose.yaml": compose} if services[1:] else {}
        self.task = read_task(make_task(folder / "some-task", toml, {**several, **(files or {})}))
        self.provider = FakeProvider(folder / "containers", services)
        self.events: list[ev.Event] = []
        parameters = {"run": run} if agent == "command" else {}
        given: dict[str, Any] = {
            "run": "r",
            "trial": "some-task__a__1",
            "task": self.task,
            "arm": ArmInfo(name="a", agent=agent, parameters=parameters),
            "attempt": 1,
            "folder": folder / "run" / "some-task__a__1",
            **job,
        }
        self.job = TrialJob(**given)
        self.record: Record | None = None

    @property
    def folder(self) -> Path:
        return self.job.folder

    async def trial(self) -> ev.TrialFinished:
        """Run it; its last event."""
        self.record = await run_trial(self.job, self.provider, self.events.append)
        assert self.record.finished is not None
        return self.record.finished

    def scores(self, reward: str | bytes = "1\n", *, name: str = "reward.txt", **reply: Any) -> None:
        """What test.sh leaves."""
        self.provider.when("/tests/test.sh", does=writes({f"/logs/verifier/{name}": reward}), **reply)

    def of(self, kind: type[Kind]) -> list[Kind]:
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def issues(self) -> list[Issue]:
        return [event.issue for event in self.of(ev.IssueRaised)]

    @property
    def codes(self) -> list[Code]:
        return [issue.code for issue in self.issues]

    def issue(self, code: Code) -> Issue:
        """The only issue of this code."""
        (found,) = [issue for issue in self.issues if issue.code is code]
        return found

    def manifest(self, step: str = "") -> dict[str, dict[str, Any]]:
        """Rows by service and source."""
        base = self.folder / "steps" / step if step else self.folder
        rows = msgspec.json.decode((base / "artifacts" / "manifest.json").read_bytes(), type=list[dict[str, Any]])
        return {f"{row['service']}:{row['source']}": row for row in rows}

    def verifier(self) -> FakeEnvironment:
        """The last verifier's environment."""
        return [one for one in self.provider.environments if one.spec.environment == "verifier"][-1]

    def agent(self) -> FakeEnvironment:
        return next(one for one in self.provider.environments if one.spec.environment == "agent")

    def command(self, match: str) -> Command:
        """The only command that contains this."""
        (found,) = [command for command in self.provider.commands if match in command.text]
        return found


LIMIT_SEC = 60.0


def writes(files: Mapping[str, str | bytes], *, then_late: bool = False) -> Does:
    """A command that leaves these files; `then_late`: and is then at it for longer than LIMIT_SEC."""

    def does(command: Command) -> None:
        for path, content in files.items():
            command.environment.write(path, content, command.service)
        if then_late:
            pass_time(LIMIT_SEC)

    return does


def late(command: Command) -> None:
    """A command that is at it for longer than LIMIT_SEC."""
    pass_time(LIMIT_SEC)
