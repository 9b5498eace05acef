"""The recorded run opens without Docker, is what the sample tasks give, and names no machine."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from engine.analysis.compare import compare
from engine.analysis.from_state import arm_outcomes
from engine.readers.reader import Liveness
from engine.readers.run_folder import RunFolderReader
from engine.runs.card import read_card
from engine.state import RunState
from tests.sample_runs.places import RECORDED, TASK_IDS

RUNS = sorted(path for path in RECORDED.iterdir() if path.is_dir())
MACHINE = re.compile(
    rb"/(?:work|root|Users)/|/home/(?!user/)|/tmp/(?:rec|pytest)|[a-z0-9]+[.]debian[.]org|pythonhosted|npmjs"
)


@pytest.fixture(scope="module", params=RUNS, ids=lambda path: path.name)
def run(request: pytest.FixtureRequest) -> tuple[Path, RunState]:
    folder: Path = request.param
    reader, state = RunFolderReader(folder), RunState()
    while events := reader.poll():
        state.apply_all(events)
    assert reader.liveness() is Liveness.FINISHED
    reader.close()
    return folder, state


def test_it_has_two_arms_and_several_attempts_of_every_task(run: tuple[Path, RunState]) -> None:
    folder, state = run
    assert {trial.task for trial in state.trials.values()} == set(TASK_IDS)
    assert len(state.arms) == 2 and read_card(folder).attempts >= 2
    assert state.done == len(state.trials) == 2 * len(TASK_IDS) * read_card(folder).attempts


def test_the_oracle_passes_everything_and_the_recorded_sessions_do_not(run: tuple[Path, RunState]) -> None:
    outcomes = arm_outcomes(run[1])
    found = compare(outcomes["oracle"], outcomes["replay"])
    oracle, replay = found.arms
    assert oracle.rate == 1.0
    assert replay.rate is not None and 0.3 < replay.rate < 0.7
    assert found.table.b_only == 0 < found.table.a_only


def test_it_has_something_to_triage(run: tuple[Path, RunState]) -> None:
    codes = {str(issue.code) for trial in run[1].trials.values() for issue in trial.issues}
    assert {"out_of_memory", "harness_timeout", "artifact_collect_failed", "artifact_missing", "service_died"} <= codes
    assert any(trial.state == "unscored" for trial in run[1].trials.values())


def test_no_file_of_it_names_a_machine_a_user_or_an_archive(run: tuple[Path, RunState]) -> None:
    found = [
        (str(path.relative_to(RECORDED)), match.group(0))
        for path in run[0].rglob("*")
        if path.is_file() and (match := MACHINE.search(path.read_bytes()))
    ]
    assert found == []
