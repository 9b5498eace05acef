"""The files that make a run look like a Harbor job: what they say, and that `harbor view` takes them."""

from __future__ import annotations

import json
import math
from datetime import datetime, timedelta, timezone
from typing import Any
from uuid import UUID

import msgspec
import pytest

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
from engine.runs.harbor_records import StepRecord, TrialRecord, UsageRecord
from tests.engine.runs.harbor_samples import DIGEST, REPLAY, at, failure, job, trial


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
