"""Arms of several runs: over one task set they are attempts, over others benchmarks."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
import pytest

from engine import events as ev
from engine.analysis.arms import Arm, ArmRef, ArmTrials
from engine.analysis.trial_facts import Seen, arm_of_table, arms_of_runs, benchmark_names, benchmarks_of, merged
from engine.state import RunState
from tests.engine.analysis.making import arm
from tests.screens import fake_run


def run(version: str = "4.0.0", digest: str = "sha256:1f", effort: str = "", tasks: int = 2) -> RunState:
    """Two arms; the first passes everything, the second nothing."""
    events = fake_run.plan(tasks)
    planned = events[0]
    assert isinstance(planned, ev.RunPlanned)
    task_set = msgspec.structs.replace(planned.task_set, version=version, digest=digest)
    arms = tuple(msgspec.structs.replace(one, effort=effort) for one in planned.arms)
    state = RunState()
    state.apply_all([msgspec.structs.replace(planned, task_set=task_set, arms=arms), *events[1:]])
    for number, one in enumerate(events[1:]):
        assert isinstance(one, ev.TrialPlanned)
        state.apply_all([*fake_run.begun(one.trial, number), *_ended(one.trial, one.arm == arms[0].name)])
    return state


def _ended(trial: str, passed: bool) -> Iterable[ev.Event]:
    return fake_run.ended(trial, 400.0, passed)


def test_runs_over_one_task_set_are_attempts_and_over_others_benchmarks() -> None:
    arms = arms_of_runs({"one": run(), "two": run(), "new": run(version="5.0.0")})
    assert [one.name for one in arms] == ["sonnet-5.5", "sol-6.1"]
    assert arms[0].stated == {"terminal-bench 4.0.0": 2, "terminal-bench 5.0.0": 1}
    assert [len(facts) for facts in arms[0].by_task("terminal-bench 4.0.0").values()] == [2, 2]
    assert benchmarks_of(arms) == ["terminal-bench 4.0.0", "terminal-bench 5.0.0"]


def test_task_sets_that_only_a_digest_tells_apart_are_not_one_benchmark() -> None:
    names = benchmark_names({"one": run(), "two": run(digest="sha256:2e")})
    assert names == {"one": "terminal-bench 4.0.0 (1f)", "two": "terminal-bench 4.0.0 (2e)"}
    assert len(arms_of_runs({"one": run(), "two": run(digest="sha256:2e")})[0].stated) == 2


def test_arms_of_another_effort_are_other_arms_of_one_configuration() -> None:
    arms = arms_of_runs({"low": run(effort="low"), "high": run(effort="high")})
    assert [one.effort for one in arms] == ["low", "low", "high", "high"]
    assert arms[0].apart_from_effort == arms[2].apart_from_effort != arms[1].apart_from_effort


def test_steps_and_times_are_those_of_the_run_and_of_sessions_that_were_read() -> None:
    state = run()
    trial = next(iter(state.trials))
    (facts, *_) = arms_of_runs({"one": state}, seen={("one", trial): Seen(steps=9, refused=True)})[0].facts
    assert (facts.steps, facts.seen) == (9, Seen(steps=9, refused=True))
    (plain, *_) = arms_of_runs({"one": state})[0].facts
    assert (plain.steps, plain.seen, plain.agent_seconds, plain.timeout_factor) == (1, None, 288.0, 1.0)


def test_arms_of_tables_with_one_name_are_one_arm_over_benchmarks() -> None:
    trials = ArmTrials(
        arm=Arm("a", (ArmRef("x", "a"),)), outcomes=tuple(arm("a", [True, False], attempts=2)), origin={}, labels={}
    )
    (found,) = merged([arm_of_table(trials, "one"), arm_of_table(trials, "two")])
    assert found.stated == {"one": 2, "two": 2} and len(found.facts) == 4
    with pytest.raises(ValueError, match="the same benchmark twice"):
        merged([arm_of_table(trials, "one"), arm_of_table(trials, "one")])
