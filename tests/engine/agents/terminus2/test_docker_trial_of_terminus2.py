"""Whole trials of terminus2 in real containers, its model a scripted server."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine import events as ev
from engine.agents.arms import parse_arm
from engine.issues import Code
from engine.models.scripted.script import ContextFull, CutOff, Done, Malformed, Run, Script
from engine.models.scripted.server import ScriptedServer
from engine.models.settings import Wire
from engine.tasks.folder import read_task
from engine.trajectories.read import find_trajectories, read_trajectory
from engine.trial.job import TrialJob
from engine.trial.record import Record
from engine.trial.trial import run_trial
from tests.end_to_end.small_tasks import small_task
from tests.engine.environments.rig import Rig

pytestmark = [pytest.mark.anyio, pytest.mark.docker]

RUNS = """
for process in /proc/[0-9]*; do tr '\\0' ' ' < $process/cmdline 2>/dev/null && echo; done > /logs/verifier/programs
running() { grep -c -- "$1" /logs/verifier/programs; }
"""
ANSWERED = "$(cat /app/answer.txt) -eq 42"
OFFLINE = '[environment]\nnetwork_mode = "no-network"\n'


def passes_if(condition: str) -> str:
    return f"{RUNS}[ {condition} ] && echo 1 > /logs/verifier/reward.txt || echo 0 > /logs/verifier/reward.txt\n"


async def trial(rig: Rig, task: Path, script: Script, monkeypatch: pytest.MonkeyPatch, parameters: str = "") -> Record:
    monkeypatch.setenv("SCRIPTED_KEY", "sk-of-a-test")
    wire = Wire.ANTHROPIC if "anthropic" in parameters else Wire.OPENAI_CHAT
    async with ScriptedServer(script, key="sk-of-a-test") as server:
        arm = parse_arm(f"terminus2:model=scripted,key_env=SCRIPTED_KEY,base_url={server.base_url(wire)}{parameters}")
        job = TrialJob(
            run=rig.run,
            trial=f"{task.name}__terminus2__1",
            task=read_task(task),
            arm=arm,
            attempt=1,
            folder=rig.folder / "run" / f"{task.name}__terminus2__1",
        )
        return await run_trial(job, rig.provider, rig.recorder)


def codes(rig: Rig) -> list[Code]:
    return [event.issue.code for event in rig.recorder.of(ev.IssueRaised)]


async def test_a_task_is_solved_and_its_server_lives_on(
    rig: Rig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    test = passes_if(f'{ANSWERED} -a $(running "sleep 4242") -gt 0')
    task = small_task(tmp_path / "solved", toml=OFFLINE, test=test)
    script = Script(
        turns=(
            Run(command="sleep 4242 &", seconds=0.5),
            Malformed(),
            CutOff(),
            Run(command="test 1 -lt 2 && echo 42 > answer.txt; cat answer.txt", seconds=30.0),
            Done(),
        ),
        counted=True,
    )
    record = await trial(rig, task, script, monkeypatch, ",answers=xml,protocol=anthropic")
    assert record.finished is not None
    assert (record.finished.passed, codes(rig)) == (True, [Code.MODEL_CUT_OFF])
    assert record.finished.tokens_in
    agent = rig.folder / "run" / "solved__terminus2__1" / "agent"
    kept = {"model.jsonl", "terminal.cast", "terminus2.txt", "trajectory.json"}
    assert {path.name for path in agent.iterdir()} == kept
    (path,) = find_trajectories(agent.parent)
    trajectory = read_trajectory(path)
    assert trajectory is not None
    assert trajectory.ended == "task_complete"
    assert trajectory.tokens_in == record.finished.tokens_in
    assert "42" in trajectory.steps[5].observations[0].text
    assert b"42" in (agent / "terminus2.txt").read_bytes()
    assert all(b"sk-of-a-test" not in file.read_bytes() for file in agent.iterdir())


async def test_when_time_is_up_its_terminal_is_dead_and_the_work_counts(
    rig: Rig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Case 53."""
    test = passes_if(f'{ANSWERED} -a $(running "sleep 4242") -eq 0 -a $(running tmux) -eq 0')
    task = small_task(tmp_path / "late", toml=f"{OFFLINE}[agent]\ntimeout_sec = 6\n", test=test)
    script = Script(
        turns=(
            Run(command="echo 42 > answer.txt; (trap '' HUP TERM; setsid sleep 4242) &", seconds=0.5),
            Run(command="sleep 4242", seconds=60.0),
            Done(),
        )
    )
    record = await trial(rig, task, script, monkeypatch)
    assert record.finished is not None
    assert (record.finished.passed, codes(rig)) == (True, [Code.HARNESS_TIMEOUT])
    (ended,) = rig.recorder.of(ev.AgentFinished)
    assert ended.timed_out
    assert ended.killed_processes >= 4
    trajectory = read_trajectory(rig.folder / "run" / "late__terminus2__1" / "agent" / "trajectory.json")
    assert trajectory is not None
    assert [call.text for step in trajectory.steps for call in step.calls][-1] == "sleep 4242\n"


async def test_a_limit_of_its_own_is_a_warning_beside_the_verdict(
    rig: Rig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Case 71."""
    task = small_task(tmp_path / "limited", toml=OFFLINE, test=passes_if(ANSWERED))
    script = Script(turns=(Run(command="echo 42 > answer.txt", seconds=0.2), Run(command="echo on"), ContextFull()))
    record = await trial(rig, task, script, monkeypatch, ",max_turns=2")
    assert record.finished is not None
    assert (record.finished.passed, codes(rig)) == (True, [Code.AGENT_LIMIT_REACHED])
