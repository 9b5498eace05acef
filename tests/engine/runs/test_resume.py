"""Going on with a run: what has a verdict stays, everything else runs again, and nothing is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine import events as ev
from engine.issues import Code
from engine.runs.resume import Remaining, remaining, set_aside
from engine.trial_state import CANCELLED, INTERRUPTED, QUEUED
from tests.engine.run_events import finished, issue, started
from tests.engine.runs.runs import REWARD, RunRig
from tests.engine.trial.trials import writes


def left_of(rig: RunRig) -> Remaining:
    return remaining(rig.plan, rig.state)


def ids(left: Remaining) -> tuple[list[str], list[str], list[str]]:
    """Task ids of the three lists."""
    decided, again, fresh = (sorted(one.task.id for one in part) for part in (left.decided, left.again, left.fresh))
    return decided, again, fresh


def trial(task: str) -> str:
    return f"{task}__a__1"


def test_resume_runs_exactly_what_has_no_verdict_case_83(tmp_path: Path) -> None:
    rig = RunRig(tmp_path, ("t1", "t2", "t3", "t4", "t5"))
    for task, reward, more in (
        ("t1", 1.0, {}),
        ("t2", 0.0, {}),
        ("t3", None, {}),
        ("t4", 1.0, {"timed_out": True}),
    ):
        rig.log.append(started(trial(task)))
        rig.log.append(finished(trial(task), reward, **more))
    assert ids(left_of(rig)) == (["t1", "t2", "t4"], ["t3"], ["t5"])
    assert sorted(one.task.id for one in left_of(rig).todo) == ["t3", "t5"]
    rig.log.close()


def test_what_is_left_runs_in_the_order_of_the_plan(tmp_path: Path) -> None:
    rig = RunRig(tmp_path, tuple("abcdef"), attempts=2)
    rig.log.append(started(rig.plan.trials[7].trial))
    todo = left_of(rig).todo
    assert [one.position for one in todo] == sorted(one.position for one in todo)
    assert len(todo) == 12
    rig.log.close()


def test_a_trial_that_was_cut_off_keeps_its_record_and_its_cost_case_68(tmp_path: Path) -> None:
    rig = RunRig(tmp_path)
    name = trial("t")
    rig.log.append(started(name))
    rig.log.append(ev.AgentStepped(trial=name, number=1, cost_usd=0.05))
    folder = rig.folder / name
    (folder / "agent").mkdir(parents=True)
    (folder / "agent" / "log.txt").write_text("first")
    (folder / "config.json").write_text("{}")
    set_aside(rig.log, left_of(rig))
    assert (folder / "interrupted-1" / "agent" / "log.txt").read_text() == "first"
    assert [path.name for path in folder.iterdir()] == ["interrupted-1"]
    state = rig.state.trials[name]
    assert (state.state, state.run_number, state.discarded_cost_usd) == (INTERRUPTED, 1, 0.05)
    assert ids(left_of(rig)) == ([], ["t"], [])
    rig.log.close()


def test_resuming_twice_says_nothing_twice_and_moves_nothing_twice(tmp_path: Path) -> None:
    rig = RunRig(tmp_path)
    rig.log.append(started(trial("t")))
    (rig.folder / trial("t")).mkdir()
    (rig.folder / trial("t") / "trial.log").write_text("x")
    set_aside(rig.log, left_of(rig))
    before = rig.state.events
    set_aside(rig.log, left_of(rig))
    assert rig.state.events == before
    assert [path.name for path in (rig.folder / trial("t")).iterdir()] == ["interrupted-1"]
    rig.log.close()


def test_a_crash_while_moving_is_finished_by_the_next_resume_case_80(tmp_path: Path) -> None:
    rig = RunRig(tmp_path)
    rig.log.append(started(trial("t")))
    folder = rig.folder / trial("t")
    (folder / "interrupted-1").mkdir(parents=True)
    (folder / "interrupted-1" / "config.json").write_text("moved before the crash")
    (folder / "trial.log").write_text("not yet")
    set_aside(rig.log, left_of(rig))
    assert {path.name for path in (folder / "interrupted-1").iterdir()} == {"config.json", "trial.log"}
    rig.log.close()


def test_a_run_of_a_trial_whose_events_were_lost_is_not_mixed_into_the_next(tmp_path: Path) -> None:
    rig = RunRig(tmp_path)
    folder = rig.folder / trial("t")
    (folder / "interrupted-1").mkdir(parents=True)
    (folder / "interrupted-1" / "trial.log").write_text("older")
    (folder / "trial.log").write_text("its start never reached the disk")
    set_aside(rig.log, left_of(rig))
    assert (folder / "interrupted-1" / "trial.log").read_text() == "older"
    assert (folder / "interrupted-2" / "trial.log").read_text() == "its start never reached the disk"
    assert rig.state.trials[trial("t")].state == INTERRUPTED
    rig.log.close()


def test_a_trial_that_never_started_is_fresh_however_it_was_put_off(tmp_path: Path) -> None:
    rig = RunRig(tmp_path, ("a", "b", "c"))
    rig.log.append(ev.TrialWaiting(trial=trial("a"), reason="memory"))
    rig.log.append(ev.IssueRaised(trial=trial("b"), issue=issue()))
    rig.log.append(ev.TrialFinished(trial=trial("b"), outcome="cancelled"))
    assert ids(left_of(rig)) == ([], [], ["a", "b", "c"])
    set_aside(rig.log, left_of(rig))
    assert rig.state.trials[trial("b")].run_number == 0
    assert rig.state.count(CANCELLED) == 0 and rig.state.trials[trial("b")].issues == []
    assert ids(left_of(rig)) == ([], [], ["a", "b", "c"])
    rig.log.close()


def test_a_refused_trial_is_in_no_list_until_it_no_longer_is(tmp_path: Path) -> None:
    toml = '[environment]\nenv = {A = "${TOKEN}"}\n'
    rig = RunRig(tmp_path, toml=toml)
    rig.log.append(ev.TrialFinished(trial=trial("t"), outcome="refused"))
    assert ids(left_of(rig)) == ([], [], [])
    other = tmp_path / "again"
    other.mkdir()
    allowed = RunRig(other, toml="")
    left = remaining(allowed.plan, rig.state)
    assert ids(left) == ([], [], ["t"])
    set_aside(rig.log, left)
    assert rig.state.trials[trial("t")].state == INTERRUPTED
    rig.log.close()
    allowed.log.close()


@pytest.mark.anyio
async def test_a_run_in_two_sessions_counts_as_one_case_82(tmp_path: Path) -> None:
    names = tuple(f"t{number}" for number in range(1, 11))
    rig = RunRig(tmp_path, names, concurrency=1)
    rig.provider.when("/tests/test.sh", does=writes(REWARD), times=4)
    rig.provider.when("/tests/test.sh", does=writes({"/logs/verifier/reward.txt": "0"}), times=2)
    run = rig.run()
    run.queue = run.queue[:6]
    assert await run.execute() == 3
    cut_off = rig.plan.trials[6].trial
    rig.log.append(ev.TrialStarted(trial=cut_off, run_number=1))
    assert (rig.state.done, rig.state.count("passed"), rig.state.count("failed")) == (6, 4, 2)
    rig.provider.when("/tests/test.sh", does=writes(REWARD), times=1)
    assert await rig.execute() == 3
    state = rig.state
    assert (state.done, len(state.trials)) == (10, 10)
    assert (state.count("passed"), state.count("failed"), state.count("unscored")) == (5, 2, 3)
    assert state.trials[cut_off].run_number == 2
    assert state.count(QUEUED) == 0
    assert sum(trial.run_number - 1 for trial in state.trials.values()) == 1
    rig.log.close()


@pytest.mark.anyio
async def test_verdicts_are_never_run_again_and_nothing_left_is_nothing_done_case_79(tmp_path: Path) -> None:
    rig = RunRig(tmp_path, ("a", "b"))
    rig.provider.when("/tests/test.sh", does=writes(REWARD))
    assert await rig.execute() == 0
    calls = len(rig.provider.calls)
    assert await rig.execute() == 0
    assert len(rig.provider.calls) == calls
    assert Code.ENGINE_FAILED not in [one.code for one in rig.state.run_issues]
    rig.log.close()
