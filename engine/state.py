"""RunState: what the events so far add up to. Pure: no I/O, no clock of its own.

Screens, plain output and analysis render this and nothing else. `apply` costs a few microseconds; `take_dirty` says
which trials changed since it was last asked, so that a screen touches only those rows. What an event changes in its own
trial is in `trial_changes`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any

import msgspec

from engine import events as ev
from engine.cleaned_events import clean_issue, clean_plan
from engine.issues import Issue, Severity
from engine.text import clean_line
from engine.trial_changes import CHANGES, planned, set_aside
from engine.trial_state import (
    DONE,
    FAILED,
    INTERRUPTED,
    PASSED,
    QUEUED,
    RUNNING,
    UNSCORED,
    WAITING,
    TrialState,
)

_OnTrial = Callable[[TrialState, Any], None]
_OnRun = Callable[[Any], None]


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
        self._effects: dict[type, tuple[_OnTrial | None, _OnRun | None]] = {
            kind: (CHANGES.get(kind), getattr(self, f"_{kind.__struct_config__.tag}", None))
            for kind in ev.AnyEvent.__args__
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
        """Seconds that a run took which is over, all its sessions, else up to its last sign of life. None: nothing
        says so."""
        if self.finished is not None:
            return None if self.finished.seconds is None else self._seconds
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
        change, also = self._effects.get(kind, (None, None))
        if (trial_id or kind in _OF_A_TRIAL) and kind is not ev.TrialPlanned:
            trial = self.trials.get(trial_id)
            if trial is None:
                return
            if alive:
                trial.last_event_at = event.at
            if change is not None:
                change(trial, event)
        if also is not None:
            also(event)
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
        trial = self.trials[event.trial] = planned(event)
        arm = self.arms.setdefault(trial.arm, ArmState(info=ev.ArmInfo(name=trial.arm, agent="")))
        arm.assigned += 1
        arm.counts[QUEUED] = arm.counts.get(QUEUED, 0) + 1

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
        self._move(self.trials[event.trial], WAITING)

    def _trial_started(self, event: ev.TrialStarted) -> None:
        self._move(self.trials[event.trial], RUNNING)

    def _issue_raised(self, event: ev.IssueRaised) -> None:
        issue = clean_issue(event.issue)
        self.trials[event.trial].issues.append(issue)
        self.severities[issue.severity] += 1
        self.feed.append(Warned(at=event.at, trial=event.trial, issue=issue))
        self._dirty.add("")

    def _trial_finished(self, event: ev.TrialFinished) -> None:
        if event.outcome == "scored":
            state = PASSED if event.passed else FAILED
        else:
            state = event.outcome if event.outcome in DONE else UNSCORED
        self._move(self.trials[event.trial], state)

    def _trial_interrupted(self, event: ev.TrialInterrupted) -> None:
        old = self.trials[event.trial]
        for issue in old.issues:
            self.severities[issue.severity] -= 1
        fresh = set_aside(old, event)
        self._move(old, INTERRUPTED)
        self.trials[event.trial] = fresh

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
