"""One of Harbor's agents on a fake environment. Needs Harbor."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from engine.agents.agent import AgentEnd, AgentSession
from engine.agents.arms import arm_of
from engine.agents.harbor.agent import HarborAgent
from engine.agents.registry import make_agent
from engine.events import ArmInfo
from tests.engine.agents.sessions import Session

OWN = "tests.engine.agents.harbor.own_agents"


def arm(**parameters: str) -> ArmInfo:
    """`kwargs__x` is `kwargs.x`."""
    return arm_of("a", "harbor", {key.replace("__", "."): value for key, value in parameters.items()})


def own(which: str, **parameters: str) -> ArmInfo:
    return arm(import_path=f"{OWN}:{which}", **parameters)


class Rig:
    """A session, its agent, and what became hidden."""

    def __init__(self, folder: Path, which: ArmInfo, **session: Any) -> None:
        self.session = Session(folder, which, **session)
        self.hidden: list[str] = []
        self.given: AgentSession = _with(self.session.given, hide=self.hidden.append)
        made = make_agent(which)
        assert isinstance(made, HarborAgent)
        self.agent = made

    async def whole(self) -> AgentEnd:
        await self.agent.set_up(self.given)
        end = await self.agent.run(self.given)
        await self.agent.look_back(self.given)
        return end

    @property
    def commands(self) -> list[tuple[str, str | None]]:
        return [(command.text, command.user) for command in self.session.provider.commands]


def _with(given: AgentSession, **changes: Any) -> AgentSession:
    fields = {name: getattr(given, name) for name in given.__struct_fields__}
    return AgentSession(**{**fields, **changes})
