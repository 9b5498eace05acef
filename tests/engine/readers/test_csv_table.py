"""A CSV file of results as a run: what it says of its trials, and how it is followed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from engine import events as ev
from engine.analysis.arms import pick, trials_of
from engine.analysis.compare_arms import compare_arms
from engine.analysis.from_csv import read_csv
from engine.readers.csv_table import CSV, trial_id
from engine.readers.found_runs import found_runs
from engine.readers.open_run import recognise
from engine.readers.reader import Liveness
from engine.state import RunState
from engine.tables.outcome_table import is_table, read_table
from tests.engine.readers.foreign import state_of

PAIRED = "task_id,a_pass,b_pass,a_cost,b_cost\nt1,1,0,1.5,2\nt2,TRUE,yes,,2\nt3,,1,1,1\n"
LONG = "task,arm,attempt,reward,cost\nt1,A,1,1,1\nt1,A,2,0,1\nt1,B,1,0,2\nt1,B,2,1,\n"


def written(folder: Path, text: str, name: str = "results.csv") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_a_table_that_is_named_is_a_finished_run_of_its_arms(tmp_path: Path) -> None:
    path = written(tmp_path, PAIRED)
    run = recognise(path)
    assert run is not None and run.kind == "csv" and not run.ours
    state, liveness = state_of(path)
    assert liveness is Liveness.FINISHED and state.finished is not None and state.finished.exit_code == 3
    assert list(state.arms) == ["A", "B"] and state.done == len(state.trials) == 6
    by_name = {(trial.task, trial.arm): trial for trial in state.trials.values()}
    assert (by_name["t2", "A"].passed, by_name["t2", "A"].cost_usd) == (True, None)
    assert (by_name["t3", "A"].state, by_name["t3", "A"].reward) == ("unscored", None)
    assert all(trial.seconds is None for trial in state.trials.values())  # nobody measured it


DISCARDED = "task,arm,attempt,reward,cost,discarded\nt1,A,1,0,1,1\nt1,A,2,1,2,0\nt2,A,1,1,2,0\n"


def test_a_table_knows_no_time_also_of_attempts_that_were_made_again(tmp_path: Path) -> None:
    state, _ = state_of(written(tmp_path, DISCARDED))
    assert {(trial.state, len(trial.earlier)) for trial in state.trials.values()} == {("passed", 1), ("passed", 0)}
    for trial in state.trials.values():
        assert (trial.started_at, trial.finished_at, trial.seconds) == (None, None, None)
        assert trial.elapsed(ev.now()) is None
    assert state.finished is not None and state.finished.seconds is None and state.took is None


@pytest.mark.parametrize("text", [PAIRED, LONG, "trial,arm,attempt,reward,cost\nt1,A,1,0,4\nt1,A,2,1,1\nt1,B,1,1,1\n"])
def test_the_numbers_are_those_of_the_table_itself(tmp_path: Path, text: str) -> None:
    path = written(tmp_path, text)
    state, _ = state_of(path)
    of_state = [trials_of(arm, {"r": state}) for arm in pick({"r": state})]
    one = compare_arms(of_state, 1, {"r": state}).found
    two = compare_arms(read_csv(path).arms, 1, {"results.csv": RunState()}).found
    assert (one.table, one.difference, one.mcnemar) == (two.table, two.difference, two.mcnemar)
    for a, b in zip(one.arms, two.arms, strict=True):
        assert (a.assigned, a.completed, a.scored, a.resolved) == (b.assigned, b.completed, b.scored, b.resolved)
        assert (a.cost_total, a.cost_discarded, a.cost_unknown) == (b.cost_total, b.cost_discarded, b.cost_unknown)


def test_a_row_without_a_cost_makes_the_sum_a_lower_bound(tmp_path: Path) -> None:
    state, _ = state_of(written(tmp_path, LONG))
    assert (state.cost_usd, state.cost_unknown) == (4, 1)


def test_how_long_the_trials_of_a_table_took_is_unknown_and_not_zero(tmp_path: Path) -> None:
    state, _ = state_of(written(tmp_path, LONG))
    assert state.finished is not None and state.took is None and state.elapsed(ev.now()) is None


def test_it_is_followed_while_it_grows_and_what_leaves_it_is_withdrawn(tmp_path: Path) -> None:
    path = written(tmp_path, PAIRED)
    reader, state = CSV.reader(path), RunState()
    state.apply_all(reader.poll())
    assert reader.poll() == []
    written(tmp_path, PAIRED.replace("t1,1,0", "t1,0,0") + "t4,1,1,1,1\n")
    os.utime(path, ns=(1, 1))
    state.apply_all(reader.poll())
    assert len(state.trials) == 8 and state.trials["t1.A.1"].passed is False
    written(tmp_path, "task_id,a_pass,b_pass\nt1,0,0\n")
    events = reader.poll()
    state.apply_all(events)
    assert sum(isinstance(event, ev.TrialWithdrawn) for event in events) == 6
    assert sorted(state.trials) == ["t1.A.1", "t1.B.1"]
    written(tmp_path, "task_id,a_pass,b_pass\nt1,0,maybe\n")
    with pytest.raises(OSError, match=r"row 2: b_pass 'maybe'"):
        reader.poll()
    assert sorted(state.trials) == ["t1.A.1", "t1.B.1"]


def test_labels_stay_where_they_are_when_a_verdict_is_filled_in(tmp_path: Path) -> None:
    path = written(tmp_path, PAIRED)
    before = CSV.identity(path)
    written(tmp_path, PAIRED.replace("t3,,1", "t3,1,1"))
    assert CSV.identity(path) == before
    written(tmp_path, PAIRED + "t4,1,1,1,1\n")
    assert CSV.identity(path) != before
    written(tmp_path, "task_id,a_pass,b_pass\nt1,2,1\n")
    assert CSV.identity(path) == "results.csv"


def test_names_of_hostile_tasks_are_no_paths_and_stay_apart(tmp_path: Path) -> None:
    text = 'task,arm,reward\n../../etc,A,1\n"..\\..\\etc",A,1\n"a\x1b[2J\nb",A,0\n t1,A,1\nt1,A,1\n'
    rows = read_table(written(tmp_path, text)).rows
    names = [trial_id(row) for row in rows]
    assert len(set(names)) == 5
    assert all("/" not in name and not name.startswith(".") and name.isprintable() for name in names)
    state, _ = state_of(tmp_path / "results.csv")
    assert all(trial.task.isprintable() for trial in state.trials.values())


def test_only_a_file_that_is_named_opens(tmp_path: Path) -> None:
    written(tmp_path, PAIRED)
    assert list(found_runs([tmp_path])) == []
    assert [run.kind for run in found_runs([tmp_path / "results.csv"])] == ["csv"]


@pytest.mark.parametrize(
    ("name", "text"),
    [("a.txt", PAIRED), ("a.csv", ""), ("a.csv", "task,family\na,b\n"), ("a.csv", "\x00\x00"), ("a.csv", '"')],
)
def test_what_holds_no_results_is_no_run(tmp_path: Path, name: str, text: str) -> None:
    path = written(tmp_path, text, name)
    assert not is_table(path) and recognise(path) is None
    assert not is_table(tmp_path) and not is_table(tmp_path / "missing.csv")


def test_a_pipe_that_is_called_a_table_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.csv")
    assert not is_table(tmp_path / "a.csv")
