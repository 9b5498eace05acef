"""Harbor's agents in real containers, through the command that a person types."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

pytest.importorskip("harbor", reason="run by test_with_harbor, where Harbor is")

from engine.readers.run_folder import RunFolderReader
from engine.state import RunState
from engine.trial_state import TrialState

pytestmark = pytest.mark.docker

PROJECT = Path(__file__).resolve().parents[4]
HELLO = PROJECT / "sample_runs" / "tasks" / "hello"
BOUND_SEC = 300.0
KEY = "sk-0123456789abcdef"
OWN = "tests.engine.agents.harbor.own_agents"
SCRIPT = r"""
[[turns]]
do = "run"
say = "I will write the line."
command = "printf 'Hello, world!\\n' > /app/hello.txt; cat /app/hello.txt"
tokens = { tokens_in = 2100, tokens_out = 110, cached = 50 }
cost_usd = 0.001
[[turns]]
do = "done"
text = "It is there."
tokens = { tokens_in = 2200, tokens_out = 90, cached = 1200 }
cost_usd = 0.0005
"""
TMUX = (
    "FROM debian:bookworm-slim\nRUN apt-get update && apt-get install -y --no-install-recommends tmux\nWORKDIR /app\n"
)


@pytest.fixture
def task(tmp_path: Path) -> Path:
    folder = tmp_path / "tasks" / "hello"
    shutil.copytree(HELLO, folder)
    return folder


def run(task: Path, *arms: str, **env: str) -> tuple[Path, dict[str, TrialState]]:
    """The run's folder, and its trials by their arms."""
    here = task.parent.parent
    done = subprocess.run(
        [sys.executable, "-m", "console", "run", str(task), *(word for arm in arms for word in ("--agent", arm))],
        cwd=here,
        env={**os.environ, "PYTHONPATH": str(PROJECT), **env},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=BOUND_SEC,
        check=False,
    )
    folders = list((here / "runs").iterdir()) if (here / "runs").is_dir() else []
    assert len(folders) == 1, done.stdout + done.stderr
    reader, state = RunFolderReader(folders[0]), RunState()
    while events := reader.poll():
        state.apply_all(events)
    reader.close()
    return folders[0], {trial.arm: trial for trial in state.trials.values()}


def files_with(folder: Path, secret: str) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and secret.encode() in path.read_bytes()]


@contextmanager
def scripted_model(folder: Path) -> Iterator[str]:
    """Its address in the OpenAI Chat protocol."""
    script = folder / "script.toml"
    script.write_text(SCRIPT)
    server = subprocess.Popen(
        [sys.executable, "-m", "engine.models.scripted", "--script", str(script)],
        env={**os.environ, "PYTHONPATH": str(PROJECT)},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert server.stdout is not None
        yield str(json.loads(server.stdout.readline())["openai-chat"])
    finally:
        server.terminate()
        server.wait(timeout=30)


def test_harbors_oracle_and_a_program_of_ones_own_solve_a_task_and_no_key_stays(task: Path) -> None:
    folder, trials = run(
        task, "harbor:agent=oracle", f"harbor:import_path={OWN}:HelloProgram,kwargs.version=9", HELLO_API_KEY=KEY
    )
    oracle, program = trials["harbor-oracle"], trials["harbor-HelloProgram"]
    assert (oracle.passed, oracle.cost_usd, oracle.issues) == (True, 0.0, [])
    assert (program.passed, program.issues, program.agent_exit) == (True, [], 0)
    agent = folder / program.trial / "agent"
    assert "as root, as 1234, key ***, in /tmp" in (agent / "harbor.txt").read_text()
    assert (agent / "told.txt").read_text() == "a file from main, ***\n"
    assert files_with(folder, KEY) == []


def test_all_that_an_agent_started_is_dead_when_its_time_is_up_case_53(task: Path) -> None:
    toml = task / "task.toml"
    toml.write_text(toml.read_text().replace("timeout_sec = 60", "timeout_sec = 2"))
    (task / "tests" / "test.sh").write_text(
        "#!/bin/bash\ncat /proc/[0-9]*/cmdline | tr '\\0' ' ' | grep -c 'sleep 9[0-9][0-9]'\n"
        "echo 1 > /logs/verifier/reward.txt\n"
    )
    folder, trials = run(task, f"harbor:import_path={OWN}:Endless")
    trial = trials["harbor-Endless"]
    assert trial.timed_out and [str(issue.code) for issue in trial.issues] == ["harness_timeout"]
    assert (folder / trial.trial / "verifier" / "test-stdout.txt").read_text() == "0\n"


def test_terminus_2_works_with_a_model_of_ours(task: Path, tmp_path: Path) -> None:
    (task / "environment" / "Dockerfile").write_text(TMUX)
    with scripted_model(tmp_path) as address:
        folder, trials = run(
            task,
            f"harbor:agent=terminus-2,model=openai/scripted,base_url={address},key_env=MODEL_KEY,"
            "kwargs.record_terminal_session=false",
            MODEL_KEY=KEY,
        )
    trial = trials["harbor-terminus-2"]
    assert (trial.passed, trial.issues, trial.steps) == (True, [], 3)
    assert (trial.tokens_in, trial.tokens_cached, trial.tokens_out) == (2100 + 2 * 2200, 50 + 2 * 1200, 110 + 2 * 90)
    assert trial.cost_usd == pytest.approx(0.002)
    written = json.loads((folder / trial.trial / "agent" / "trajectory.json").read_text())
    assert written["agent"]["name"] == "terminus-2"
    assert files_with(folder, KEY) == []


def test_a_program_in_main_works_through_the_gateway_without_network_and_key(task: Path, tmp_path: Path) -> None:
    toml = task / "task.toml"
    toml.write_text(toml.read_text().replace("[environment]", '[environment]\nnetwork_mode = "no-network"'))
    with scripted_model(tmp_path) as address:
        folder, trials = run(
            task,
            f"harbor:import_path={OWN}:Asker,kwargs.skip_install=true,gateway=yes,model=scripted,base_url={address}",
            OPENAI_API_KEY=KEY,
        )
    trial = trials["harbor-Asker"]
    said = (folder / trial.trial / "agent" / "harbor.txt").read_text()
    assert "I will write the line." in said and "OPENAI_API_KEY=no-key-needed" in said
    assert (trial.tokens_in, trial.tokens_cached, trial.tokens_out, trial.cost_usd) == (2100, 50, 110, 0.001)
    assert [str(issue.code) for issue in trial.issues] == []
    assert files_with(folder, KEY) == []
