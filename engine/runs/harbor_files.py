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

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import Any
from uuid import UUID, uuid5

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

JsonObject = dict[str, Any]

DATASET_OF_LOOSE_TASKS = "adhoc"
CANCELLED = "CancelledError"

_NAMESPACE = UUID("5b6d1c0e-9d0c-5d7e-8a55-0f6c5f6b2c11")
_DIGEST = re.compile(r"(?:sha256:)?([0-9a-f]{64})")

# Names under which Harbor files the same failures. Other codes are written in its style: `DiskFullError`.
EXCEPTION_TYPES = {
    "image_build_failed": "SandboxBuildFailedError",
    "image_build_timeout": "EnvironmentStartTimeoutError",
    "start_timeout": "EnvironmentStartTimeoutError",
    "healthcheck_failed": "HealthcheckError",
    "agent_exit_nonzero": "NonZeroAgentExitCodeError",
    "harness_timeout": "AgentTimeoutError",
    "harness_interrupted": CANCELLED,
    "out_of_memory": "SandboxLikelyOutOfMemoryError",
    "verifier_timeout": "VerifierTimeoutError",
    "verifier_result_invalid": "VerifierOutputParseError",
}


def job_id(run_id: str) -> str:
    """Harbor wants UUIDs. The same run has the same one whoever writes it, and whenever."""
    return str(uuid5(_NAMESPACE, run_id))


def trial_id(run_id: str, trial_name: str) -> str:
    return str(uuid5(UUID(job_id(run_id)), trial_name))


def exception_type(code: str) -> str:
    """The exception name that stands for an issue's code in a Harbor result."""
    if known := EXCEPTION_TYPES.get(code):
        return known
    return "".join(part.capitalize() for part in re.split(r"[^0-9A-Za-z]+", code)) + "Error"


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
        "stats": _stats(job, trials, running),
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
            "name": _shown_name(trial.agent),
            "version": trial.agent.version or "unknown",
            "model_info": _model_info(trial.agent.model),
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


def _shown_name(agent: AgentRecord) -> str:
    return agent.arm or agent.name


def _agent_config(agent: AgentRecord) -> JsonObject:
    kwargs: JsonObject = dict(agent.parameters)
    if _shown_name(agent) != agent.name:
        kwargs["agent"] = agent.name
    return {"name": _shown_name(agent), "model_name": agent.model or None, "kwargs": kwargs}


def _model_info(model: str) -> JsonObject | None:
    if not model:
        return None
    provider, slash, name = model.partition("/")
    return {"name": name, "provider": provider} if slash else {"name": model, "provider": None}


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


def _numbers(rewards: Rewards | None) -> dict[str, float | int] | None:
    """JSON has no word for a NaN or an infinity, and Harbor never records a table that holds one: it is no
    reward.
    """
    if rewards is None or not all(math.isfinite(value) for value in rewards.values()):
        return None
    return {key: int(value) if isinstance(value, bool) else value for key, value in rewards.items()}


def _verifier_result(rewards: Rewards | None) -> JsonObject | None:
    numbers = _numbers(rewards)
    return None if numbers is None else {"rewards": numbers}


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


# --- statistics, counted as Harbor counts them --------------------------------------------------------------


def _failures(trial: TrialRecord) -> list[FailureRecord]:
    found = [trial.failure, *(step.failure for step in trial.steps)]
    return [failure for failure in found if failure is not None]


def _valid_rewards(trial: TrialRecord) -> dict[str, float | int] | None:
    if not all(failure.reward_counts for failure in _failures(trial)):
        return None
    return _numbers(trial.rewards) or None


def _usages(trial: TrialRecord) -> list[UsageRecord]:
    found = [trial.usage] if trial.usage is not None else [step.usage for step in trial.steps]
    return [usage for usage in found if usage is not None]


def _total(values: Iterable[float | int | None]) -> float | int | None:
    counted = [value for value in values if value is not None]
    return sum(counted) if counted else None


