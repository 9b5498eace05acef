"""Terminus 2 at work with a model that says what it is told to and a terminal that only pretends."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import anyio

from engine.agents.agent import AgentEnd
from engine.agents.registry import make_agent
from engine.agents.terminus2.agent import Terminus2Agent
from engine.agents.terminus2.keys import Stroke
from engine.agents.terminus2.screen import View
from engine.agents.terminus2.terminal import Terminal
from engine.environments.environment import Sink
from engine.events import ArmInfo
from engine.issues import Code, Issue
from engine.trajectories.read import read_trajectory
from engine.trajectories.steps import Trajectory
from tests.engine.agents.sessions import Session
from tests.engine.agents.terminus2.model import FakeModel, Says


class FakeTerminal:
    """Shows `screens` one after another, then the last again; an exception among them is raised."""

    def __init__(self, *screens: str | Exception) -> None:
        self.screens = list(screens or ("$",))
        self.sent: list[Stroke] = []
        self.waited: list[tuple[float, bool]] = []
        self.ended = 0
        self.stands_still = False
        self.follows = anyio.Event()
        self.over = anyio.Event()

    async def follow(self, sink: Sink) -> None:
        sink("stdout", b"printed \xc3")
        sink("stdout", b"\xa9\r\n")
        self.follows.set()
        await self.over.wait()

    async def send(self, stroke: Stroke) -> str:
        self.sent.append(stroke)
        return "too long" if stroke.has_long_line else ""

    async def wait(self, seconds: float, *, until_calm: bool) -> None:
        self.waited.append((seconds, until_calm))
        if self.stands_still:
            await anyio.sleep_forever()

    async def look(self) -> View:
        await self.follows.wait()
        shown = self.screens.pop(0) if len(self.screens) > 1 else self.screens[0]
        if isinstance(shown, Exception):
            raise shown
        return View(True, shown)

    async def screen(self) -> str:
        return "the whole screen"

    async def end(self) -> None:
        self.ended += 1
        self.over.set()


class Bench:
    """An agent at work, and what came of it."""

    def __init__(
        self, folder: Path, *said: Says, terminal: FakeTerminal | None = None, rest: Says | None = None, **given: Any
    ) -> None:
        parameters = given.pop("parameters", {})
        instruction = given.pop("instruction", b"do it")
        self.model = FakeModel(*said, rest=rest, **given)
        arm = ArmInfo(name="a", agent="terminus2", model="m", parameters=parameters)
        self.session = Session(folder, arm, instruction=instruction, model=self.model)
        agent = make_agent(arm)
        assert isinstance(agent, Terminus2Agent)
        self.agent = agent
        self.terminal = terminal or FakeTerminal()
        self.agent.terminal = cast(Terminal, self.terminal)

    async def run(self) -> AgentEnd:
        return await self.agent.run(self.session.given)

    @property
    def issues(self) -> list[Issue]:
        return self.session.issues

    @property
    def codes(self) -> list[Code]:
        return [issue.code for issue in self.issues]

    @property
    def trajectory(self) -> Trajectory:
        found = read_trajectory(self.session.folder / "trajectory.json")
        assert found is not None
        assert found.problems == ()
        return found
