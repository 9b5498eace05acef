"""RunState: what the events so far add up to. Pure: no I/O, no clock of its own.

Screens, plain output and analysis render this and nothing else. `apply` costs a few microseconds; `take_dirty` says
which trials changed since it was last asked, so that a screen touches only those rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any

import msgspec

from engine import events as ev
from engine.cleaned_events import clean_issue, clean_plan
from engine.issues import Issue, Severity
from engine.spending import TOKENS, add, add_call, add_step
from engine.text import clean, clean_line
from engine.trial_state import (
    DONE,
    FAILED,
    INTERRUPTED,
    PASSED,
    QUEUED,
    RUNNING,
    UNSCORED,
    WAITING,
    EarlierRun,
    ServiceUse,
    Span,
    TrialState,
)


class ArmState(msgspec.Struct, kw_only=True):
    """Counts of one arm. `assigned` is every planned trial; `passed / assigned` is the headline."""

    info: ev.ArmInfo
    assigned: int = 0
    counts: dict[str, int] = msgspec.field(default_factory=dict)

    def count(self, *states: str) -> int:
        return sum(self.counts.get(state, 0) for state in states)

    @property
    def passed(self) -> int:
        return self.count(PASSED)

    @property
    def scored(self) -> int:
        return self.count(PASSED, FAILED)

    @property
    def finished(self) -> int:
        return self.count(*DONE)


class Warned(msgspec.Struct, frozen=True, kw_only=True):
    """A line of the feed: an issue, when it came and which trial it belongs to ("" for the run)."""

    at: datetime
    trial: str
    issue: Issue


class RunState:
    """Fold of a run's events. Feed it with `apply`; read its fields."""

    def __init__(self) -> None:
        self.plan: ev.RunPlanned | None = None
        self.trials: dict[str, TrialState] = {}
        self.arms: dict[str, ArmState] = {}
        self.feed: list[Warned] = []
        self.run_issues: list[Issue] = []
        self.host: ev.HostSampled | None = None
        self.started_at: datetime | None = None
        self.last_event_at: datetime | None = None
        self.finished: ev.RunFinished | None = None
        self._session_at: datetime | None = None
        self._earlier_seconds = 0.0
        self._seconds = 0.0
        self.engine_running = False
        self.sessions = 0
        self.paused = False
        self.cancelling = False
        self.concurrency = 0
        self.severities: dict[Severity, int] = dict.fromkeys(Severity, 0)
        self.events = 0
        self._dirty: set[str] = set()
        self._handlers: dict[type, Callable[[Any], None]] = {
            kind: getattr(self, f"_{kind.__struct_config__.tag}")
            for kind in ev.AnyEvent.__args__
            if hasattr(self, f"_{kind.__struct_config__.tag}")
        }

    # --- reading ---

    def take_dirty(self) -> set[str]:
        """Trials that changed since the last call; "" stands for the run itself."""
        dirty, self._dirty = self._dirty, set()
        return dirty

    def count(self, *states: str) -> int:
        return sum(arm.count(*states) for arm in self.arms.values())

    @property
    def done(self) -> int:
        return self.count(*DONE)

    @property
    def cost_usd(self) -> float | None:
        """All known spend so far, discarded runs of trials included. None: nothing is known."""
        known = [
            cost
            for trial in self.trials.values()
            for cost in (trial.cost_usd, trial.discarded_cost_usd)
            if cost is not None
        ]
        return sum(known) if known else None

    @property
    def cost_unknown(self) -> int:
        """Trials that ran and whose cost is not known, or not all of it."""
        return sum(
            1
            for trial in self.trials.values()
            if trial.discarded_cost_partial or (trial.ran and not trial.cost_is_complete)
        )

    def elapsed(self, now: datetime) -> float | None:
        """Seconds for which an engine worked on the run: all its sessions, without the time between them. None where
        nothing says so, as in a table of results."""
        if self._session_at is not None:
            return self._seconds + max(0.0, (now - self._session_at).total_seconds())
        return self._seconds if self._seconds or self.started_at is not None else None

    @property
    def took(self) -> float | None:
        """Seconds that a run took which is over, else up to its last sign of life. None: nothing says so."""
        if self.finished is not None:
            return self.finished.seconds
        return self.elapsed(self.last_event_at) if self.last_event_at is not None else None

    # --- folding ---

    def apply_all(self, events: Iterable[ev.Event]) -> None:
        for event in events:
            self.apply(event)

    def apply(self, event: ev.Event) -> None:
        """Never raises on an event of our types, whatever the order: what refers to an unknown trial is passed over."""
        self.events += 1
        kind = type(event)
        trial_id: str = getattr(event, "trial", "")
        alive = kind is not ev.HostSampled and kind is not ev.EnvironmentGone
        if (trial_id or kind in _OF_A_TRIAL) and kind is not ev.TrialPlanned:
            trial = self.trials.get(trial_id)
            if trial is None:
                return
            if alive:
                trial.last_event_at = event.at
        handler = self._handlers.get(kind)
        if handler is not None:
            handler(event)
        if alive:
            self.last_event_at = event.at
        self._dirty.add(trial_id)

    def _move(self, trial: TrialState, state: str) -> None:
        counts = self.arms[trial.arm].counts
        counts[trial.state] = counts.get(trial.state, 0) - 1
        counts[state] = counts.get(state, 0) + 1
        trial.state = state
        self._dirty.add("")

    def _run_planned(self, event: ev.RunPlanned) -> None:
        self.plan = clean_plan(event)
        self.concurrency = event.concurrency
        for arm in self.plan.arms:
            self.arms.setdefault(arm.name, ArmState(info=arm)).info = arm

    def _trial_planned(self, event: ev.TrialPlanned) -> None:
        if event.trial in self.trials:
            return
        name = clean_line(event.arm)
        arm = self.arms.setdefault(name, ArmState(info=ev.ArmInfo(name=name, agent="")))
        arm.assigned += 1
        arm.counts[QUEUED] = arm.counts.get(QUEUED, 0) + 1
        self.trials[event.trial] = TrialState(
            trial=event.trial,
            task=clean_line(event.task),
            arm=name,
            attempt=event.attempt,
            position=event.position,
            cpus=event.cpus,
            memory_mb=event.memory_mb,
            limits=event.limits,
            category=clean_line(event.category),
            difficulty=clean_line(event.difficulty),
        )

    def _engine_started(self, event: ev.EngineStarted) -> None:
        if self._session_at is not None and self.last_event_at is not None:  # the one before left without a word
            self._end_session((self.last_event_at - self._session_at).total_seconds())
        self._earlier_seconds = self._seconds
        self._session_at = event.at
        self.engine_running = True
        self.sessions = event.session
        self.finished = None
        self.paused = False
        self.cancelling = False
        self.started_at = self.started_at or event.at

    def _engine_stopped(self, event: ev.EngineStopped) -> None:
        self.engine_running = False
        if self._session_at is not None:
            self._end_session((event.at - self._session_at).total_seconds())

    def _end_session(self, seconds: float) -> None:
        self._seconds = self._earlier_seconds + max(0.0, seconds)
        self._session_at = None

    def _host_sampled(self, event: ev.HostSampled) -> None:
        self.host = event

    def _run_issue(self, event: ev.RunIssue) -> None:
        issue = clean_issue(event.issue)
        self.run_issues.append(issue)
        self.severities[issue.severity] += 1
        self.feed.append(Warned(at=event.at, trial="", issue=issue))

    def _run_paused(self, event: ev.RunPaused) -> None:
        self.paused = True

    def _run_continued(self, event: ev.RunContinued) -> None:
        self.paused = False

    def _concurrency_changed(self, event: ev.ConcurrencyChanged) -> None:
        self.concurrency = event.concurrency

    def _cancel_requested(self, event: ev.CancelRequested) -> None:
        if not event.trial:
            self.cancelling = True

    def _run_finished(self, event: ev.RunFinished) -> None:
        self.finished = msgspec.structs.replace(event, reason=clean_line(event.reason))
        self.paused = False
        self._end_session(event.seconds or 0.0)

    def _trial_waiting(self, event: ev.TrialWaiting) -> None:
        trial = self.trials[event.trial]
        trial.waiting_for = clean_line(event.reason)
        self._move(trial, WAITING)

    def _trial_started(self, event: ev.TrialStarted) -> None:
        trial = self.trials[event.trial]
        self._move(trial, RUNNING)
        trial.run_number = event.run_number
        trial.project = clean_line(event.project)
        trial.started_at = None if event.untimed else event.at
        trial.waiting_for = ""
        trial.activity = ""
        trial.phases.clear()  # what was observed from outside gives way to the trial's own account

    def _phase_started(self, event: ev.PhaseStarted) -> None:
        trial = self.trials[event.trial]
        trial.phase = event.phase
        trial.step = clean_line(event.step)
        trial.activity = ""
        trial.activity_at = event.at
        for span in trial.phases:
            if span.phase == event.phase and span.step == trial.step and span.started_at > event.at:
                span.started_at, span.limit_sec, span.seconds, span.ok = event.at, event.limit_sec, None, True
                return
        trial.phases.append(Span(phase=event.phase, started_at=event.at, step=trial.step, limit_sec=event.limit_sec))

    def _phase_finished(self, event: ev.PhaseFinished) -> None:
        trial = self.trials[event.trial]
        step = clean_line(event.step)
        for span in reversed(trial.phases):
            if span.phase == event.phase and span.step == step and span.seconds is None:
                span.seconds = event.seconds
                span.ok = event.ok
                break
        if trial.phase == event.phase:
            trial.phase = None
            trial.activity = ""

    def _activity_changed(self, event: ev.ActivityChanged) -> None:
        trial = self.trials[event.trial]
        trial.activity = clean_line(event.activity, 200)
        trial.activity_at = event.at

    def _use(self, trial: TrialState, service: str, environment: str) -> ServiceUse:
        name = clean_line(service)
        key = name if environment == "agent" else f"{clean_line(environment)}:{name}"
        use = trial.services.get(key)
        if use is None:
            use = trial.services[key] = ServiceUse(service=name, environment=clean_line(environment))
        return use

    def _service_changed(self, event: ev.ServiceChanged) -> None:
        use = self._use(self.trials[event.trial], event.service, event.environment)
        if event.state == "oom":
            use.out_of_memory = True
        else:
            use.state = clean_line(event.state)
        use.exit_code = event.exit_code
        use.detail = clean_line(event.detail)
        use.container = clean_line(event.container) or use.container

    def _resource_sampled(self, event: ev.ResourceSampled) -> None:
        trial = self.trials[event.trial]
        if trial.state in DONE:
            return
        use = self._use(trial, event.service, event.environment)
        use.sampled = True
        use.cpu_percent = event.cpu_percent
        use.cpu_limit = event.cpu_limit
        use.memory_bytes = event.memory_bytes
        use.memory_limit = event.memory_limit
        use.pids = event.pids
        use.network_bytes = event.network_rx + event.network_tx
        use.block_bytes = event.block_read + event.block_write
        use.peak_cpu_percent = max(use.peak_cpu_percent, event.cpu_percent)
        use.peak_memory_bytes = max(use.peak_memory_bytes, event.memory_bytes)

    def _resource_peaked(self, event: ev.ResourcePeaked) -> None:
        use = self._use(self.trials[event.trial], event.service, event.environment)
        use.peak_cpu_percent = max(use.peak_cpu_percent, event.cpu_percent)
        use.peak_memory_bytes = max(use.peak_memory_bytes, event.memory_bytes)
        use.memory_limit = event.memory_limit or use.memory_limit
        use.network_bytes = event.network_bytes
        use.block_bytes = event.block_bytes

    def _issue_raised(self, event: ev.IssueRaised) -> None:
        issue = clean_issue(event.issue)
        self.trials[event.trial].issues.append(issue)
        self.severities[issue.severity] += 1
        self.feed.append(Warned(at=event.at, trial=event.trial, issue=issue))
        self._dirty.add("")

    def _hook_finished(self, event: ev.HookFinished) -> None:
        cleaned = msgspec.structs.replace(
            event,
            command=clean(event.command),
            output=clean(event.output),
            service=clean_line(event.service),
            step=clean_line(event.step),
        )
        self.trials[event.trial].hooks.append(cleaned)

    def _artifact_recorded(self, event: ev.ArtifactRecorded) -> None:
        cleaned = msgspec.structs.replace(
            event,
            service=clean_line(event.service),
            source=clean_line(event.source),
            status=clean_line(event.status),
            note=clean_line(event.note),
            step=clean_line(event.step),
        )
        self.trials[event.trial].artifacts.append(cleaned)

    def _agent_stepped(self, event: ev.AgentStepped) -> None:
        add_step(self.trials[event.trial], event)

    def _model_called(self, event: ev.ModelCalled) -> None:
        add_call(self.trials[event.trial], event)

    def _agent_finished(self, event: ev.AgentFinished) -> None:
        trial = self.trials[event.trial]
        trial.agent_exit = event.exit_code
        if event.seconds is not None:
            trial.agent_seconds = (trial.agent_seconds or 0.0) + event.seconds
        trial.timed_out = trial.timed_out or event.timed_out

    def _files_changed(self, event: ev.FilesChanged) -> None:
        unseen = tuple(clean_line(place) for place in event.unseen)
        self.trials[event.trial].files_changed = msgspec.structs.replace(event, unseen=unseen)

    def _reward_recorded(self, event: ev.RewardRecorded) -> None:
        trial = self.trials[event.trial]
        trial.reward = event.reward
        trial.rewards = {clean_line(name): value for name, value in event.rewards.items()}
        if event.step and event.reward is not None:
            trial.step_rewards[clean_line(event.step)] = {**trial.rewards, "reward": event.reward}
        if event.tests_total is not None:
            trial.tests_passed = event.tests_passed
            trial.tests_total = event.tests_total

    def _trial_finished(self, event: ev.TrialFinished) -> None:
        trial = self.trials[event.trial]
        if event.outcome == "scored":
            state = PASSED if event.passed else FAILED
        else:
            state = event.outcome if event.outcome in DONE else UNSCORED
        self._move(trial, state)
        trial.reward = event.reward
        trial.passed = event.passed
        trial.seconds = event.seconds
        trial.finished_at = None if event.untimed else event.at
        trial.phase = None
        trial.activity = ""
        trial.timed_out = event.timed_out
        trial.agent_seconds = _known(event.agent_seconds, trial.agent_seconds)
        for name in TOKENS:
            setattr(trial, name, _known(getattr(event, name), getattr(trial, name)))
        if event.cost_usd is not None:
            trial.cost_usd, trial.cost_partial = event.cost_usd, event.cost_partial
            trial.cost_source = clean_line(event.cost_source) or trial.cost_source
        trial.model_calls = _known(event.model_calls, trial.model_calls)
        trial.model_failures = max(event.model_failures, trial.model_failures)
        trial.model_retries = max(event.model_retries, trial.model_retries)
        trial.kept = event.kept and not trial.kept_gone
        for span in trial.phases:
            if span.seconds is None:  # it ended by force: nobody measured it
                span.seconds, span.ok = max(0.0, (event.at - span.started_at).total_seconds()), False
        for use in trial.services.values():
            use.sampled = False

    def _rerun_wanted(self, event: ev.RerunWanted) -> None:
        self.trials[event.trial].rerun = msgspec.structs.replace(
            event, cause=clean_line(event.cause), by=clean_line(event.by)
        )

    def _trial_interrupted(self, event: ev.TrialInterrupted) -> None:
        """The trial is as good as new; what it cost stays in the books."""
        old = self.trials[event.trial]
        for issue in old.issues:
            self.severities[issue.severity] -= 1
        earlier = EarlierRun(
            run_number=event.run_number,
            state=old.state if old.done else INTERRUPTED,
            reason=clean_line(event.reason),
            folder=clean_line(event.folder),
            reward=old.reward,
            cost_usd=_known(event.cost_usd, old.cost_usd),
            cost_partial=event.cost_partial or old.cost_partial,
            cause=old.rerun.cause if old.rerun is not None else "",
            by=old.rerun.by if old.rerun is not None else "",
        )
        self._move(old, INTERRUPTED)
        spent = old.cost_usd if event.cost_usd is None else event.cost_usd
        fresh = TrialState(
            trial=old.trial,
            task=old.task,
            arm=old.arm,
            attempt=old.attempt,
            position=old.position,
            category=old.category,
            difficulty=old.difficulty,
            cpus=old.cpus,
            memory_mb=old.memory_mb,
            limits=old.limits,
            state=INTERRUPTED,
            run_number=event.run_number,
            discarded_cost_usd=add(old.discarded_cost_usd, spent),
            discarded_cost_partial=old.discarded_cost_partial or earlier.cost_partial,
            earlier=[*old.earlier, earlier],
        )
        self.trials[event.trial] = fresh

    def _environment_gone(self, event: ev.EnvironmentGone) -> None:
        """It may go before the end of its trial is told."""
        trial = self.trials[event.trial]
        uses = [use for use in trial.services.values() if use.environment == "agent"]
        if not event.container or clean_line(event.container) not in [use.container for use in uses]:
            return
        trial.kept = False
        trial.kept_gone = clean_line(event.reason) or "removed"
        for use in uses:
            use.state = "removed"

    def _trial_withdrawn(self, event: ev.TrialWithdrawn) -> None:
        old = self.trials.pop(event.trial)
        arm = self.arms[old.arm]
        arm.assigned -= 1
        arm.counts[old.state] -= 1
        for issue in old.issues:
            self.severities[issue.severity] -= 1
        self._dirty.add("")


_OF_A_TRIAL = frozenset(
    kind for kind in ev.AnyEvent.__args__ if "trial" in kind.__struct_fields__ and kind is not ev.CancelRequested
)
"""Events that mean nothing without their trial; a request to cancel may be for the whole run."""


def _known(new: float | Any | None, old: float | Any | None) -> Any:
    """What is unknown at the end takes nothing away from what was known before."""
    return old if new is None else new
