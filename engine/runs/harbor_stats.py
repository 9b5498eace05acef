"""The statistics of a run, counted as Harbor counts them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from engine.runs.harbor_names import CANCELLED, DATASET_OF_LOOSE_TASKS, JsonObject, model_info, shown_name
from engine.runs.harbor_records import FailureRecord, JobRecord, Rewards, TrialRecord, UsageRecord


def stats(job: JobRecord, trials: Sequence[TrialRecord], running: int) -> JsonObject:
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


def numbers(rewards: Rewards | None) -> dict[str, float | int] | None:
    """JSON has no word for a NaN or an infinity, and Harbor never records a table that holds one: it is no
    reward.
    """
    if rewards is None or not all(math.isfinite(value) for value in rewards.values()):
        return None
    return {key: int(value) if isinstance(value, bool) else value for key, value in rewards.items()}


def _failures(trial: TrialRecord) -> list[FailureRecord]:
    found = [trial.failure, *(step.failure for step in trial.steps)]
    return [failure for failure in found if failure is not None]


def _valid_rewards(trial: TrialRecord) -> dict[str, float | int] | None:
    if not all(failure.reward_counts for failure in _failures(trial)):
        return None
    return numbers(trial.rewards) or None


def _usages(trial: TrialRecord) -> list[UsageRecord]:
    found = [trial.usage] if trial.usage is not None else [step.usage for step in trial.steps]
    return [usage for usage in found if usage is not None]


def _total(values: Iterable[float | int | None]) -> float | int | None:
    counted = [value for value in values if value is not None]
    return sum(counted) if counted else None


def _group(trial: TrialRecord) -> str:
    """`agent__model__dataset`, the model without its provider, or `agent__dataset`."""
    model = model_info(trial.agent.model)
    parts = [
        shown_name(trial.agent),
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
