"""`doctor --agent`: an agent from end to end, in a real container, with a scripted model."""

from __future__ import annotations

from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from console.commands.doctor import doctor
from console.diagnosis.agent import agent_checks
from console.diagnosis.check import Check, Status
from console.errors import Unusable
from engine.agents.agent import AgentEnd, AgentSession
from engine.agents.arms import parse_arm
from engine.agents.command import CommandAgent
from engine.agents.registry import AGENTS, Entry
from engine.environments.docker.provider import DockerProvider
from engine.models.settings import Wire

IMAGE = "debian:bookworm-slim"


def asked(*words: str) -> Result:
    app = typer.Typer()
    app.command()(doctor)
    return CliRunner().invoke(app, [*words])


async def checked(arm: str) -> list[Check]:
    told: list[Check] = []
    found = await agent_checks(parse_arm(arm), IMAGE, told.append, DockerProvider.open)
    assert told == found, "each is told as soon as it is known"
    return found


def failures(checks: list[Check]) -> list[str]:
    return [f"{check.name}: {check.text}" for check in checks if check.status is Status.FAILED]


@pytest.mark.parametrize(
    ("arm", "words"), [("orakle", 'unknown agent "orakle"'), ("command", "needs the parameter run")]
)
def test_an_agent_that_cant_be_is_said_before_anything_starts(arm: str, words: str) -> None:
    found = asked("--agent", arm)
    assert isinstance(found.exception, Unusable) and words in str(found.exception)


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many tries as ever of a model that isn't there, and no half minute of pauses between them."""
    monkeypatch.setattr("engine.models.retries.FIRST_PAUSE_SEC", 0.1)


@pytest.mark.docker
@pytest.mark.anyio
@pytest.mark.usefixtures("hasty")
async def test_terminus2_works_and_its_models_failures_are_told_for_what_they_are() -> None:
    checks = await checked("terminus2")
    assert failures(checks) == []
    assert {"model", "instruction", "steps", "session", "verdict", "key"} <= {check.name for check in checks}
    assert {"rate limit once", "key refused", "content filter", "context full", "nobody there"} <= {
        check.name for check in checks
    }


@pytest.mark.docker
@pytest.mark.anyio
async def test_an_agent_that_does_nothing_about_its_task_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    class Idle(CommandAgent):
        name = "idle"

        async def run(self, session: AgentSession) -> AgentEnd:
            await session.execute(["true"])
            return AgentEnd(exit_code=0)

    traits = AGENTS["terminus2"].traits
    assert Wire.OPENAI_CHAT in traits.wires
    monkeypatch.setitem(AGENTS, "terminus2", Entry(traits, lambda arm: Idle(parse_arm("command:run=true"))))
    found = failures(await checked("terminus2"))
    assert any(text.startswith("model: the agent never asked its model") for text in found)
    assert any(
        text.startswith("key refused: told as") and "expected model_authentication_failed" in text for text in found
    )


@pytest.mark.docker
@pytest.mark.anyio
async def test_agents_without_a_model_are_judged_by_their_verdict(tmp_path: Path) -> None:
    assert [check.text for check in await checked("oracle")] == ["the task is solved"]
    assert [check.text for check in await checked("nop")] == ["verified; the task was not solved"]
