"""What `trialdeck run` is given and can't work with."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from console.begin_run import say_refusals
from console.commands.run import _names
from console.errors import Unusable
from console.model_options import defaults_of, refuse_key
from console.open_app import farewell, wait_for_begin
from engine.agents.agent import AgentConfigInvalid
from engine.agents.arms import name_arms
from engine.events import Endpoint, EngineStarted, RunFinished, encode
from engine.issues import Code, Issue, Severity
from engine.layout import ENGINE_LOG, EVENTS
from engine.runs.plan import Plan, PlannedTask
from tests.engine.agents.model_agent import register
from tests.engine.tasks.task_folders import make_task


def test_a_variable_is_allowed_by_its_name_alone_and_no_value_is_repeated() -> None:
    assert _names(["A", "B", "A"]) == ("A", "B")
    with pytest.raises(Unusable) as refused:
        _names(["TOKEN=s3cret"])
    assert "TOKEN" in str(refused.value)
    assert "s3cret" not in str(refused.value)


def test_what_stays_on_the_terminal_says_how_to_come_back() -> None:
    assert "`trialdeck watch 'my runs/x'` attaches again" in farewell(Path("my runs/x"), over=False)
    assert "`trialdeck show runs/x`" in farewell(Path("runs/x"), over=True)
    gone = farewell(Path("my runs/x"), over=False, cut_off=True)
    assert "its engine is gone: `trialdeck resume 'my runs/x'` goes on" in gone and "cancel" not in gone
    assert "was interrupted: `trialdeck resume x` goes on" in farewell(Path("x"), over=True, cut_off=True)


def test_a_run_that_goes_on_is_shown_once_its_new_engine_has_begun(tmp_path: Path) -> None:
    (tmp_path / ENGINE_LOG).write_text("trialdeck: no room left\n")
    earlier = [EngineStarted(pid=0, host="h", session=1), RunFinished(exit_code=130, seconds=1.0)]
    (tmp_path / EVENTS).write_bytes(b"".join(encode(event) for event in earlier))
    with subprocess.Popen([sys.executable, "-c", "pass"]) as engine:
        with pytest.raises(Unusable, match="the run did not start: no room left"):
            wait_for_begin(tmp_path, engine)
        with (tmp_path / EVENTS).open("ab") as events:
            events.write(encode(EngineStarted(pid=engine.pid, host="h", session=2)))
        wait_for_begin(tmp_path, engine)


def test_an_engine_that_takes_long_to_begin_is_not_said_to_have_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As it does where it goes on with a very large run: it is at work all the same."""
    monkeypatch.setattr("console.open_app.START_SEC", 0.0)
    with (
        subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as engine,
        pytest.raises(Unusable, match=f"process {engine.pid} is at it: `trialdeck watch {tmp_path}` attaches"),
    ):
        wait_for_begin(tmp_path, engine)


def test_a_daemon_that_is_no_address_leaves_no_run_folder_and_exits_2(tmp_path: Path) -> None:
    task = make_task(tmp_path / "some-task", "", {})
    command = [str(Path(sys.executable).with_name("trialdeck")), "run", str(task), "--agent", "oracle"]
    done = subprocess.run(
        [*command, "--runs-dir", str(tmp_path / "runs")],
        env={"DOCKER_HOST": "garbage", "PATH": "/usr/bin:/bin", "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    (said,) = done.stderr.splitlines()
    assert said.startswith("trialdeck: DOCKER_HOST is 'garbage': expected unix:///path/of/docker.sock, tcp://host:port")
    assert not (tmp_path / "runs").exists()


def test_what_a_task_says_before_a_run_begins_is_no_terminal_code(capsys: pytest.CaptureFixture[str]) -> None:
    issue = Issue(
        Severity.FATAL, None, Code.TASK_REFUSED, "wants \x1b]52;c;AAAA\x07\x1b[2Jthis\ntrialdeck: all is well"
    )
    with pytest.raises(Unusable, match="every task is refused"):
        say_refusals(Plan(tasks=(PlannedTask(id="t\x9b2J", task=None, refused=(issue,)),), trials=()))
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and "wants this" in said
    assert not {"\x1b", "\x9b", "\x07"} & set(said)


def test_a_model_is_the_default_of_the_arms_that_call_one_and_don_t_say_their_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    register(monkeypatch)
    typed: dict[str, str | None] = {
        "model": "big",
        "model_base_url": "http://h/v1",
        "model_key_env": "K",
        "effort": "low",
    }
    specs = ["tester", "tester:model=small,effort=high", "tester:key_file=f", "oracle"]
    first, own, keyed, oracle = name_arms(specs, [], defaults_of({**typed, "agent": None}))
    assert (first.model, first.effort, first.endpoint) == ("big", "low", Endpoint(base_url="http://h/v1", key_env="K"))
    assert (own.model, own.effort, own.endpoint.base_url) == ("small", "high", "http://h/v1")
    assert (keyed.endpoint.key_env, keyed.endpoint.key_file) == ("", str(Path.cwd() / "f"))
    assert (oracle.model, oracle.endpoint) == ("", Endpoint())
    with pytest.raises(AgentConfigInvalid, match="no arm calls a model"):
        name_arms(["oracle"], [], defaults_of(typed))


def test_a_key_is_not_taken_on_the_command_line_and_not_repeated() -> None:
    with pytest.raises(Unusable, match="--model-key-env NAME") as refused:
        refuse_key("sk-marked")
    assert "marked" not in str(refused.value)
    refuse_key(None)
    with pytest.raises(Unusable, match="give one of them"):
        defaults_of({"model_key_env": "A", "model_key_file": "b"})
