"""A run in the shape of a Harbor job: `config.json`, `result.json`, `lock.json` of the run and of its trials.

Shapes and names are those of Harbor 0.26.0 (its pydantic models `JobConfig`, `JobResult`, `JobLock`,
`TrialConfig`, `TrialResult`, `TrialLock`), learnt from its source and tried against `harbor view`. What its
viewer needs:

- A run is a direct sub-folder of the folder that is viewed, a trial a direct sub-folder of the run with a
  `config.json` or a `result.json`. A trial with only the first is shown as running. A run without
  `finished_at` is shown as running.
- A file that doesn't parse or lacks a required field counts as absent, silently, so these files are written
  whole or not at all. Required: `id`, `started_at`, `n_total_trials`, `stats` of a job result; `task` of a
  trial config; `task_name`, `trial_name`, `trial_uri`, `task_id`, `task_checksum`, `config`, `agent_info` of
  a trial result. A trial result without an `id` gets another one at every reading.
- Harbor decides by the name of an exception whether a reward still counts, and lets it count where it doesn't
  know the name. `policy_override` says it outright, so every failure here carries one.
- `/api/source/…` answers for the whole folder only if every trial has a valid `lock.json`.

Everything here is pure: records in, JSON-ready dictionaries out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import PurePosixPath

from engine.runs.harbor_names import JsonObject, job_id, model_info, shown_name, trial_id
from engine.runs.harbor_records import (
    AgentRecord,
    FailureRecord,
    JobRecord,
    Rewards,
    Span,
    StepRecord,
    TrialRecord,
    UsageRecord,
)
from engine.runs.harbor_stats import numbers, stats

_DIGEST = re.compile(r"(?:sha256:)?([0-9a-f]{64})")


def job_config(job: JobRecord) -> JsonObject:
    """`config.json` of the run."""
    return {
        "schema_version": 1,
        "job_name": job.name,
        "jobs_dir": str(PurePosixPath(job.folder).parent),
        "n_attempts": job.attempts,
        "timeout_multiplier": job.timeout_factor,
        "n_concurrent_trials": job.concurrency,
        "environment": _environment(),
        "verifier": {},
        "agents": [_agent_config(agent) for agent in job.agents],
        "datasets": [{"path": path} for path in job.dataset_paths],
        "tasks": [{"path": path} for path in job.task_paths],
    }


def job_result(job: JobRecord, trials: Sequence[TrialRecord], *, running: int = 0) -> JsonObject:
    """`result.json` of the run. `trials` are those that came to an end, whatever end; `running` counts those
    that began and didn't.
    """
    return {
        "schema_version": 1,
        "id": job_id(job.run_id),
        "started_at": _stamp(job.started_at),
        "updated_at": _stamp(job.updated_at or job.finished_at or job.started_at),
        "finished_at": _stamp_or_none(job.finished_at),
        "n_total_trials": job.total_trials,
        "stats": stats(job, trials, running),
    }


def job_lock(job: JobRecord, trials: Iterable[TrialRecord], *, created_at: datetime | None = None) -> JsonObject:
    """`lock.json` of the run: what was going to be run, trial by trial."""
    return {
        "schema_version": 3,
        "created_at": _stamp(created_at or job.started_at),
        "harbor": {},
        "n_concurrent_trials": job.concurrency,
        "retry": {},
        "trials": [trial_lock(job, trial) for trial in trials],
    }


def trial_config(job: JobRecord, trial: TrialRecord) -> JsonObject:
    """`config.json` of the trial. From the moment it exists Harbor's viewer lists the trial, as running."""
    task: JsonObject = {"path": trial.task_path}
    if trial.dataset:
        task["source"] = trial.dataset
    return {
        "schema_version": 1,
        "task": task,
        "trial_name": trial.trial_name,
        "trials_dir": job.folder,
        "timeout_multiplier": job.timeout_factor,
        "agent": _agent_config(trial.agent),
        "environment": _environment(),
        "verifier": {},
        "job_id": job_id(job.run_id),
    }


