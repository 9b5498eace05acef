"""Replaying a recorded session: its commands in order, in what feels like one shell."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from engine.agents.agent import AgentConfigInvalid, AgentEnd
from engine.agents.registry import make_agent
from engine.agents.replay import STATE, wrapper
from engine.events import ArmInfo
from engine.issues import Code, TrialFailed
from tests.engine.agents.sessions import Session

STEPS = '[[steps]]\nname = "one"\n[[steps]]\nname = "two"\n'
STEP_FILES: dict[str, str | bytes | None] = {
    "steps/one/instruction.md": "1",
    "steps/two/instruction.md": "2",
}


def trajectory(*commands: str, **metrics: Any) -> str:
    steps = [
        {
            "step_id": number,
            "source": "agent",
            "message": f"step {number}",
            "tool_calls": [{"tool_call_id": "c", "function_name": "bash", "arguments": {"command": command}}],
            **({"metrics": metrics} if metrics else {}),
        }
        for number, command in enumerate(commands, 1)
    ]
    return json.dumps({"schema_version": "ATIF-v1.6", "agent": {"name": "a", "version": "1"}, "steps": steps})


def arm(**parameters: str) -> ArmInfo:
    return ArmInfo(name="again", agent="replay", parameters=parameters)


async def replayed(session: Session) -> AgentEnd:
    agent = make_agent(session.given.arm)
    await agent.set_up(session.given)
    return await agent.run(session.given)


class Shell:
    """The wrapper in a real Bash: one process for each command, as in a container."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.script = wrapper(str(folder / "it's the state"))

    def run(self, command: str) -> tuple[int, str]:
        """Exit code and output; the output goes to a file, so that only the shell itself is waited for."""
        path = self.folder / "command.sh"
        path.write_text(command + "\n")
        with (self.folder / "out").open("wb") as out:
            done = subprocess.run(
                ["bash", "-c", self.script, "bash", str(path)],
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                timeout=120,
                check=False,
            )
        shown = f"$ {command}\n"
        output = (self.folder / "out").read_text()
        assert output.startswith(shown)
        return done.returncode, output.removeprefix(shown).strip()


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


def test_folder_and_exported_variables_live_on(shell: Shell) -> None:
    (shell.folder / "a b").mkdir()
    assert shell.run("cd 'a b'; export WORD='two words'; local_one=1")[0] == 0
    assert shell.run('echo "$(basename "$PWD")/$WORD/${local_one-unset}"') == (0, "a b/two words/unset")


def test_an_exit_inside_is_that_commands_exit_code_and_nothing_is_lost(shell: Shell) -> None:
    assert shell.run("export KEPT=yes; cd /; exit 3") == (3, "")
    assert shell.run('echo "$PWD $KEPT"') == (0, "/ yes")


def test_a_failing_command_and_a_syntax_error_end_like_in_a_shell(shell: Shell) -> None:
    assert shell.run("false")[0] == 1
    assert shell.run("set -e; false; echo not reached") == (1, "")
    code, output = shell.run("if then")
    assert code != 0 and "syntax error" in output
    assert shell.run("echo still here") == (0, "still here")


def test_a_command_may_use_any_variables_name(shell: Shell) -> None:
    assert shell.run("state=/nowhere; place=/nowhere; code=9; path=x; cd /usr") == (0, "")
    assert shell.run("pwd") == (0, "/usr")


def test_a_background_process_does_not_hold_the_command(shell: Shell) -> None:
    code, output = shell.run("sleep 600 & echo $!")
    assert code == 0
    subprocess.run(["kill", output], check=True)  # it lived on, as a server that was started would


def test_a_folder_that_is_gone_is_not_the_end(shell: Shell) -> None:
    shell.run("mkdir gone; cd gone; rmdir ../gone")
    assert shell.run("echo here")[1].endswith("here")


def test_a_here_document_arrives_byte_for_byte(shell: Shell) -> None:
    shell.run("cat > file <<'EOF'\n$HOME `id` \\ \"q\"\nEOF")
    assert (shell.folder / "file").read_text() == '$HOME `id` \\ "q"\n'


