"""The record of one trial: its events, its issues, its log and what it adds up to."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

import msgspec

from engine import events as ev
from engine.agents.agent import AgentConfigInvalid, AgentTraits
from engine.agents.registry import traits_of
from engine.environments.environment import Emit
from engine.issues import Issue, Phase, Severity
from engine.layout import TRIAL_LOG
from engine.spending import add_call, add_step
from engine.text import clean_line
from engine.trial.job import TrialJob
from engine.trial.log_file import LogFile


class StepVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """The verdict on one step. `reward` None: none or invalid."""

    step: str
    reward: float | None
    rewards: dict[str, float] = {}


class Record:
    """Sends a trial's events on and remembers what its result file needs.

    `emit` may be called from anywhere in the trial, the environment's watchers included.
    """

    def __init__(self, job: TrialJob, emit: Emit) -> None:
        self.job = job
        self._emit = emit
        self.folder: Path = job.folder
        self.folder.mkdir(parents=True, exist_ok=True)
        self._log = LogFile(self.folder / TRIAL_LOG, self.folder)
        self._began = time.monotonic()
        self.started_at = ev.now()
        self.finished_at: datetime | None = None
        self.issues: list[Issue] = []
        self.verdicts: list[StepVerdict] = []
        traits = _traits(job.arm)
        self._costs_nothing = traits is not None and traits.costs_nothing
        sees_calls = traits is not None and traits.calls_model
        self.steps = 0
        self.tokens_in: int | None = None
        self.tokens_cached: int | None = None
        self.tokens_cache_written: int | None = None
        self.tokens_out: int | None = None
        self.tokens_reasoning: int | None = None
        self.cost_usd: float | None = 0.0 if self._costs_nothing or sees_calls else None
        self.cost_partial = False
        self.cost_source = ""
        self.model_calls: int | None = 0 if sees_calls else None
        self.model_failures = 0
        self.model_retries = 0
        self.calls_seen = 0
        self.agent_seconds: float | None = None
        self.timed_out = False
        self.deleted: tuple[str, ...] = ()
        """Paths in `main` that were gone when the last agent had ended."""
        self.phase_now = Phase.PREPARE
        self.step_now = ""
        self.finished: ev.TrialFinished | None = None

    @property
    def trial(self) -> str:
        return self.job.trial

    @property
    def fatal(self) -> bool:
        return any(issue.severity is Severity.FATAL for issue in self.issues)

    def emit(self, event: ev.Event) -> None:
        """Send an event on; an issue that the environment raises is remembered as the trial's."""
        if isinstance(event, ev.IssueRaised):
            self.issues.append(event.issue)
            self.log(f"{event.issue.severity} {event.issue.code}: {event.issue.message}")
        self._emit(event)

    def log(self, text: str) -> None:
        """One line in `trial.log`. Never raises: a full disk takes the line, not the trial."""
        if self.finished is None:
            line = f"{ev.now().isoformat(timespec='milliseconds')} {clean_line(text)}\n"
            self._log.write("stdout", line.encode("utf-8", "replace"))

    def activity(self, text: str) -> None:
        self.emit(ev.ActivityChanged(trial=self.trial, activity=text))
        self.log(text)

    def issue(self, issue: Issue) -> None:
        if issue.phase is None:
            issue = msgspec.structs.replace(issue, phase=self.phase_now)
        if self.step_now and not issue.step:
            issue = msgspec.structs.replace(issue, step=self.step_now)
        self.emit(ev.IssueRaised(trial=self.trial, issue=issue))

    @contextmanager
    def phase(self, phase: Phase, limit_sec: float | None = None, step: str = "") -> Iterator[None]:
        """The span of a phase: its events, its time, and whether it ended well."""
        self.phase_now = phase
        self.step_now = step
        began = time.monotonic()
        self.emit(ev.PhaseStarted(trial=self.trial, phase=phase, limit_sec=limit_sec, step=step))
        self.log(f"--- {phase}{f' ({step})' if step else ''}")
        ok = False
        try:
            yield
            ok = True
        finally:
            seconds = time.monotonic() - began
            self.emit(ev.PhaseFinished(trial=self.trial, phase=phase, seconds=seconds, ok=ok, step=step))

    def stepped(self, event: ev.AgentStepped) -> None:
        add_step(self, event)
        self.emit(event)

    def called(self, event: ev.ModelCalled) -> None:
        """A call of the trial's model that the engine saw."""
        add_call(self, event)
        self.emit(event)

    def finish(self, outcome: str, reward: float | None, passed: bool | None, kept: bool) -> ev.TrialFinished:
        """The last event of the trial."""
        self.finished_at = ev.now()
        self.log(f"{outcome}, reward {'none' if reward is None else format(reward, 'g')}")
        self._log.close()
        self.finished = ev.TrialFinished(
            trial=self.trial,
            outcome=outcome,
            reward=reward,
            passed=passed,
            seconds=time.monotonic() - self._began,
            agent_seconds=self.agent_seconds,
            tokens_in=self.tokens_in,
            tokens_cached=self.tokens_cached,
            tokens_cache_written=self.tokens_cache_written,
            tokens_out=self.tokens_out,
            tokens_reasoning=self.tokens_reasoning,
            cost_usd=self.cost_usd,
            cost_partial=self.cost_partial and not self._costs_nothing,
            cost_source=self.cost_source,
            model_calls=self.model_calls,
            model_failures=self.model_failures,
            model_retries=self.model_retries,
            timed_out=self.timed_out,
            kept=kept,
        )
        return self.finished


def _traits(arm: ev.ArmInfo) -> AgentTraits | None:
    """None where the agent is gone since the run was planned."""
    try:
        return traits_of(arm)
    except AgentConfigInvalid:
        return None
