"""Runs of the real Codex and mini-swe-agent by the installed command, without network in their containers."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import anyio.to_thread
import pytest

from engine.agents.capsules import codex, mini_swe_agent
from engine.agents.capsules.capsule import Capsule
from engine.agents.capsules.python_v1 import PYTHON_TAG
from engine.issues import Code
from engine.models.scripted.script import ContextFull, CutOff, Done, Refuse, Run, Script, Tokens, Turn
from engine.models.scripted.server import ScriptedServer
from engine.models.settings import Wire
from engine.runs.card import read_card
from engine.trial_state import TrialState
from tests.end_to_end.deck import BOUND_SEC, codes, labelled, only_run, state_of, trial_of, trialdeck
from tests.end_to_end.small_tasks import small_task
from tests.engine.agents.capsules.real import built_capsules

__all__ = ["built_capsules"]

pytestmark = [pytest.mark.anyio, pytest.mark.docker]

KEY = "sk-marked-9f86d081884c7d659a2feaa0c55ad015"
NO_NETWORK = '[environment]\nnetwork_mode = "no-network"\n'
TEST = "grep -qx 42 /app/answer.txt && echo 1 > /logs/verifier/reward.txt || echo 0 > /logs/verifier/reward.txt\n"
EVERYTHING_SEEN = "cat /proc/[0-9]*/cmdline /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n'"
WAITS = "touch /tmp/here; until [ -e /tmp/go ]; do sleep 0.05; done"
SOLVES = (
    Run(command=WAITS, tokens=Tokens(tokens_in=1000, tokens_out=20)),
    Run(command=EVERYTHING_SEEN, tokens=Tokens(tokens_in=1500, tokens_out=20)),
    Run(command="echo 42 > /app/answer.txt", tokens=Tokens(tokens_in=2000, tokens_out=100, cached=1000, reasoning=30)),
    Done(text="It is written.", tokens=Tokens(tokens_in=2200, tokens_out=10, cached=2000)),
)
CODEX, MINI = "codex", "mini_swe_agent"
TAGS = {
    CODEX: (codex.tag_of(codex.VERSION), PYTHON_TAG),
    MINI: (mini_swe_agent.tag_of(mini_swe_agent.VERSION),),
}
WIRES = {CODEX: Wire.OPENAI_RESPONSES, MINI: Wire.OPENAI_CHAT}
VERSIONS = {CODEX: codex.VERSION, MINI: mini_swe_agent.VERSION}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def run(folder: Path, agent: str, server: ScriptedServer) -> str:
    small_task(folder / "answer", toml=NO_NETWORK, test=TEST)
    arm = f"{agent}:model=some-model,base_url={server.base_url(WIRES[agent])},key_env=MARKED_KEY"

    def told() -> str:
        return trialdeck("run", "answer", "--agent", arm, "--plain", cwd=folder, env={"MARKED_KEY": KEY}).stdout

    return await anyio.to_thread.run_sync(told)


def inspected(folder: Path) -> str:
    """What Docker says of the run's containers while the agent is at work, who then goes on."""
    seen = ""
    for container in labelled("container", only_run(folder)):
        seen += subprocess.run(["docker", "inspect", container], capture_output=True, text=True, check=True).stdout
        script = "until [ -e /tmp/here ]; do sleep 0.05; done; touch /tmp/go"
        subprocess.run(["docker", "exec", container, "sh", "-c", script], check=True, timeout=BOUND_SEC)
    return seen


@pytest.mark.parametrize("agent", [CODEX, MINI])
async def test_a_task_without_network_is_solved_and_the_key_is_nowhere(
    tmp_path: Path, built_capsules: Callable[..., list[Capsule]], agent: str
) -> None:
    capsules = built_capsules(*TAGS[agent])
    output, seen = "", ""
    async with ScriptedServer(Script(turns=SOLVES), key=KEY) as server:
        async with anyio.create_task_group() as group:

            async def work() -> None:
                nonlocal output
                output = await run(tmp_path, agent, server)

            group.start_soon(work)
            await server.heard(1)
            seen = await anyio.to_thread.run_sync(inspected, tmp_path)
        assert all(heard.key_right for heard in server.asked)
    folder = only_run(tmp_path)
    trial = trial_of(state_of(folder), "answer")
    assert trial.state == "passed", output
    assert (trial.tokens_in, trial.tokens_cached, trial.tokens_out) == (6700, 3000, 150)
    assert trial.model_calls == 4 and trial.steps == 4 and codes(trial) == set()
    assert trial.cost_usd is None  # nobody knows the price of this model, which is not zero
    (arm,) = read_card(folder).arms
    assert arm.agent_version == VERSIONS[agent]
    assert arm.capsules == {capsule.tag: capsule.digest for capsule in capsules}
    trajectory = json.loads((folder / trial.trial / "agent" / "trajectory.json").read_text())
    assert trajectory["final_metrics"]["total_completion_tokens"] == 150
    assert trajectory["agent"]["version"] == VERSIONS[agent]
    assert json.loads((folder / trial.trial / "changes.json").read_text())["added"] == [
        "/app/answer.txt",
        "/tmp/go",
        "/tmp/here",
    ]
    holding = [path for path in folder.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]
    assert holding == [] and KEY not in output and KEY not in seen and "/opt/trialdeck/model" in seen
    told = (folder / trial.trial / "agent" / f"{agent}.txt").read_text()
    assert "TRIALDECK_AGENT" in told  # so that what was looked through is really there


async def outcome(folder: Path, agent: str, *turns: Turn) -> TrialState:
    async with ScriptedServer(Script(turns=turns), key=KEY) as server:
        await run(folder, agent, server)
    return trial_of(state_of(only_run(folder)), "answer")


async def test_what_only_the_gateway_sees_is_told_of_codex(
    tmp_path: Path, built_capsules: Callable[..., list[Capsule]]
) -> None:
    """Case 64: of a refusal Codex says nothing, and ends well."""
    built_capsules(*TAGS[CODEX])
    trial = await outcome(tmp_path, CODEX, Refuse(times=0))
    assert trial.state == "failed" and codes(trial) == {"model_refused"}


async def test_why_codex_gave_up_is_told_once_and_its_work_is_judged(
    tmp_path: Path, built_capsules: Callable[..., list[Capsule]]
) -> None:
    """Case 71: the verdict stands, whatever ended the agent."""
    built_capsules(*TAGS[CODEX])
    trial = await outcome(tmp_path, CODEX, Run(command="echo 42 > /app/answer.txt"), ContextFull(times=0))
    assert trial.state == "passed" and codes(trial) == {"model_context_full", "agent_exit_nonzero"}
    assert [issue.code for issue in trial.issues].count(Code.MODEL_CONTEXT_FULL) == 1


async def test_an_answer_that_is_cut_off_is_told_of_mini_swe_agent(
    tmp_path: Path, built_capsules: Callable[..., list[Capsule]]
) -> None:
    built_capsules(*TAGS[MINI])
    turns = (CutOff(), Run(command="echo 42 > /app/answer.txt"), Done())
    trial = await outcome(tmp_path, MINI, *turns)
    assert trial.state == "passed" and codes(trial) == {"model_answer_cut_off"}
