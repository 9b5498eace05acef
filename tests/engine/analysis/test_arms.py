"""Arms of several runs: how they are called, which are one, and what labels do to their trials."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from engine import events as ev
from engine.analysis.arms import ArmRef, NoSuchArm, arm_refs, joined, names, one_each, pick, trials_of
from engine.analysis.compare_arms import TasksDiffer, compare_arms
from engine.analysis.sensitivity import INFRASTRUCTURE_EXCLUDED
from engine.state import RunState
from tests.screens import fake_run
from tests.screens.fake_run import at

Verdicts = Sequence[bool | None]


def run(
    arms: Mapping[str, Verdicts], *, name: str = "run", tasks: Sequence[str] = (), starts: float = 0, model: str = ""
) -> RunState:
    """One attempt each; the tasks are t0, t1, … unless named."""
    state = RunState()
    infos = tuple(ev.ArmInfo(name=arm, agent="terminus", model=model or arm) for arm in arms)
    task_set = ev.TaskSetInfo(name="set", version="1", digest="d1")
    state.apply(ev.RunPlanned(at=at(0), run=name, name=name, task_set=task_set, arms=infos, tasks=len(tasks), trials=0))
    for arm, verdicts in arms.items():
        for number, passed in enumerate(verdicts):
            task = tasks[number] if tasks else f"t{number}"
            trial = f"{task}-{arm}"
            state.apply(ev.TrialPlanned(at=at(0), trial=trial, task=task, arm=arm, attempt=1, position=number))
            state.apply_all([*fake_run.begun(trial, starts + number), *fake_run.ended(trial, starts + 300, passed)])
    return state


def test_an_arm_is_called_by_its_name_and_with_its_run_only_where_two_runs_have_it() -> None:
    found = names([ArmRef("one", "a"), ArmRef("one", "b"), ArmRef("two", "b")])
    assert list(found.values()) == ["a", "b (one)", "b (two)"]


def test_arms_are_picked_by_name_or_with_their_run_the_baseline_in_front() -> None:
    runs = {"one": run({"a": [True], "b": [True]}), "two": run({"b": [False], "c": [True]})}
    assert [arm.name for arm in pick(runs)] == ["a", "b (one)", "b (two)", "c"]
    assert [arm.name for arm in pick(runs, ["a", "two:b"], "two:b")] == ["b (two)", "a"]
    assert pick(runs, (), "c")[0].name == "c"
    with pytest.raises(NoSuchArm, match="several runs have an arm 'b': name one:b or two:b, or --join them"):
        pick(runs, ["b"])
    with pytest.raises(NoSuchArm, match="no arm 'z'; there are a, b"):
        pick(runs, ["z"])


def test_runs_of_one_submission_are_attempts_numbered_by_their_start() -> None:
    runs = {
        "late": run({"a": [True, True]}, starts=1000),
        "early": run({"a": [False, False]}, starts=0),
        "other": run({"b": [True, True]}),
    }
    arms = joined(arm_refs(runs), runs)
    assert [len(arm.refs) for arm in arms] == [2, 1]
    trials = trials_of(arms[0], runs)
    assert [(o.task, o.attempt, o.passed) for o in sorted(trials.outcomes, key=lambda o: (o.task, o.attempt))] == [
        ("t0", 1, False),
        ("t0", 2, True),
        ("t1", 1, False),
        ("t1", 2, True),
    ]
    assert trials.origin["t0", 1] == ("early", "t0-a")


def test_another_model_or_task_set_is_another_arm_whatever_it_is_called() -> None:
    runs = {"one": run({"a": [True]}, model="m1"), "two": run({"a": [True]}, model="m2")}
    assert [arm.name for arm in joined(arm_refs(runs), runs)] == ["a (one)", "a (two)"]


def test_labels_of_two_runs_with_the_same_arm_stay_apart_and_infrastructure_takes_the_pair() -> None:
    runs = {"one": run({"a": [True, False, True]}), "two": run({"a": [True, True, False]})}
    arms = one_each(arm_refs(runs))
    labels = {"one": {("t1", "a", 1): "infrastructure"}}
    trials = [trials_of(arm, runs, labels) for arm in arms]
    assert [outcome.excluded for outcome in trials[0].outcomes] == [False, True, False]
    assert not any(outcome.excluded for outcome in trials[1].outcomes)
    found = compare_arms(trials, 1, runs).found
    assert found.arms[0].excluded == 1 and found.arms[0].assigned == 3
    view = next(view for view in found.sensitivity if view.name == INFRASTRUCTURE_EXCLUDED)
    assert (view.left_out, view.rate_a, view.rate_b) == (1, 1.0, 0.5)


def test_tasks_on_one_side_only_are_refused_unless_the_common_ones_are_asked_for() -> None:
    runs = {
        "one": run({"a": [True, False]}, tasks=["x", "y"]),
        "two": run({"b": [True, True]}, tasks=["y", "z"]),
    }
    trials = [trials_of(arm, runs) for arm in one_each(arm_refs(runs))]
    with pytest.raises(TasksDiffer, match="1 task only in A: x; 1 task only in B: z"):
        compare_arms(trials, 1, runs)
    found = compare_arms(trials, 1, runs, common_tasks=True).found
    assert (found.tasks, found.only_in_a, found.only_in_b) == (1, ("x",), ("z",))


def test_case_89_names_that_differ_by_case_or_blanks_are_reported_and_not_merged() -> None:
    runs = {
        "one": run({"a": [True, True, True]}, tasks=["t1", "t2", " t3"]),
        "two": run({"b": [True, True, True]}, tasks=["T1", "t2", "t3"]),
    }
    trials = [trials_of(arm, runs) for arm in one_each(arm_refs(runs))]
    found = compare_arms(trials, 1, runs, common_tasks=True).found
    assert found.tasks == 1
    assert any("' t3' and 't3'" in note and "'T1' and 't1'" in note for note in found.notes)


def test_several_arms_have_ranks_and_adjusted_p_values_beside_the_raw_ones() -> None:
    runs = {"one": run({"a": [True] * 40, "b": [True] * 38 + [False] * 2, "c": [False] * 40})}
    trials = [trials_of(arm, runs) for arm in one_each(arm_refs(runs))]
    compared = compare_arms(trials, 1, runs)
    assert [arm.rank for arm in compared.standings] == [1, 1, 3]
    assert compared.adjusted is not None and compared.adjusted.looked_at == 2
    assert compared.adjusted.exact == 0.5 and compared.adjusted.holm == 0.5
    assert compared.standings[2].difference == 1.0 and compared.standings[0].adjusted is None


def test_rank_by_overlap_118_and_112_of_200_both_rank_first() -> None:
    from engine.analysis.many_arms import ranks
    from engine.analysis.rates import wilson

    assert ranks([wilson(118, 200), wilson(112, 200), wilson(40, 200), None]) == [1, 1, 3, 1]


def test_arms_that_differ_in_effort_alone_are_not_joined_as_attempts_of_one() -> None:
    runs: dict[str, RunState] = {}
    for label, effort in (("one", "high"), ("two", "max"), ("three", "high")):
        state = RunState()
        info = ev.ArmInfo(name="x", agent="nop", effort=effort)
        state.apply(
            ev.RunPlanned(run=label, name=label, task_set=ev.TaskSetInfo(name="s"), arms=(info,), tasks=0, trials=0)
        )
        runs[label] = state
    assert [len(arm.refs) for arm in joined(arm_refs(runs), runs)] == [2, 1]
