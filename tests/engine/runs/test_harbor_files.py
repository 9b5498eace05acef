"""The files that make a run look like a Harbor job: what they say, and that `harbor view` takes them."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec
import pytest

from bench.harbor_venv import harbor_view
from engine.issues import Code
from engine.runs.harbor_files import (
    job_config,
    job_lock,
    job_result,
    trial_config,
    trial_lock,
    trial_result,
)
from engine.runs.harbor_names import EXCEPTION_TYPES, exception_type, job_id, trial_id
from engine.runs.harbor_records import AgentRecord, FailureRecord, JobRecord, Span, StepRecord, TrialRecord, UsageRecord
from tests.harbor import Viewer, require_harbor

NOON = datetime(2026, 3, 4, 12, 0, 0, tzinfo=UTC)
DIGEST = "sha256:" + "ab" * 32
ORACLE = AgentRecord(name="oracle", version="1")
REPLAY = AgentRecord(name="replay", arm="replay-b", model="acme/deep-1", parameters={"session": "b", "speed": 2})


def at(seconds: float) -> datetime:
    return NOON + timedelta(seconds=seconds)


def span(start: float, end: float) -> Span:
    return Span(started_at=at(start), finished_at=at(end))


def job(folder: str = "/srv/runs/one", **changes: Any) -> JobRecord:
    plain = JobRecord(
        run_id="run-1",
        name="one",
        folder=folder,
        started_at=NOON,
        total_trials=5,
        agents=[ORACLE, REPLAY],
        concurrency=4,
    )
    return msgspec.structs.replace(plain, **changes)


def trial(name: str = "hello__1", **changes: Any) -> TrialRecord:
    plain = TrialRecord(
        task_name=name.split("__")[0],
        trial_name=name,
        task_path=f"/srv/tasks/{name.split('__')[0]}",
        task_digest=DIGEST,
        agent=ORACLE,
        dataset="samples",
        started_at=at(0),
        finished_at=at(9),
        environment_setup=span(0, 2),
        agent_setup=span(2, 3),
        agent_execution=span(3, 6),
        verifier=span(6, 8.5),
        verifier_mode="shared",
    )
    return msgspec.structs.replace(plain, **changes)


def failure(kind: str = "AgentTimeoutError", *, counts: bool = False) -> FailureRecord:
    return FailureRecord(type=kind, message="no end after 8 s", occurred_at=at(6), reward_counts=counts)


def stats(*trials: TrialRecord, running: int = 0) -> dict[str, Any]:
    found: dict[str, Any] = job_result(job(), trials, running=running)["stats"]
    return found


# --- what the files say -------------------------------------------------------------------------------------


def test_times_are_written_in_utc_whatever_zone_they_came_in() -> None:
    berlin = timezone(timedelta(hours=1))
    result = trial_result(job(), trial(started_at=datetime(2026, 3, 4, 13, 0, tzinfo=berlin)))
    assert result["started_at"] == "2026-03-04T12:00:00.000000Z"
    assert result["verifier"] == {
        "started_at": "2026-03-04T12:00:06.000000Z",
        "finished_at": "2026-03-04T12:00:08.500000Z",
    }


def test_a_time_without_a_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="without a zone"):
        trial_result(job(), trial(started_at=datetime(2026, 3, 4, 13, 0)))


def test_the_same_run_and_trial_have_the_same_ids_in_every_file() -> None:
    record = trial()
    assert trial_result(job(), record)["id"] == trial_id("run-1", "hello__1")
    assert trial_config(job(), record)["job_id"] == job_result(job(), [])["id"] == job_id("run-1")
    assert UUID(job_id("run-1")) != UUID(job_id("run-2"))
    assert trial_id("run-1", "a") != trial_id("run-2", "a")


def test_a_running_job_has_no_end_and_counts_what_waits() -> None:
    result = job_result(job(updated_at=at(30)), [trial(rewards={"reward": 1})], running=3)
    assert result["finished_at"] is None
    assert result["updated_at"] == "2026-03-04T12:00:30.000000Z"
    assert result["stats"]["n_completed_trials"] == 1
    assert result["stats"]["n_running_trials"] == 3
    assert result["stats"]["n_pending_trials"] == 1


def test_an_unscored_trial_has_no_verifier_result() -> None:
    assert trial_result(job(), trial(rewards=None))["verifier_result"] is None
    assert stats(trial(rewards=None))["evals"]["oracle__samples"]["n_trials"] == 0


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_table_with_a_number_that_json_has_not_got_is_no_reward(value: float) -> None:
    record = trial(rewards={"reward": 1.0, "other": value})
    assert trial_result(job(), record)["verifier_result"] is None
    assert stats(record)["evals"]["oracle__samples"]["metrics"] == []


def test_true_is_written_as_the_number_that_it_counts_as() -> None:
    result = trial_result(job(), trial(rewards={"reward": True}))
    assert json.dumps(result["verifier_result"]) == '{"rewards": {"reward": 1}}'


def test_every_failure_says_outright_whether_the_reward_counts() -> None:
    late = trial(rewards={"reward": 1.0}, failure=failure(counts=True))
    broken = trial("hello__2", rewards={"reward": 1.0}, failure=failure("DiskFullError"))
    assert trial_result(job(), late)["exception_info"]["policy_override"] == {"has_valid_reward": True}
    assert trial_result(job(), broken)["exception_info"]["policy_override"] == {"has_valid_reward": False}
    group = stats(late, broken)["evals"]["oracle__samples"]
    assert group["n_trials"] == 1
    assert group["n_errors"] == 2
    assert group["reward_stats"] == {"reward": {"1.0": ["hello__1"]}}
    assert group["exception_stats"] == {"AgentTimeoutError": ["hello__1"], "DiskFullError": ["hello__2"]}


def test_arms_with_the_same_agent_stay_apart() -> None:
    other = msgspec.structs.replace(REPLAY, arm="replay-c")
    found = stats(trial(agent=REPLAY), trial("hello__2", agent=other))
    assert set(found["evals"]) == {"replay-b__deep-1__samples", "replay-c__deep-1__samples"}
    result = trial_result(job(), trial(agent=REPLAY))
    assert result["agent_info"]["name"] == result["config"]["agent"]["name"] == "replay-b"
    assert result["config"]["agent"]["kwargs"] == {"session": "b", "speed": 2, "agent": "replay"}
    assert result["agent_info"]["model_info"] == {"name": "deep-1", "provider": "acme"}


def test_one_reward_gives_a_mean_and_several_give_one_each() -> None:
    single = stats(trial(rewards={"reward": 1.0}), trial("hello__2", rewards={"reward": 0.0}))
    assert single["evals"]["oracle__samples"]["metrics"] == [{"mean": 0.5}]
    several = stats(trial(rewards={"reward": 1, "side": 0.5}), trial("hello__2", rewards={"reward": 0}))
    assert several["evals"]["oracle__samples"]["metrics"] == [{"reward": 0.5, "side": 0.25}]


def test_pass_at_k_is_there_for_the_k_that_every_task_has_trials_for() -> None:
    rewards = [1, 0, 0, 0, 1, 1]
    tries = [trial(f"hello__{number}", rewards={"reward": float(reward)}) for number, reward in enumerate(rewards)]
    found = stats(*tries)["evals"]["oracle__samples"]["pass_at_k"]
    assert set(found) == {"2", "4", "5"}
    assert found["2"] == pytest.approx(1 - (3 * 2) / (6 * 5))
    assert found["4"] == found["5"] == 1


@pytest.mark.parametrize("rewards", [{"reward": 0.5}, {"reward": 1, "side": 1}])
def test_there_is_no_pass_at_k_of_fractions_or_of_several_rewards(rewards: dict[str, float]) -> None:
    found = stats(trial(rewards=rewards), trial("hello__2", rewards=rewards))
    assert found["evals"]["oracle__samples"]["pass_at_k"] == {}


def test_tokens_and_cost_add_up_over_trials_and_steps_and_stay_unknown_where_nobody_counted() -> None:
    assert stats(trial())["n_input_tokens"] is None
    single = trial(usage=UsageRecord(input_tokens=100, cache_tokens=40, output_tokens=7, cost_usd=0.5))
    steps = [
        StepRecord(name="one", usage=UsageRecord(input_tokens=10, output_tokens=1)),
        StepRecord(name="two", usage=UsageRecord(input_tokens=5, cost_usd=0.25)),
        StepRecord(name="three"),
    ]
    found = stats(single, trial("hello__2", steps=steps))
    assert found["n_input_tokens"] == 115
    assert found["n_cache_tokens"] == 40
    assert found["n_output_tokens"] == 8
    assert found["cost_usd"] == 0.75


def test_a_failure_of_a_step_is_written_with_the_step_and_counted_with_the_trial() -> None:
    steps = [
        StepRecord(name="one", rewards={"reward": 1}),
        StepRecord(name="two", failure=failure("CancelledError")),
    ]
    record = trial(rewards={"reward": 1.0}, verifier_mode="", steps=steps)
    result = trial_result(job(), record)
    assert result["exception_info"] is None
    assert [step["step_name"] for step in result["step_results"]] == ["one", "two"]
    assert result["step_results"][1]["exception_info"]["exception_type"] == "CancelledError"
    found = stats(record)
    assert found["n_errored_trials"] == found["n_cancelled_trials"] == 1
    assert found["evals"]["oracle__samples"]["n_trials"] == 0


def test_a_digest_is_taken_with_and_without_its_prefix_and_nothing_else_is() -> None:
    for digest in (DIGEST, DIGEST.removeprefix("sha256:")):
        record = trial(task_digest=digest)
        assert trial_lock(job(), record)["task"]["digest"] == DIGEST
        assert trial_result(job(), record)["task_checksum"] == "ab" * 32
    with pytest.raises(ValueError, match="not a SHA-256"):
        trial_lock(job(), trial(task_digest="abc"))


def test_tasks_and_sets_of_tasks_are_named_in_the_job() -> None:
    config = job_config(job(task_paths=["/srv/tasks/hello"], dataset_paths=["/srv/sets/samples"], timeout_factor=2.0))
    assert config["tasks"] == [{"path": "/srv/tasks/hello"}]
    assert config["datasets"] == [{"path": "/srv/sets/samples"}]
    assert config["jobs_dir"] == "/srv/runs"
    assert config["timeout_multiplier"] == 2.0
    assert [agent["name"] for agent in config["agents"]] == ["oracle", "replay-b"]


def test_known_codes_become_harbors_names_and_others_are_written_in_its_style() -> None:
    assert exception_type("harness_timeout") == "AgentTimeoutError"
    assert exception_type("disk_full") == "DiskFullError"


def test_every_code_with_a_name_of_its_own_is_a_code_that_the_engine_uses() -> None:
    assert set(EXCEPTION_TYPES) <= {code.value for code in Code}


def test_everything_is_plain_json() -> None:
    record = trial(rewards={"reward": 1}, failure=failure(), usage=UsageRecord(input_tokens=1), agent=REPLAY)
    for made in (
        job_config(job()),
        job_result(job(), [record]),
        job_lock(job(), [record]),
        trial_config(job(), record),
        trial_result(job(), record),
        trial_lock(job(), record),
    ):
        assert json.loads(msgspec.json.encode(made)) == made


# --- Harbor's own viewer ------------------------------------------------------------------------------------

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
