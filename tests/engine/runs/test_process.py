"""The engine's own process: exit codes, what it says when it can't begin, and one engine a run."""

from __future__ import annotations

import errno
import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import anyio.to_thread
import msgspec
import pytest

from engine import events as ev
from engine.issues import Code, Severity
from engine.layout import ENGINE, EVENTS, RESULT
from engine.owner import read_owner
from engine.readers.reader import Liveness
from engine.readers.run_folder import RunFolderReader
from engine.runs import process
from engine.runs.card import write_card
from engine.runs.event_log import EventLog
from engine.runs.start import amended
from engine.state import RunState
from tests.engine.fake_environment import Command, FakeProvider, broken
from tests.engine.runs.runs import COMMAND, REWARD, RunRig
from tests.engine.trial.trials import writes


class Engine:
    """A run folder with its card, and engine processes on it (in this process, one after another)."""

    def __init__(self, place: Path, tasks: tuple[str, ...] = ("a", "b"), toml: str = "") -> None:
        self.rig = RunRig(place, tasks, arms=COMMAND, toml=toml, concurrency=2)
        self.rig.log.close()
        self.folder = self.rig.folder
        for name in (EVENTS, "host.jsonl"):
            (self.folder / name).unlink()
        write_card(self.folder, self.rig.card)

    @property
    def provider(self) -> FakeProvider:
        return self.rig.provider

    def trial(self, task: str) -> str:
        return next(planned.trial for planned in self.rig.plan.trials if planned.task.id == task)

    def run(self, *, resume: bool = False) -> int:
        """`resume`: as another process, so that the one before is gone."""
        owner = self.folder / ENGINE
        if resume and owner.exists():
            owner.write_text(json.dumps({**json.loads(owner.read_text()), "started": 1.0}))
        arguments = [str(self.folder), *(["--resume"] if resume else [])]
        return process.main(arguments, self.provider.open)

    @property
    def state(self) -> RunState:
        reader, state = RunFolderReader(self.folder), RunState()
        while events := reader.poll():
            state.apply_all(events)
        reader.close()
        return state


@pytest.fixture(autouse=True)
def own_places(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path_factory.mktemp("x")))
    monkeypatch.chdir(tmp_path_factory.mktemp("cwd"))


def test_everything_scored_is_0_and_the_folder_tells_the_whole_story(tmp_path: Path) -> None:
    engine = Engine(tmp_path)
    engine.provider.when("/tests/test.sh", does=writes(REWARD))
    assert engine.run() == 0
    state = engine.state
    assert (state.count("passed"), state.sessions, state.engine_running) == (2, 1, False)
    assert state.plan is not None and state.plan.card_digest == engine.rig.card.digest
    assert state.finished is not None and state.finished.exit_code == 0
    owner = read_owner(engine.folder)
    assert owner is not None and owner.pid == os.getpid()
    assert not Path(owner.socket).exists()
    assert engine.provider.calls[-1] == "provider: remove_images run"


def test_trials_without_a_score_are_3(tmp_path: Path) -> None:
    engine = Engine(tmp_path)
    engine.provider.when("/tests/test.sh", does=writes(REWARD), times=1)
    assert engine.run() == 3


def test_an_interrupted_run_is_130_and_a_resume_finishes_it(tmp_path: Path) -> None:
    engine = Engine(tmp_path)

    async def work(command: Command) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        await anyio.sleep_forever()

    engine.provider.when("work", does=work, times=1)
    engine.provider.when("work", forever=True, times=1)
    assert engine.run() == 130
    assert engine.provider.up() == []
    assert engine.state.count("cancelled") == 2
    engine.provider.replies.clear()
    engine.provider.when("/tests/test.sh", does=writes(REWARD))
    assert engine.run(resume=True) == 0
    state = engine.state
    assert (state.count("passed"), state.sessions) == (2, 2)
    assert "provider: remove_run run" in engine.provider.calls
    for trial in state.trials.values():
        assert trial.run_number == 2
        assert (engine.folder / trial.trial / "interrupted-1" / "trial.log").is_file()
        assert (
            json.loads((engine.folder / trial.trial / RESULT).read_text())["verifier_result"]["rewards"]["reward"] == 1
        )