@pytest.mark.anyio
async def test_commands_run_in_order_with_their_costs(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    path.write_text(trajectory("first", "second", prompt_tokens=5, cost_usd=0.5))
    session = Session(tmp_path, arm(sessions=str(path)))
    session.provider.when("-2-1.sh", 4)
    end = await replayed(session)
    assert end.exit_code == 4
    files = [f"{STATE}-1-1.sh", f"{STATE}-2-1.sh"]
    assert [session.environment.read(name) for name in files] == [b"first\n", b"second\n"]
    assert [command.words[-1] for command in session.provider.commands] == files
    assert [(step.what, step.tokens_in, step.cost_usd) for step in session.steps] == [
        ("step 1", 5, 0.5),
        ("step 2", 5, 0.5),
    ]
    assert (session.folder / "trajectory.json").read_bytes() == path.read_bytes()


@pytest.mark.anyio
async def test_nothing_more_is_replayed_into_a_dead_environment_case_25(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    path.write_text(trajectory("ok", "kill -9 1", "never"))
    session = Session(tmp_path, arm(sessions=str(path)))
    session.provider.when("-2-1.sh", 137, kills_environment=True)
    end = await replayed(session)
    assert end.exit_code == 137 and "dead" in end.note
    assert len(session.provider.commands) == 2


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("attempt", "step", "expected"),
    [(1, "", "task"), (2, "", "task.2"), (3, "", "task"), (1, "two", "task.two"), (2, "two", "task.2.two")],
)
async def test_a_session_is_found_by_task_attempt_and_step(
    tmp_path: Path, attempt: int, step: str, expected: str
) -> None:
    folder = tmp_path / "sessions"
    folder.mkdir()
    for name in ("task", "task.2", "task.two", "task.2.two", "other"):
        (folder / f"{name}.json").write_text(trajectory(name))
    toml, files = (STEPS, STEP_FILES) if step else ("", {})
    session = Session(tmp_path, arm(sessions=str(folder)), toml=toml, files=files, step=step, attempt=attempt)
    await replayed(session)
    ran = session.provider.commands[0].words[-1]
    assert session.environment.read(ran).decode() == f"{expected}\n"
    assert ran.startswith(f"{STATE}-{step}" if step else STATE)


@pytest.mark.anyio
async def test_trials_of_another_run_are_replayed_attempt_by_attempt(tmp_path: Path) -> None:
    runs = tmp_path / "run"
    for trial, path in (("task__a__1", "/x/task"), ("task__a__2", "/x/task"), ("other__a__1", "/x/other")):
        (runs / trial / "agent").mkdir(parents=True)
        (runs / trial / "config.json").write_text(json.dumps({"task": {"path": path}}))
        (runs / trial / "agent" / "trajectory.json").write_text(trajectory(trial))
    (runs / "events.jsonl").touch()
    for attempt, expected in ((1, "task__a__1"), (2, "task__a__2"), (9, "task__a__2")):
        place = tmp_path / str(attempt)
        place.mkdir()
        session = Session(place, arm(run=str(runs)), attempt=attempt)
        await replayed(session)
        assert session.environment.read(session.provider.commands[0].words[-1]).decode() == f"{expected}\n"


@pytest.mark.anyio
@pytest.mark.parametrize("content", [None, "{broken"])
async def test_a_session_that_is_missing_or_broken_fails_the_set_up(tmp_path: Path, content: str | None) -> None:
    folder = tmp_path / "sessions"
    folder.mkdir()
    if content is not None:
        (folder / "task.json").write_text(content)
    session = Session(tmp_path, arm(sessions=str(folder)))
    with pytest.raises(TrialFailed) as caught:
        await replayed(session)
    assert caught.value.issue.code is Code.AGENT_SETUP_FAILED
    assert str(folder) in caught.value.issue.message


def test_a_replay_without_its_source_is_refused_before_anything_starts() -> None:
    with pytest.raises(AgentConfigInvalid, match="arm again"):
        make_agent(arm())


@pytest.mark.anyio
async def test_one_trial_can_be_replayed_by_every_attempt(tmp_path: Path) -> None:
    folder = tmp_path / "run" / "other__a__1" / "agent"
    folder.mkdir(parents=True)
    (folder / "trajectory.json").write_text(trajectory("echo from that trial"))
    session = Session(tmp_path, arm(trial=str(folder.parent)), attempt=3)
    assert (await replayed(session)).exit_code == 0
    assert [step.what for step in session.steps] == ["step 1"]
