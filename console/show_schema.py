"""What `trialdeck show --json` prints: schema `trialdeck.show/1`. Every field is described in `docs/show-json.md`.

Every field is always there; null is unknown or none, never zero. A field may be added within version 1; none changes
its meaning or goes.
"""

from __future__ import annotations

from datetime import datetime

import msgspec

SCHEMA = "trialdeck.show/1"


class _Shown(msgspec.Struct, frozen=True, kw_only=True):
    pass


class EvidenceFacts(_Shown, frozen=True, kw_only=True):
    label: str
    text: str
    file: str
    line: int


class IssueFacts(_Shown, frozen=True, kw_only=True):
    severity: str
    phase: str | None
    code: str
    message: str
    service: str
    step: str
    evidence: tuple[EvidenceFacts, ...]


class PhaseFacts(_Shown, frozen=True, kw_only=True):
    phase: str
    step: str
    started_at: datetime
    seconds: float | None
    limit_sec: float | None
    ok: bool


class ServiceFacts(_Shown, frozen=True, kw_only=True):
    service: str
    environment: str
    state: str
    exit_code: int | None
    detail: str
    out_of_memory: bool
    peak_cpu_percent: float
    peak_memory_bytes: int
    memory_limit_bytes: int
    network_bytes: int
    block_bytes: int


class HookFacts(_Shown, frozen=True, kw_only=True):
    number: int
    of: int
    service: str
    command: str
    exit_code: int | None
    seconds: float | None
    timed_out: bool
    output: str
    step: str


class ArtifactFacts(_Shown, frozen=True, kw_only=True):
    service: str
    source: str
    status: str
    bytes: int
    sha256: str
    note: str
    step: str


class ChangedFiles(_Shown, frozen=True, kw_only=True):
    added: int
    changed: int
    deleted: int
    unseen: tuple[str, ...]


class EarlierFacts(_Shown, frozen=True, kw_only=True):
    run_number: int
    state: str
    reason: str
    folder: str
    reward: float | None
    cost_usd: float | None
    cost_partial: bool
    cause: str
    by: str


class TrialFacts(_Shown, frozen=True, kw_only=True):
    trial: str
    folder: str
    task: str
    arm: str
    attempt: int
    position: int
    category: str
    difficulty: str
    state: str
    passed: bool | None
    reward: float | None
    rewards: dict[str, float]
    step_rewards: dict[str, dict[str, float]]
    tests_passed: int | None
    tests_total: int | None
    timed_out: bool
    ran_beside: float | None
    run_number: int
    started_at: datetime | None
    finished_at: datetime | None
    seconds: float | None
    phase: str | None
    step: str
    activity: str
    waiting_for: str
    phases: tuple[PhaseFacts, ...]
    agent_exit: int | None
    agent_seconds: float | None
    agent_steps: int
    tokens_in: int | None
    tokens_cached: int | None
    tokens_cache_written: int | None
    tokens_out: int | None
    tokens_reasoning: int | None
    cost_usd: float | None
    cost_partial: bool
    cost_source: str
    discarded_cost_usd: float | None
    discarded_cost_partial: bool
    model_calls: int | None
    model_failures: int
    model_retries: int
    cpus: float
    memory_mb: int
    limits: dict[str, float]
    services: tuple[ServiceFacts, ...]
    issues: tuple[IssueFacts, ...]
    hooks: tuple[HookFacts, ...]
    artifacts: tuple[ArtifactFacts, ...]
    files_changed: ChangedFiles | None
    kept: bool
    earlier: tuple[EarlierFacts, ...]
    cause: str | None
    settled: bool
    decided: bool


class ArmFacts(_Shown, frozen=True, kw_only=True):
    name: str
    agent: str
    agent_version: str
    model: str
    parameters: dict[str, str]
    assigned: int
    finished: int
    completed: int
    scored: int
    excluded: int
    passed: int
    failed: int
    unscored: int
    refused: int
    cancelled: int
    rate: float | None
    interval: tuple[float, float] | None
    interval_method: str
    rate_completed: float | None
    bounds: tuple[float, float] | None
    cost_usd: float | None
    cost_discarded_usd: float
    cost_known: int
    cost_unknown: int
    cost_per_resolved_usd: float | None
    cost_is_lower_bound: bool


class TaskSetFacts(_Shown, frozen=True, kw_only=True):
    name: str
    version: str
    digest: str


class HostFacts(_Shown, frozen=True, kw_only=True):
    name: str
    cpus: float
    memory_mb: int
    docker: str
    compose: str


class SeverityCounts(_Shown, frozen=True, kw_only=True):
    fatal: int
    error: int
    warning: int


class RunFacts(_Shown, frozen=True, kw_only=True):
    id: str
    name: str
    folder: str
    source: str
    kind: str
    identity: str
    engine_version: str
    card_digest: str
    state: str
    cause: str
    exit_code: int | None
    reason: str
    started_at: datetime | None
    last_event_at: datetime | None
    seconds: float | None
    sessions: int
    tasks: int
    attempts: int
    planned: int
    done: int
    trials_by_state: dict[str, int]
    concurrency: int
    seed: int
    timeout_factor: float
    max_cost_usd: float | None
    cost_usd: float | None
    cost_unknown: int
    issue_counts: SeverityCounts
    issues: tuple[IssueFacts, ...]
    host: HostFacts


class ShowDocument(_Shown, frozen=True, kw_only=True):
    schema: str = SCHEMA
    run: RunFacts
    task_set: TaskSetFacts
    arms: tuple[ArmFacts, ...]
    trials: tuple[TrialFacts, ...]