@pytest.mark.parametrize("grouped", [False, True])
def test_a_daemon_that_doesnt_answer_is_2_with_one_clear_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], grouped: bool
) -> None:
    engine = Engine(tmp_path)
    failure: Exception = broken(Code.DAEMON_UNREACHABLE, "the Docker daemon can't be reached")
    engine.provider.faults["provider: open"] = ExceptionGroup("tasks", [failure]) if grouped else failure
    assert engine.run() == 2
    assert capsys.readouterr().err == "trialdeck: the Docker daemon can't be reached\n"
    state = engine.state
    assert state.finished is not None and state.finished.exit_code == 2
    assert [issue.code for issue in state.run_issues] == [Code.DAEMON_UNREACHABLE]
    assert state.count("queued") == 2


def test_nothing_but_refused_tasks_is_2_and_each_says_why(tmp_path: Path) -> None:
    engine = Engine(tmp_path, toml="[environment]\ngpus = 1\n")
    assert engine.run() == 2
    for trial in engine.state.trials.values():
        assert trial.state == "refused" and "GPU" in trial.issues[0].message


def test_a_bug_of_ours_is_said_and_the_run_can_go_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    engine = Engine(tmp_path)
    engine.provider.faults["provider: open"] = RuntimeError("oops")
    assert engine.run() == 1
    assert "RuntimeError: oops" in capsys.readouterr().err
    state = engine.state
    assert state.finished is None and not state.engine_running
    assert state.run_issues[0].severity is Severity.FATAL


def test_images_that_stay_change_no_exit_code_case_31(tmp_path: Path) -> None:
    engine = Engine(tmp_path)
    engine.provider.when("/tests/test.sh", does=writes(REWARD))
    engine.provider.faults["provider: remove_images"] = broken(Code.DAEMON_UNREACHABLE, "no daemon")
    assert engine.run() == 0
    state = engine.state
    assert state.finished is not None and state.finished.exit_code == 0
    assert [issue.code for issue in state.run_issues] == [Code.LEFTOVER]
    assert "no daemon" in state.run_issues[0].message


def test_a_run_that_is_going_is_not_begun_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    engine = Engine(tmp_path)
    codes: list[int] = []

    async def work(command: Command) -> None:
        codes.append(await anyio.to_thread.run_sync(_another, engine.folder))

    engine.provider.when("work", does=work)
    engine.provider.when("/tests/test.sh", does=writes(REWARD))
    assert engine.run() == 0
    assert codes == [2, 2]


def _another(folder: Path) -> int:
    """A second engine, as a process of its own."""
    command = [sys.executable, "-m", "engine.runs.process", str(folder), "--resume"]
    done = subprocess.run(command, cwd=Path(__file__).parents[3], capture_output=True, text=True, check=False)
    assert "already runs this" in done.stderr, done.stderr
    return done.returncode


def test_a_log_that_another_process_holds_is_2_also_without_its_owner_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    engine = Engine(tmp_path)
    log = EventLog(engine.folder)
    assert engine.run() == 2
    assert "another process already runs this" in capsys.readouterr().err
    log.close()


def test_a_card_that_was_edited_and_a_folder_that_is_no_run_are_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    engine = Engine(tmp_path)
    card = engine.folder / "card.toml"
    card.write_text(card.read_text().replace("seed = ", "seed = 1"))
    text = card.read_text()
    card.write_text(text.replace('engine_version = "0"', 'engine_version = "9"'))
    assert engine.run() == 2
    assert "frozen part was changed" in capsys.readouterr().err
    assert process.main([str(tmp_path / "nothing")], engine.provider.open) == 2
    assert "card.toml" in capsys.readouterr().err
    assert engine.provider.calls == []


