from __future__ import annotations

from pathlib import Path

import pytest

from bench import run_list
from bench.run_list import measure_run_list, write_jobs, write_runs
from engine.readers.found_runs import found_runs
from engine.readers.reader import Liveness
from screens.run_summaries import summarise


def test_what_is_listed_are_runs_of_both_systems_and_over(tmp_path: Path) -> None:
    write_runs(tmp_path / "ours", 1)
    write_jobs(tmp_path / "jobs", 1)
    found = {run.kind: summarise(run) for run in found_runs([tmp_path])}
    assert set(found) == {"trialdeck", "harbor"}
    assert all(run.liveness is Liveness.FINISHED and run.done == run.planned > 0 for run in found.values())
    assert found["harbor"].arms[0].passed == run_list.TRIALS_OF_A_JOB


def test_the_figures_have_their_targets_and_floors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_list, "RUNS", 3)
    said: list[str] = []
    result = measure_run_list(quick=True, say=said.append)
    assert len(said) == run_list.QUICK_ROUNDS
    assert [check.target for check in result.checks] == [2.0, 2.0, 2.0, None, None]
    assert all(check.value > 0 for check in result.checks)
    assert [len(series.values) for series in result.series] == [run_list.QUICK_ROUNDS] * 5
