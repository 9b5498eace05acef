"""One trial as its events add up so far: part of `RunState`, with no I/O and no clock of its own."""

from __future__ import annotations

from datetime import datetime

import msgspec

from engine import events as ev
from engine.issues import Issue, Phase, Severity

QUEUED = "queued"
WAITING = "waiting"
RUNNING = "running"
PASSED = "passed"
FAILED = "failed"
UNSCORED = "unscored"
REFUSED = "refused"
CANCELLED = "cancelled"
INTERRUPTED = "interrupted"

STATES = (QUEUED, WAITING, RUNNING, PASSED, FAILED, UNSCORED, REFUSED, CANCELLED, INTERRUPTED)

DONE = frozenset({PASSED, FAILED, UNSCORED, REFUSED, CANCELLED})
"""States of a trial that will not run (again) in this run, unless someone asks for it."""


class Span(msgspec.Struct, kw_only=True):
    """One phase of a trial (of one step, in a multi-step task). `seconds` is None while it lasts."""

    phase: Phase
    started_at: datetime
    step: str = ""
    limit_sec: float | None = None
    seconds: float | None = None
    ok: bool = True


class ServiceUse(msgspec.Struct, kw_only=True):
    """One service: its state, its last sample and its peaks. Bytes; CPU in percent of one core."""

    service: str
    environment: str = "agent"
    state: str = "created"
    exit_code: int | None = None
    detail: str = ""
    container: str = ""
    cpu_percent: float = 0
    cpu_limit: float = 0
    memory_bytes: int = 0
    memory_limit: int = 0
    pids: int = 0
    network_bytes: int = 0
    block_bytes: int = 0
    peak_cpu_percent: float = 0
    peak_memory_bytes: int = 0
    out_of_memory: bool = False
    sampled: bool = False


class EarlierRun(msgspec.Struct, frozen=True, kw_only=True):
    """A run of a trial that another one followed; its files are in `folder`, relative to the run folder. `state` is
    what it ended as, `reason` why it was set aside. `cause` is set where a person wanted it rerun for that."""

    run_number: int
    state: str
    reason: str
    folder: str = ""
    reward: float | None = None
    cost_usd: float | None = None
    cost_partial: bool = False
    cause: str = ""
    by: str = ""


class TrialState(msgspec.Struct, kw_only=True):
    """One trial as it stands. `state` is one of the words above; `phase` is None outside of a phase. Tokens, costs and
    calls of the model as `engine.spending.Spending` has them. `kept`: its environment was left up, and nobody told that
    it went; `kept_gone` says why one went that was."""

    trial: str
    task: str
    arm: str
    attempt: int
    position: int = 0
    category: str = ""
    difficulty: str = ""
    cpus: float = 0
    memory_mb: int = 0
    limits: dict[Phase, float] = msgspec.field(default_factory=dict)
    state: str = QUEUED
    run_number: int = 0
    project: str = ""
    phase: Phase | None = None
    step: str = ""
    activity: str = ""
    activity_at: datetime | None = None
    waiting_for: str = ""
    started_at: datetime | None = None
    finished_at: datetime | None = None
    last_event_at: datetime | None = None
    seconds: float | None = None
    agent_seconds: float | None = None
    phases: list[Span] = msgspec.field(default_factory=list)
    services: dict[str, ServiceUse] = msgspec.field(default_factory=dict)
    issues: list[Issue] = msgspec.field(default_factory=list)
    hooks: list[ev.HookFinished] = msgspec.field(default_factory=list)
    artifacts: list[ev.ArtifactRecorded] = msgspec.field(default_factory=list)
    files_changed: ev.FilesChanged | None = None
    reward: float | None = None
    rewards: dict[str, float] = msgspec.field(default_factory=dict)
    step_rewards: dict[str, dict[str, float]] = msgspec.field(default_factory=dict)
    passed: bool | None = None
    tests_passed: int | None = None
    tests_total: int | None = None
    agent_exit: int | None = None
    timed_out: bool = False
    steps: int = 0
    tokens_in: int | None = None
    tokens_cached: int | None = None
    tokens_out: int | None = None
    cost_usd: float | None = None
    discarded_cost_usd: float | None = None
    tokens_cache_written: int | None = None
    tokens_reasoning: int | None = None
    cost_partial: bool = False
    cost_source: str = ""
    discarded_cost_partial: bool = False
    model_calls: int | None = None
    model_failures: int = 0
    model_retries: int = 0
    calls_seen: int = 0
    kept: bool = False
    kept_gone: str = ""
    rerun: ev.RerunWanted | None = None
    earlier: list[EarlierRun] = msgspec.field(default_factory=list)

    @property
    def reruns(self) -> int:
        """How often a person had it run again."""
        return sum(1 for run in self.earlier if run.cause)

    @property
    def done(self) -> bool:
        return self.state in DONE

    @property
    def worst(self) -> Severity | None:
        """The gravest severity among the trial's issues."""
        found = {issue.severity for issue in self.issues}
        return next((level for level in Severity if level in found), None)

    @property
    def ran(self) -> bool:
        """It was started, or has a verdict: other systems and tables needn't tell when."""
        return self.started_at is not None or self.run_number > len(self.earlier) or self.passed is not None

    @property
    def cost_is_complete(self) -> bool:
        """Is `cost_usd` all that this run of it cost?"""
        return self.cost_usd is not None and not self.cost_partial

    @property
    def cpu_percent(self) -> float | None:
        """Sum over its services, in percent of one core; None before the first sample and after the end."""
        return sum(use.cpu_percent for use in self._sampled()) if self._sampled() else None

    @property
    def memory_bytes(self) -> int | None:
        return sum(use.memory_bytes for use in self._sampled()) if self._sampled() else None

    @property
    def memory_limit(self) -> int:
        """Bytes; 0 if any sampled service has no limit."""
        limits = [use.memory_limit for use in self._sampled()]
        return sum(limits) if limits and all(limits) else 0

    @property
    def out_of_memory(self) -> bool:
        return any(use.out_of_memory for use in self.services.values())

    def _sampled(self) -> list[ServiceUse]:
        return [use for use in self.services.values() if use.sampled and use.state != "removed"]

    def elapsed(self, now: datetime) -> float | None:
        """Seconds since its start, or the measured total once it is over. None: nobody knows."""
        if self.seconds is not None or self.done:
            return self.seconds
        return max(0.0, (now - self.started_at).total_seconds()) if self.started_at else None

    def phase_elapsed(self, now: datetime) -> float | None:
        """Seconds spent in the phase that lasts."""
        span = self.phases[-1] if self.phases else None
        if span is None or span.seconds is not None:
            return None
        return max(0.0, (now - span.started_at).total_seconds())

    def limit(self) -> float | None:
        """The limit of the phase that lasts, in seconds."""
        span = self.phases[-1] if self.phases else None
        return span.limit_sec if span is not None and span.seconds is None else None
