"""Harbor's own viewer takes a run of ours for a job."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from bench.harbor_venv import harbor_view
from engine.runs.harbor_files import (
    job_config,
    job_lock,
    job_result,
    trial_config,
    trial_lock,
    trial_result,
)
from engine.runs.harbor_names import job_id, trial_id
from engine.runs.harbor_records import StepRecord, TrialRecord, UsageRecord
from tests.engine.runs.harbor_samples import REPLAY, at, failure, job, span, trial
from tests.harbor import Viewer, require_harbor

FINISHED = trial(
    "hello__1", rewards={"reward": 1.0}, usage=UsageRecord(input_tokens=100, cache_tokens=40, output_tokens=7)
)

LATE = trial("hello__2", agent=REPLAY, rewards={"reward": 1.0}, failure=failure(counts=True))

BROKEN = trial(
    "build__1", rewards=None, failure=failure("SandboxBuildFailedError"), agent_execution=None, verifier=None
)

STEPS = trial(
    "steps__1",
    rewards={"reward": 0.5},
    verifier_mode="",
    steps=[
        StepRecord(name="first", rewards={"reward": 1.0}, agent_execution=span(3, 4), verifier=span(4, 5)),
        StepRecord(name="second", rewards={"reward": 0.0}, usage=UsageRecord(input_tokens=3)),
    ],
)

RUNNING = trial("slow__1", finished_at=None, agent_execution=None, verifier=None)

TRAJECTORY = {
    "schema_version": "ATIF-v1.7",
    "agent": {"name": "replay", "version": "1"},
    "steps": [{"step_id": 1, "source": "user", "message": "Say hello."}],
}

MANIFEST = [
    {
        "source": "/app/out.txt",
        "destination": "artifacts/app/out.txt",
        "type": "file",
        "status": "ok",
        "service": "side",
    }
]


def write(path: Path, content: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else msgspec.json.encode(content))


def write_run(runs: Path) -> None:
    folder = runs / "one"
    run = job(str(folder), task_paths=["/srv/tasks/hello"], updated_at=at(12))
    ended = [FINISHED, LATE, BROKEN, STEPS]
    write(folder / "config.json", job_config(run))
    write(folder / "result.json", job_result(run, ended, running=1))
    write(folder / "lock.json", job_lock(run, [*ended, RUNNING]))
    write(folder / "events.jsonl", "")
    write(folder / "logs" / "engine.log", "a folder of ours that is no trial\n")
    for record in [*ended, RUNNING]:
        write(folder / record.trial_name / "config.json", trial_config(run, record))
        write(folder / record.trial_name / "lock.json", trial_lock(run, record))
    for record in ended:
        write(folder / record.trial_name / "result.json", trial_result(run, record))
    first = folder / FINISHED.trial_name
    write(first / "agent" / "oracle.txt", "solved\n")
    write(first / "agent" / "trajectory.json", TRAJECTORY)
    write(first / "verifier" / "test-stdout.txt", "1 passed\n")
    write(first / "verifier" / "reward.json", {"reward": 1})
    write(first / "artifacts" / "manifest.json", MANIFEST)
    write(first / "artifacts" / "app" / "out.txt", "hello\n")
    write(first / "trial.log", "up\n")
    write(folder / STEPS.trial_name / "steps" / "first" / "verifier" / "test-stdout.txt", "first step\n")


@pytest.fixture(scope="module")
def viewer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Viewer]:
    runs = tmp_path_factory.mktemp("runs")
    write_run(runs)
    with harbor_view(require_harbor(), runs) as address:
        yield Viewer(address)


def test_harbor_view_lists_the_run(viewer: Viewer) -> None:
    (listed,) = viewer.get("jobs")["items"]
    assert listed["name"] == "one"
    assert listed["id"] == job_id("run-1")
    assert listed["started_at"] == "2026-03-04T12:00:00Z"
    assert listed["finished_at"] is None
    assert (listed["n_total_trials"], listed["n_completed_trials"], listed["n_errored_trials"]) == (5, 4, 2)
    assert listed["agents"] == ["oracle", "replay-b"]
    assert (listed["providers"], listed["models"]) == (["acme"], ["deep-1"])
    assert listed["evals"]["oracle__samples"]["metrics"] == [{"mean": 0.75}]
    assert (listed["total_input_tokens"], listed["total_cached_input_tokens"]) == (63, 40)
    assert viewer.get("jobs", "one", "config")["n_concurrent_trials"] == 4
    assert viewer.get("jobs", "one")["stats"]["n_pending_trials"] == 0


def test_harbor_view_lists_every_trial_and_no_other_folder(viewer: Viewer) -> None:
    listed = {item["name"]: item for item in viewer.get("jobs", "one", "trials")["items"]}
    assert set(listed) == {"hello__1", "hello__2", "build__1", "steps__1", "slow__1"}
    assert listed["hello__1"]["reward"] == 1.0
    assert listed["hello__1"]["id"] == trial_id("run-1", "hello__1")
    assert (listed["hello__2"]["agent_name"], listed["hello__2"]["error_type"]) == (
        "replay-b",
        "AgentTimeoutError",
    )
    assert listed["hello__2"]["reward"] == 1.0
    assert (listed["build__1"]["reward"], listed["build__1"]["error_type"]) == (
        None,
        "SandboxBuildFailedError",
    )
    assert listed["steps__1"]["reward"] == 0.5
    assert listed["slow__1"]["finished_at"] is None
    tasks = {(item["task_name"], item["agent_name"]): item for item in viewer.get("jobs", "one", "tasks")["items"]}
    assert tasks["hello", "oracle"]["avg_reward"] == 1.0
    assert tasks["slow", "oracle"]["n_completed"] == 0


@pytest.mark.parametrize("record", [FINISHED, LATE, BROKEN, STEPS, RUNNING], ids=lambda record: record.trial_name)
def test_harbor_view_opens_each_trial(viewer: Viewer, record: TrialRecord) -> None:
    opened = viewer.get("jobs", "one", "trials", record.trial_name)
    assert opened["trial_name"] == record.trial_name
    assert opened["task_name"] == record.task_name
    assert opened["reward_valid"] == (record.rewards is not None)
    assert opened["source"] == "samples"


def test_harbor_view_reads_times_exceptions_and_steps_as_they_were_meant(viewer: Viewer) -> None:
    opened = viewer.get("jobs", "one", "trials", "hello__2")
    assert opened["agent_execution"] == {
        "started_at": "2026-03-04T12:00:03Z",
        "finished_at": "2026-03-04T12:00:06Z",
    }
    assert opened["exception_info"]["policy"]["has_valid_reward"] is True
    assert opened["agent_info"] == {
        "name": "replay-b",
        "version": "unknown",
        "model_info": {"name": "deep-1", "provider": "acme"},
    }
    steps = viewer.get("jobs", "one", "trials", "steps__1")["step_results"]
    assert [step["verifier_result"]["rewards"]["reward"] for step in steps] == [1.0, 0.0]


def test_harbor_view_serves_logs_trajectory_and_artifacts(viewer: Viewer) -> None:
    at_trial = ("jobs", "one", "trials", "hello__1")
    assert viewer.get(*at_trial, "trajectory") == TRAJECTORY
    assert viewer.get(*at_trial, "agent-logs")["oracle"] == "solved\n"
    output = viewer.get(*at_trial, "verifier-output")
    assert (output["stdout"], output["reward"]) == ("1 passed\n", {"reward": 1})
    artifacts = viewer.get(*at_trial, "artifacts")
    assert artifacts["manifest"] == MANIFEST
    assert [file["path"] for file in artifacts["files"]] == ["app/out.txt"]
    assert viewer.text(*at_trial, "files/trial.log") == "up\n"
    of_step = viewer.get("jobs", "one", "trials", "steps__1", "verifier-output", step="first")
    assert of_step["stdout"] == "first step\n"


def test_harbors_own_check_of_locks_is_passed(viewer: Viewer) -> None:
    """These routes answer for the whole folder, or not at all if a single lock.json doesn't hold."""
    (listed,) = viewer.get("source", "jobs")["items"]
    assert listed["name"] == "one"
    assert len(viewer.get("source", "rollouts")["items"]) == 5
