"""Arms that call a model, over the installed command: refused, out of reach, reached, and their key nowhere."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest

from engine.runs.card import read_card
from tests.end_to_end.deck import codes, only_run, state_of, trial_of, trialdeck
from tests.end_to_end.small_tasks import small_task

pytestmark = pytest.mark.docker

KEY = "sk-marked-fcde2b2edba56bf408601fb721fe9b5c"
NOBODY_THERE = "http://127.0.0.1:9/v1"
SSE = '[[environment.mcp_servers]]\nname = "db"\ntransport = "sse"\nurl = "http://db:1/sse"\n'
TEST = '[ "$(cat /app/answer)" = 42 ] && echo 1 > /logs/verifier/reward.txt || echo 0 > /logs/verifier/reward.txt\n'
SCRIPT = """
[[turns]]
do = "fail"
status = 503
headers = { retry-after = "0" }
[[turns]]
do = "run"
command = "echo 42 > /app/answer"
tokens = { tokens_in = 100, tokens_out = 10, cached = 60 }
cost_usd = 0.25
[[turns]]
do = "done"
cost_usd = 0.5
"""


@contextmanager
def model_server(folder: Path) -> Iterator[str]:
    """A scripted one in a process of its own; its address for OpenAI's protocols."""
    script = folder / "script.toml"
    script.write_text(SCRIPT)
    command = [sys.executable, "-m", "engine.models.scripted", "--script", str(script), "--idle", "120"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            yield str(msgspec.json.decode(server.stdout.readline())["openai-chat"])
        finally:
            server.terminate()


@pytest.mark.skipif(
    shutil.which("tmux") is None, reason="tmux isn't here: terminus2's capsule is made of this machine's"
)
def test_an_arm_is_refused_out_of_reach_and_at_last_at_work(tmp_path: Path) -> None:
    """Cases 65, 79 and 83; the key is in no file of the run."""
    small_task(tmp_path / "tasks" / "plain", solve="echo 42 > /app/answer\n", test=TEST)
    small_task(tmp_path / "tasks" / "served", toml=SSE, solve="echo 42 > /app/answer\n", test=TEST)
    env = {"MARKED_KEY": KEY, "no_proxy": "127.0.0.1", "NO_PROXY": "127.0.0.1"}
    arms = ("--agent", "terminus2", "--agent", "oracle", "--model", "m", "--model-key-env", "MARKED_KEY")

    dry = trialdeck("run", "tasks", *arms, "--model-base-url", NOBODY_THERE, "--dry-run", cwd=tmp_path, env=env)
    assert dry.returncode == 0, dry.stderr
    refused = "task served needs an SSE MCP server (db); agent terminus2 takes no MCP server"
    assert refused in dry.stdout and "model m · at http://127.0.0.1:9/v1 · key from MARKED_KEY" in dry.stdout

    first = trialdeck("run", "tasks", *arms, "--model-base-url", NOBODY_THERE, "--plain", cwd=tmp_path, env=env)
    assert first.returncode == 3, first.stdout + first.stderr
    run = only_run(tmp_path)
    state = state_of(run)
    assert trial_of(state, "served", "terminus2").state == "refused"
    assert codes(trial_of(state, "served", "terminus2")) == {"agent_incompatible"}
    assert codes(trial_of(state, "plain", "terminus2")) == {"model_unreachable"}
    assert {trial_of(state, task, "oracle").state for task in ("plain", "served")} == {"passed"}
    assert "can't be reached" in first.stdout and refused in first.stderr
    digest = read_card(run).digest

    with model_server(tmp_path) as address:
        again = trialdeck("resume", str(run), "--model-base-url", address, "--plain", cwd=tmp_path, env=env)
    assert again.returncode == 3, again.stdout + again.stderr  # one trial stays refused
    card, state = read_card(run), state_of(run)
    assert card.digest == digest
    assert [change.key for change in card.amendments] == ["arms.terminus2.base_url"]
    trial = trial_of(state, "plain", "terminus2")
    assert (trial.state, trial.model_failures, trial.cost_source) == ("passed", 1, "provider"), codes(trial)
    assert trial.model_calls and trial.cost_usd == 0.25 + 0.5 * (trial.model_calls - 1)
    assert trial_of(state, "plain", "oracle").run_number == 1
    said = (dry, first, again)
    assert not any(KEY in text for done in said for text in (done.stdout, done.stderr))
    assert [str(path) for path in run.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()] == []


def test_without_its_key_an_arm_starts_nothing_and_the_others_run(tmp_path: Path) -> None:
    small_task(tmp_path / "tasks" / "plain")
    arms = ("--agent", "terminus2", "--agent", "nop", "--model", "m", "--model-key-env", "NOT_SET_ANYWHERE")
    done = trialdeck("run", "tasks", *arms, "--plain", cwd=tmp_path)
    assert done.returncode == 3
    assert "arm terminus2 is not run: key_env: NOT_SET_ANYWHERE is not set" in done.stderr
    state = state_of(only_run(tmp_path))
    assert (trial_of(state, "plain", "terminus2").state, trial_of(state, "plain", "nop").state) == ("refused", "passed")
