"""Real containers: Ctrl-C, a killed engine, resume, kept environments, sweep."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest

from engine.owner import read_owner
from engine.readers.reader import Liveness
from engine.readers.run_folder import RunFolderReader
from engine.state import RunState
from tests.end_to_end.deck import (
    BOUND_SEC,
    everything_labelled,
    interrupt,
    labelled,
    only_run,
    started,
    state_of,
    trial_of,
    trialdeck,
    until,
)
from tests.end_to_end.small_tasks import small_task

pytestmark = pytest.mark.docker


def two_tasks(place: Path) -> None:
    """One is done at once; the other's agent waits for a file that the test makes."""
    small_task(place / "tasks" / "quick")
    small_task(place / "tasks" / "slow", solve='[ -z "$SLOW_PASSES" ] && sleep 600\ntrue\n')
    (place / "tasks" / "slow" / "task.toml").write_text('[solution.env]\nSLOW_PASSES = "${SLOW_PASSES:-}"\n')


def run_until_slow_works(place: Path) -> tuple[subprocess.Popen[str], Path]:
    two_tasks(place)
    process = started("run", "tasks", "--agent", "oracle", "--plain", "--allow-host-env", "SLOW_PASSES", cwd=place)
    until(lambda: (place / "runs").is_dir() and list((place / "runs").glob("*/events.jsonl")), "the run folder")

    def ready() -> bool:
        state = state_of(only_run(place))
        both = {trial.task: trial for trial in state.trials.values()}
        return len(both) == 2 and both["quick"].state == "passed" and both["slow"].activity == "solve.sh"

    until(ready, "quick done and slow's agent at work")
    return process, only_run(place)


def resumed(place: Path, run: Path) -> RunState:
    answer = trialdeck("resume", str(run), "--plain", cwd=place, env={"SLOW_PASSES": "1"})
    assert answer.returncode == 0, answer.stdout + answer.stderr
    return state_of(run)


def check_resumed(state: RunState, run: Path, quick_result: bytes) -> None:
    assert {trial.state for trial in state.trials.values()} == {"passed"}
    assert (run / "quick__oracle__1" / "result.json").read_bytes() == quick_result
    assert (run / "slow__oracle__1" / "interrupted-1" / "trial.log").is_file()
    assert trial_of(state, "slow").run_number == 2 and trial_of(state, "quick").run_number == 1
    assert state.done == 2
    assert everything_labelled(run) == {}


def test_ctrl_c_once_cancels_cleans_up_and_exits_130_and_resume_goes_on(tmp_path: Path) -> None:
    process, run = run_until_slow_works(tmp_path)
    interrupt(process)
    output, _ = process.communicate(timeout=BOUND_SEC)
    assert process.returncode == 130, output
    state = state_of(run)
    assert trial_of(state, "slow").state == "cancelled"
    assert everything_labelled(run) == {}
    quick = (run / "quick__oracle__1" / "result.json").read_bytes()
    check_resumed(resumed(tmp_path, run), run, quick)


def test_ctrl_c_twice_leaves_nothing_that_a_sweep_cannot_find(tmp_path: Path) -> None:
    process, run = run_until_slow_works(tmp_path)
    interrupt(process)
    interrupt(process)
    output, _ = process.communicate(timeout=BOUND_SEC)
    assert process.returncode == 130, output
    trialdeck("sweep", cwd=tmp_path)
    assert everything_labelled(run) == {}
    everything = subprocess.run(
        ["docker", "ps", "-a", "--format", "{{.Names}}"], capture_output=True, text=True, check=True
    )
    assert not [name for name in everything.stdout.split() if "slow" in name and run.name[-6:] in name]


def test_case_76_a_killed_engine_is_shown_as_stale_and_its_run_goes_on(tmp_path: Path) -> None:
    process, run = run_until_slow_works(tmp_path)
    owner = read_owner(run)
    assert owner is not None
    os.kill(owner.pid, signal.SIGKILL)
    process.communicate(timeout=BOUND_SEC)
    reader = RunFolderReader(run)
    while reader.poll():
        pass
    assert reader.liveness() is Liveness.STALE
    reader.close()
    assert labelled("container", run), "the dead engine's container should still be there"
    verdict = state_of(run).trials["quick__oracle__1"]
    state = resumed(tmp_path, run)
    assert state.trials["quick__oracle__1"] == verdict
    check_resumed(state, run, (run / "quick__oracle__1" / "result.json").read_bytes())


def test_a_run_survives_the_end_of_its_terminal(tmp_path: Path) -> None:
    process, run = run_until_slow_works(tmp_path)
    process.send_signal(signal.SIGHUP)
    process.communicate(timeout=BOUND_SEC)
    reader = RunFolderReader(run)
    reader.poll()
    assert reader.liveness() is Liveness.LIVE
    reader.close()
    cancelled = trialdeck("cancel", str(run), cwd=tmp_path)
    assert cancelled.returncode == 0, cancelled.stderr
    until(lambda: state_of(run).finished is not None, "the cancelled run's end")
    assert state_of(run).finished is not None
    until(lambda: everything_labelled(run) == {}, "clean-up")


def test_case_58_a_task_that_changed_is_refused_by_resume(tmp_path: Path) -> None:
    process, run = run_until_slow_works(tmp_path)
    interrupt(process)
    process.communicate(timeout=BOUND_SEC)
    (tmp_path / "tasks" / "slow" / "tests" / "test.sh").write_text("echo 0 > /logs/verifier/reward.txt\n")
    answer = trialdeck("resume", str(run), "--plain", cwd=tmp_path)
    assert answer.returncode == 2
    assert "slow" in answer.stderr and "changed" in answer.stderr


def test_a_kept_environment_stays_for_a_shell_until_it_is_swept(tmp_path: Path) -> None:
    small_task(
        tmp_path / "wrong",
        toml='artifacts = ["/app/answer"]\n[verifier]\nenvironment_mode = "separate"\n',
        solve="echo wrong > /app/answer\n",
        test="echo 0 > /logs/verifier/reward.txt\n",
    )
    answer = trialdeck("run", "wrong", "--agent", "oracle", "--plain", "--keep", "failed", cwd=tmp_path)
    run = only_run(tmp_path)
    assert trial_of(state_of(run), "wrong").kept, answer.stdout
    (container,) = labelled("container", run)
    shell = subprocess.run(
        ["docker", "exec", container, "cat", "/app/answer"], capture_output=True, text=True, check=False
    )
    assert shell.stdout == "wrong\n", shell.stderr
    trialdeck("sweep", cwd=tmp_path)
    assert labelled("container", run) == [container]
    trialdeck("sweep", "--include-kept", cwd=tmp_path)
    assert everything_labelled(run) == {}
    swept = trial_of(state_of(run), "wrong")
    assert (swept.kept, swept.kept_gone) == (False, "swept")