def trial_result(job: JobRecord, trial: TrialRecord) -> JsonObject:
    """`result.json` of the trial, written once, at its end."""
    return {
        "schema_version": 1,
        "id": trial_id(job.run_id, trial.trial_name),
        "task_name": trial.task_name,
        "trial_name": trial.trial_name,
        "trial_uri": _uri(PurePosixPath(job.folder, trial.trial_name)),
        "task_id": {"path": trial.task_path},
        "source": trial.dataset or None,
        "task_checksum": _hex_digest(trial.task_digest),
        "config": trial_config(job, trial),
        "agent_info": {
            "name": shown_name(trial.agent),
            "version": trial.agent.version or "unknown",
            "model_info": model_info(trial.agent.model),
        },
        "agent_result": _usage(trial.usage),
        "verifier_result": _verifier_result(trial.rewards),
        "verifier_environment_mode": trial.verifier_mode or None,
        "exception_info": _failure(trial.failure),
        "started_at": _stamp_or_none(trial.started_at),
        "finished_at": _stamp_or_none(trial.finished_at),
        "environment_setup": _span(trial.environment_setup),
        "agent_setup": _span(trial.agent_setup),
        "agent_execution": _span(trial.agent_execution),
        "verifier": _span(trial.verifier),
        "step_results": [_step(step) for step in trial.steps] or None,
    }


def trial_lock(job: JobRecord, trial: TrialRecord) -> JsonObject:
    """`lock.json` of the trial: its inputs, resolved. Harbor leaves null keys out of it."""
    task: JsonObject = {
        "name": PurePosixPath(trial.task_path).name or trial.task_name,
        "type": "local",
        "digest": f"sha256:{_hex_digest(trial.task_digest)}",
        "path": trial.task_path,
    }
    if trial.dataset:
        task["source"] = trial.dataset
    verifier: JsonObject = {"disable": False}
    if trial.verifier_mode:
        verifier["environment_mode"] = trial.verifier_mode
    return {
        "schema_version": 2,
        "task": task,
        "timeout_multiplier": job.timeout_factor,
        "agent": _agent_config(trial.agent),
        "environment": _environment(),
        "verifier": verifier,
    }


# --- the parts ----------------------------------------------------------------------------------------------


def _stamp(moment: datetime) -> str:
    if moment.tzinfo is None or moment.utcoffset() is None:
        raise ValueError(f"a time without a zone: {moment.isoformat()}")
    return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def _stamp_or_none(moment: datetime | None) -> str | None:
    return None if moment is None else _stamp(moment)


def _span(span: Span | None) -> JsonObject | None:
    if span is None:
        return None
    return {"started_at": _stamp_or_none(span.started_at), "finished_at": _stamp_or_none(span.finished_at)}


def _uri(path: PurePosixPath) -> str:
    return path.as_uri() if path.is_absolute() else str(path)


def _hex_digest(digest: str) -> str:
    match = _DIGEST.fullmatch(digest)
    if match is None:
        raise ValueError(f"not a SHA-256 of a task: {digest!r}")
    return match[1]


def _environment() -> JsonObject:
    return {"type": "docker", "delete": True}


def _agent_config(agent: AgentRecord) -> JsonObject:
    kwargs: JsonObject = dict(agent.parameters)
    if shown_name(agent) != agent.name:
        kwargs["agent"] = agent.name
    return {"name": shown_name(agent), "model_name": agent.model or None, "kwargs": kwargs}


def _usage(usage: UsageRecord | None) -> JsonObject | None:
    if usage is None:
        return None
    return {
        "n_input_tokens": usage.input_tokens,
        "n_cache_tokens": usage.cache_tokens,
        "n_output_tokens": usage.output_tokens,
        "cost_usd": usage.cost_usd,
        **({"metadata": dict(usage.more)} if usage.more else {}),
    }


def _verifier_result(rewards: Rewards | None) -> JsonObject | None:
    given = numbers(rewards)
    return None if given is None else {"rewards": given}


def _failure(failure: FailureRecord | None) -> JsonObject | None:
    if failure is None:
        return None
    return {
        "exception_type": failure.type,
        "exception_message": failure.message,
        "exception_traceback": failure.traceback,
        "occurred_at": _stamp(failure.occurred_at),
        "policy_override": {"has_valid_reward": failure.reward_counts},
    }


def _step(step: StepRecord) -> JsonObject:
    return {
        "step_name": step.name,
        "agent_result": _usage(step.usage),
        "verifier_result": _verifier_result(step.rewards),
        "exception_info": _failure(step.failure),
        "agent_execution": _span(step.agent_execution),
        "verifier": _span(step.verifier),
    }