def _stats(job: JobRecord, trials: Sequence[TrialRecord], running: int) -> JsonObject:
    usages = [usage for trial in trials for usage in _usages(trial)]
    types = [{failure.type for failure in _failures(trial)} for trial in trials]
    groups: dict[str, list[TrialRecord]] = {}
    for trial in trials:
        groups.setdefault(_group(trial), []).append(trial)
    return {
        "n_completed_trials": len(trials),
        "n_errored_trials": sum(1 for found in types if found),
        "n_running_trials": running,
        "n_pending_trials": max(job.total_trials - len(trials) - running, 0),
        "n_cancelled_trials": sum(1 for found in types if CANCELLED in found),
        "n_retries": job.retries,
        "evals": {group: _evaluation(members) for group, members in groups.items()},
        "n_input_tokens": _total(usage.input_tokens for usage in usages),
        "n_cache_tokens": _total(usage.cache_tokens for usage in usages),
        "n_output_tokens": _total(usage.output_tokens for usage in usages),
        "cost_usd": _total(usage.cost_usd for usage in usages),
    }


def _group(trial: TrialRecord) -> str:
    """`agent__model__dataset`, the model without its provider, or `agent__dataset`."""
    model = _model_info(trial.agent.model)
    parts = [
        _shown_name(trial.agent),
        *([model["name"]] if model else []),
        trial.dataset or DATASET_OF_LOOSE_TASKS,
    ]
    return "__".join(parts)


def _evaluation(trials: Sequence[TrialRecord]) -> JsonObject:
    rewarded = [(trial, rewards) for trial in trials if (rewards := _valid_rewards(trial)) is not None]
    by_value: dict[str, dict[float | int, list[str]]] = {}
    for trial, rewards in rewarded:
        for key, value in rewards.items():
            by_value.setdefault(key, {}).setdefault(value, []).append(trial.trial_name)
    by_type: dict[str, list[str]] = {}
    for trial in trials:
        for name in sorted({failure.type for failure in _failures(trial)}):
            by_type.setdefault(name, []).append(trial.trial_name)
    return {
        "n_trials": len(rewarded),
        "n_errors": sum(1 for trial in trials if _failures(trial)),
        "metrics": _means([rewards for _, rewards in rewarded]),
        "pass_at_k": _pass_at_k(rewarded),
        "reward_stats": {
            key: {str(value): names for value, names in values.items()} for key, values in by_value.items()
        },
        "exception_stats": by_type,
    }


def _means(tables: Sequence[Mapping[str, float | int]]) -> list[JsonObject]:
    if not tables:
        return []
    keys = sorted({key for table in tables for key in table})
    means = {key: sum(table.get(key, 0) for table in tables) / len(tables) for key in keys}
    return [{"mean": means[keys[0]]} if len(keys) == 1 else means]


def _pass_at_k(rewarded: Sequence[tuple[TrialRecord, Mapping[str, float | int]]]) -> dict[str, float]:
    """For k = 2, 4, 8, … and 5, 10, 15, … as far as every task has trials; none unless each reward is one 0
    or 1.
    """
    passes: dict[str, list[bool]] = {}
    for trial, rewards in rewarded:
        values = list(rewards.values())
        if len(values) != 1 or values[0] not in (0, 1):
            return {}
        passes.setdefault(trial.task_name, []).append(values[0] == 1)
    if not passes:
        return {}
    least = min(len(tries) for tries in passes.values())
    doubling = [2**power for power in range(1, least.bit_length())]
    chosen = sorted({*(k for k in doubling if k <= least), *range(5, least + 1, 5)})
    return {str(k): sum(_any_of(len(tries), sum(tries), k) for tries in passes.values()) / len(passes) for k in chosen}


def _any_of(tries: int, passed: int, k: int) -> float:
    """The chance that k tries drawn from these, none twice, hold at least one pass."""
    return 1 - math.comb(tries - passed, k) / math.comb(tries, k)
