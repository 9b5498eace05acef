"""What a Harbor-shaped file is made from: records of a run and of its trials, with no tie to how we keep them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

import msgspec

Rewards = Mapping[str, float | int]


class Span(msgspec.Struct, frozen=True, kw_only=True):
    """When a phase began and ended. Both with a time zone; no end means that it still runs."""

    started_at: datetime | None = None
    finished_at: datetime | None = None


class AgentRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One arm. `model` is "provider/name" or "name". `parameters` are written as they are: no secrets.

    Harbor's tables tell arms apart by agent name and model alone, so `arm`, where given, is the name shown.
    """

    name: str
    arm: str = ""
    version: str = ""
    model: str = ""
    parameters: Mapping[str, str | int | float | bool] = {}


class FailureRecord(msgspec.Struct, frozen=True, kw_only=True):
    """Why a trial or a step didn't go as it should. `type` is a name such as `exception_type` gives."""

    type: str
    message: str
    occurred_at: datetime
    traceback: str = ""
    reward_counts: bool = False


class UsageRecord(msgspec.Struct, frozen=True, kw_only=True):
    """`input_tokens` includes `cache_tokens`. None where nobody counted; a cost that is known in part is None as well.
    `more` is what Harbor has no field for."""

    input_tokens: int | None = None
    cache_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    more: Mapping[str, str | int | float] = {}


class StepRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One step of a multi-step task. `usage` is None where the agent didn't run."""

    name: str
    rewards: Rewards | None = None
    failure: FailureRecord | None = None
    usage: UsageRecord | None = None
    agent_execution: Span | None = None
    verifier: Span | None = None


class TrialRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One attempt of one arm on one task, as far as it is known: at its start little more than names.

    `trial_name` is the name of the trial's folder, `task_digest` a SHA-256 with or without "sha256:" in
    front, `verifier_mode` "shared", "separate" or "" (multi-step). In a multi-step trial `rewards` is the
    trial's own, `usage` stays None and the steps carry theirs.
    """

    task_name: str
    trial_name: str
    task_path: str
    task_digest: str
    agent: AgentRecord
    dataset: str = ""
    rewards: Rewards | None = None
    failure: FailureRecord | None = None
    usage: UsageRecord | None = None
    started_at: datetime | None = None
    finished_at: datetime | None = None
    environment_setup: Span | None = None
    agent_setup: Span | None = None
    agent_execution: Span | None = None
    verifier: Span | None = None
    verifier_mode: str = ""
    steps: Sequence[StepRecord] = ()


class JobRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A run. `name` is the name of its folder, `folder` the folder's path, `task_paths` are tasks named one
    by one and `dataset_paths` folders of tasks. `finished_at` stays None until the run came to its own end.
    """

    run_id: str
    name: str
    folder: str
    started_at: datetime
    total_trials: int
    agents: Sequence[AgentRecord]
    updated_at: datetime | None = None
    finished_at: datetime | None = None
    task_paths: Sequence[str] = ()
    dataset_paths: Sequence[str] = ()
    attempts: int = 1
    concurrency: int = 1
    timeout_factor: float = 1.0
    retries: int = 0