def test_a_disk_that_is_full_from_the_start_is_2_and_no_traceback_case_11(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, value: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    engine = Engine(tmp_path)
    monkeypatch.setattr(process, "write_json", full)
    assert engine.run() == 2
    said = capsys.readouterr().err
    assert said == f"trialdeck: {engine.folder / ENGINE}: No space left on device\n"


def test_an_engine_that_was_killed_leaves_a_run_that_is_stale_and_goes_on_cases_76_and_80(tmp_path: Path) -> None:
    engine = Engine(tmp_path)
    engine.provider.when("/tests/test.sh", does=writes(REWARD))
    assert engine.run() == 0
    whole = (engine.folder / EVENTS).read_bytes().splitlines(keepends=True)
    ended = next(number for number, line in enumerate(whole) if b'"trial_finished"' in line)
    (engine.folder / EVENTS).write_bytes(b"".join(whole[:ended]) + whole[ended][:20])
    owner = json.loads((engine.folder / ENGINE).read_text())
    (engine.folder / ENGINE).write_text(json.dumps({**owner, "started": 1.0}))
    reader = RunFolderReader(engine.folder)
    reader.poll()
    assert reader.liveness() is Liveness.STALE
    reader.close()
    assert engine.run(resume=True) == 0
    state = engine.state
    assert state.count("passed") == 2
    assert any("cut by a crash" in issue.message for issue in state.run_issues)


def test_a_task_that_was_refused_for_a_missing_variable_runs_once_it_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = Engine(tmp_path, toml='[environment]\nenv = {A = "${TRIALDECK_TEST_TOKEN}"}\n')
    write_card(engine.folder, msgspec.structs.replace(engine.rig.card, allowed_host_env=("TRIALDECK_TEST_TOKEN",)))
    engine.provider.when("/tests/test.sh", does=writes(REWARD))
    assert engine.run() == 2
    assert engine.state.count("refused") == 2
    monkeypatch.setenv("TRIALDECK_TEST_TOKEN", "x")
    assert engine.run(resume=True) == 0
    monkeypatch.delenv("TRIALDECK_TEST_TOKEN")
    assert engine.run(resume=True) == 0  # verdicts stay


def test_a_variable_that_is_gone_refuses_what_had_not_run_yet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Engine(tmp_path, toml='[environment]\nenv = {A = "${TRIALDECK_TEST_TOKEN}"}\n')
    write_card(engine.folder, msgspec.structs.replace(engine.rig.card, allowed_host_env=("TRIALDECK_TEST_TOKEN",)))
    monkeypatch.setenv("TRIALDECK_TEST_TOKEN", "x")
    engine.provider.faults["provider: open"] = broken(Code.DAEMON_UNREACHABLE)
    assert engine.run() == 2
    assert engine.state.count("queued") == 2
    engine.provider.faults.clear()
    monkeypatch.delenv("TRIALDECK_TEST_TOKEN")
    assert engine.run(resume=True) == 2
    assert engine.state.count("refused") == 2
    assert all("TRIALDECK_TEST_TOKEN" in trial.issues[0].message for trial in engine.state.trials.values())


def test_only_the_trials_of_a_task_that_changed_are_left_and_the_rest_goes_on_case_58(tmp_path: Path) -> None:
    engine = Engine(tmp_path, ("a", "b", "c"))
    engine.provider.when("/tests/test.sh", does=lambda command: os.kill(os.getpid(), signal.SIGINT))
    assert engine.run() == 130
    engine.provider.replies.clear()
    engine.provider.when("/tests/test.sh", does=writes(REWARD))
    tests = tmp_path / "tasks" / "b" / "tests" / "test.sh"
    before = tests.read_text()
    tests.write_text("echo 0\n")
    old = engine.state.trials[engine.trial("b")]
    assert engine.run(resume=True) == 3
    state = engine.state
    assert {trial.task: trial.state for trial in state.trials.values()} == {
        "a": "passed",
        "b": old.state if old.state == "cancelled" else "refused",
        "c": "passed",
    }
    (said,) = [issue for issue in state.run_issues if issue.code is Code.TASK_CHANGED]
    assert said.message.startswith("b: its files changed since the run began (")
    assert said.message.endswith("; its trials are left as they are")
    assert engine.run(resume=True) == 3
    assert len([issue for issue in engine.state.run_issues if issue.code is Code.TASK_CHANGED]) == 1
    tests.write_text(before)
    assert engine.run(resume=True) == 0
    assert engine.state.count("passed") == 3


def test_a_verdict_on_what_the_card_pins_stays_when_its_task_changes_case_58(tmp_path: Path) -> None:
    engine = Engine(tmp_path)
    engine.provider.when("/tests/test.sh", does=writes(REWARD), times=1)
    assert engine.run() == 3
    (passed,) = [trial for trial in engine.state.trials.values() if trial.state == "passed"]
    (tmp_path / "tasks" / passed.task / "instruction.md").write_text("Something else.\n")
    engine.provider.when("/tests/test.sh", does=writes(REWARD))
    commands = len(engine.provider.commands)
    assert engine.run(resume=True) == 0
    assert engine.state.count("passed") == 2
    assert not any(command.environment.spec.trial == passed.trial for command in engine.provider.commands[commands:])


def test_a_trial_of_a_changed_task_that_was_cut_off_keeps_its_record(tmp_path: Path) -> None:
    engine = Engine(tmp_path)
    engine.provider.when("/tests/test.sh", does=writes(REWARD))
    log = EventLog(engine.folder)
    log.append(ev.EngineStarted(pid=1, host="h", session=1))
    for task in ("a", "b"):
        name = engine.trial(task)
        log.append(ev.TrialPlanned(trial=name, task=task, arm=COMMAND[0].name, attempt=1, position=1))
        log.append(ev.TrialStarted(trial=name))
        (engine.folder / name).mkdir()
        (engine.folder / name / "trial.log").write_text("it began")
    log.close()
    (tmp_path / "tasks" / "b" / "instruction.md").write_text("Something else.\n")
    assert engine.run(resume=True) == 3
    trial = engine.state.trials[engine.trial("b")]
    assert (trial.state, len(trial.earlier)) == ("refused", 1)
    assert (engine.folder / trial.trial / "interrupted-1" / "trial.log").read_text() == "it began"
    assert engine.state.trials[engine.trial("a")].state == "passed"


def test_too_few_descriptors_lower_the_concurrency_and_say_so_case_73(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = Engine(tmp_path)
    engine.provider.when("/tests/test.sh", does=writes(REWARD))
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (100, 100))
    assert engine.run() == 0
    state = engine.state
    assert state.concurrency == 1
    assert "concurrency lowered from 2 to 1" in state.run_issues[0].message


def test_leftovers_of_the_engine_before_are_named(tmp_path: Path) -> None:
    engine = Engine(tmp_path)
    engine.provider.when("/tests/test.sh", does=writes(REWARD))

    @asynccontextmanager
    async def opened() -> AsyncIterator[FakeProvider]:
        async def remove_run(run: str) -> list[str]:
            return ["network x: still in use"]

        engine.provider.remove_run = remove_run  # type: ignore[method-assign]
        yield engine.provider

    assert process.main([str(engine.folder), "--resume"], opened) == 0
    assert "network x: still in use" in engine.state.run_issues[0].message


def test_a_plan_is_announced_once_however_often_it_is_resumed(tmp_path: Path) -> None:
    engine = Engine(tmp_path)
    for resume in (False, True, True):
        engine.run(resume=resume)
    lines = (engine.folder / EVENTS).read_bytes().splitlines()
    kinds = [type(ev.decode(line)) for line in lines]
    assert kinds.count(ev.RunPlanned) == 1 and kinds.count(ev.TrialPlanned) == 2
    assert kinds.count(ev.EngineStarted) == kinds.count(ev.EngineStopped) == 3


def test_a_run_that_is_resumed_with_other_limits_says_them(tmp_path: Path) -> None:
    engine = Engine(tmp_path)
    engine.run()
    assert (engine.state.concurrency, engine.state.plan and engine.state.plan.max_cost_usd) == (2, None)
    write_card(engine.folder, amended(engine.rig.card, concurrency=5, max_cost_usd=1.5))
    engine.run(resume=True)
    assert (engine.state.concurrency, engine.state.plan and engine.state.plan.max_cost_usd) == (5, 1.5)
