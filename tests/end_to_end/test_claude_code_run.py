"""A run of the real Claude Code by the installed command, without network in its containers."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import anyio.to_thread
import pytest

from engine.agents.capsules.capsule import Capsule
from engine.agents.capsules.claude_code import VERSION, tag_of
from engine.agents.capsules.node import NODE_TAG
from engine.models.scripted.script import Done, Run, Script, Tokens
from engine.models.scripted.server import ScriptedServer
from engine.models.settings import Wire
from engine.runs.card import read_card
from tests.end_to_end.deck import codes, only_run, state_of, trial_of, trialdeck
from tests.end_to_end.small_tasks import small_task
from tests.engine.agents.capsules.real import built_capsules

__all__ = ["built_capsules"]

pytestmark = [pytest.mark.anyio, pytest.mark.docker]

KEY = "sk-ant-marked-9f86d081884c7d659a2feaa0c55ad015"
NO_NETWORK = '[environment]\nnetwork_mode = "no-network"\n'
SCRIPT = Script(
    turns=(
        Run(command="echo 42 > /app/answer.txt", tokens=Tokens(tokens_in=2000, tokens_out=100, cached=1000)),
        Done(text="It is written.", tokens=Tokens(tokens_in=2200, tokens_out=10, cached=2000)),
    )
)
TEST = "grep -qx 42 /app/answer.txt && echo 1 > /logs/verifier/reward.txt || echo 0 > /logs/verifier/reward.txt\n"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def capsules(built_capsules: Callable[..., list[Capsule]]) -> list[Capsule]:
    return built_capsules(tag_of(VERSION), NODE_TAG)


async def run(folder: Path, server: ScriptedServer, key: str = KEY) -> str:
    small_task(folder / "answer", toml=NO_NETWORK, test=TEST)
    arm = f"claude_code:model=claude-sonnet-4-5,base_url={server.base_url(Wire.ANTHROPIC)},key_env=MARKED_KEY"

    def told() -> str:
        return trialdeck("run", "answer", "--agent", arm, "--plain", cwd=folder, env={"MARKED_KEY": key}).stdout

    return await anyio.to_thread.run_sync(told)


async def test_a_task_without_network_is_solved_and_everything_is_counted_once(
    tmp_path: Path, capsules: list[Capsule]
) -> None:
    async with ScriptedServer(SCRIPT, key=KEY) as server:
        output = await run(tmp_path, server)
        assert all(heard.key_right for heard in server.asked)
    folder = only_run(tmp_path)
    trial = trial_of(state_of(folder), "answer")
    assert trial.state == "passed", output
    assert (trial.tokens_in, trial.tokens_cached, trial.tokens_out) == (4200, 3000, 110)
    assert trial.model_calls == 2 and trial.cost_source.startswith("prices")
    assert codes(trial) == set()
    (arm,) = read_card(folder).arms
    assert arm.agent_version == VERSION
    assert arm.capsules == {capsule.tag: capsule.digest for capsule in capsules}
    trajectory = json.loads((folder / trial.trial / "agent" / "trajectory.json").read_text())
    assert trajectory["final_metrics"]["total_completion_tokens"] == 110
    assert json.loads((folder / trial.trial / "changes.json").read_text())["added"] == ["/app/answer.txt"]
    holding = [path for path in folder.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]
    assert holding == [] and KEY not in output


async def test_a_key_that_is_not_accepted_ends_it_at_once(tmp_path: Path, capsules: list[Capsule]) -> None:
    """Left to itself, the CLI asks again for minutes."""
    async with ScriptedServer(SCRIPT, key="another") as server:
        output = await run(tmp_path, server)
        posts = [heard for heard in server.requests if heard.method == "POST"]
    trial = trial_of(state_of(only_run(tmp_path)), "answer")
    assert "model_authentication_failed" in codes(trial) and "model_never_reached" not in codes(trial), output
    assert 1 <= len(posts) <= 2
    assert KEY not in output
