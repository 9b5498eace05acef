"""Both sides are asked for the same thing, and believed only where it was done."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from bench.against_harbor import COMPARISONS
from bench.figures import Unmeasurable
from bench.jobs import Job, environment, expect_all_passed, harbor_argv, harbor_projects, timed, trialdeck_argv

JOB = Job(task=Path("/tasks/hello"), attempts=8, concurrency=4)


def job_result(folder: Path, rewards: dict[str, list[str]], total: int = 2, errored: int = 0) -> Path:
    run = folder / "jobs" / "one"
    run.mkdir(parents=True)
    evals: dict[str, Any] = {"oracle__adhoc": {"n_trials": total, "reward_stats": {"reward": rewards}}}
    stats = {"n_completed_trials": total, "n_errored_trials": errored, "evals": evals}
    (run / "result.json").write_text(json.dumps({"n_total_trials": total, "stats": stats}))
    return folder / "jobs"


def test_the_same_task_attempts_and_concurrency() -> None:
    harbor = harbor_argv(Path("/harbor"), JOB, Path("/jobs"))
    ours = trialdeck_argv(JOB, Path("/runs"))
    assert harbor[harbor.index("--n-attempts") + 1] == ours[ours.index("--attempts") + 1] == "8"
    assert harbor[harbor.index("--n-concurrent") + 1] == ours[ours.index("--concurrency") + 1] == "4"
    assert "/tasks/hello" in harbor and "/tasks/hello" in ours
    assert "--plain" in ours


def test_harbor_tells_nobody_and_both_have_a_home_of_their_own(tmp_path: Path) -> None:
    found = environment(tmp_path / "home")
    assert found["HARBOR_TELEMETRY"] == "off"
    assert found["HOME"] == str(tmp_path / "home")
    assert "PYTHONPATH" not in found


def test_the_tasks_are_there() -> None:
    for comparison in COMPARISONS:
        assert (comparison.job.task / "task.toml").is_file(), comparison.name


def test_a_job_whose_trials_all_passed(tmp_path: Path) -> None:
    expect_all_passed(job_result(tmp_path, {"1.0": ["a", "b"]}), 2, "Harbor")


@pytest.mark.parametrize(
    ("rewards", "errored"),
    [({"1.0": ["a"], "0.0": ["b"]}, 0), ({"1.0": ["a"]}, 1), ({"1.0": ["a", "b", "c"]}, 0), ({}, 0)],
)
def test_any_other_job_measures_nothing(tmp_path: Path, rewards: dict[str, list[str]], errored: int) -> None:
    with pytest.raises(Unmeasurable, match="trials passed"):
        expect_all_passed(job_result(tmp_path, rewards, errored=errored), 2, "Harbor")


def test_what_an_interrupted_harbor_leaves_can_be_named(tmp_path: Path) -> None:
    (tmp_path / "2025-11-30" / "hello__aB3.x").mkdir(parents=True)
    (tmp_path / "2025-11-30" / "result.json").touch()
    assert harbor_projects(tmp_path) == ["hello__ab3-x__env"]


def test_a_command_that_fails_says_why(tmp_path: Path) -> None:
    with pytest.raises(Unmeasurable, match="exit code 3\nno way"):
        timed([sys.executable, "-c", "print('no way'); raise SystemExit(3)"], tmp_path, "it")


def test_wall_time_is_the_commands_own(tmp_path: Path) -> None:
    assert 0.2 <= timed([sys.executable, "-c", "import time; time.sleep(0.2)"], tmp_path, "it") < 20
