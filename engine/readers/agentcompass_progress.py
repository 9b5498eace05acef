"""AgentCompass's `progress.jsonl` -> our events: attempts, phases, what they are at, retries."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import PurePosixPath
from typing import Any

from engine import events as ev
from engine.issues import Phase
from engine.readers import json_values as values
from engine.readers.agentcompass_plan import AttemptPlan, attempt_plan, trial_id
from engine.readers.foreign_times import in_utc, seconds_between
from engine.readers.json_file import NotJson, parse_json

_PHASES = {
    "plan": Phase.PREPARE,
    "open_environment": Phase.PREPARE,
    "prepare_task": Phase.PREPARE,
    "start_harness": Phase.PREPARE,
    "run_task": Phase.AGENT,
    "run_harness": Phase.AGENT,
    "collect_harness_result": Phase.COLLECT,
    "collect_artifacts": Phase.COLLECT,
    "download_artifacts": Phase.COLLECT,
    "save_evaluation_checkpoint": Phase.COLLECT,
    "recover_evaluation": Phase.VERIFY,
    "evaluate_environment": Phase.VERIFY,
    "evaluation_environment": Phase.VERIFY,
    "evaluate": Phase.VERIFY,
}
_WAITING = "retry_wait"
_OVER = frozenset({"completed", "failed", "cancelled", "timed_out"})


@dataclass(frozen=True)
class Retry:
    """An attempt that is tried again: `stage` failed, `again` is what runs anew (evaluate, attempt, …). `record` is
    the name of the file in the attempt's `retries` that keeps what was set aside."""

    trial: str
    at: datetime
    number: int
    of: int
    stage: str
    again: str
    record: str

    @property
    def all_of_it(self) -> bool:
        return self.again != "evaluate"


@dataclass
class Attempt:
    """One attempt as the events so far left it."""

    trial: str
    task: str
    attempt: int
    run_number: int = 1
    started_at: datetime | None = None
    ended_at: datetime | None = None
    phase: Phase | None = None
    phase_at: datetime | None = None
    agent_seconds: float | None = None
    plan: AttemptPlan = field(default_factory=AttemptPlan)


@dataclass(frozen=True)
class Known:
    """A task that the events name, with its category."""

    task: str
    category: str
    attempt: int = 1


Told = ev.AnyEvent | Retry | Known
"""What a line tells: an event as it is, or something that the reader still has to look into."""


class ProgressFold:
    """Folds lines in their order. A line that is cut, hostile or of a newer version tells nothing."""

    def __init__(self) -> None:
        self.attempts: dict[str, Attempt] = {}
        self.sessions = 0
        self.total_tasks: int | None = None
        self.began_at: datetime | None = None
        self.last_at: datetime | None = None
        self.ended: str = ""
        self.ended_at: datetime | None = None
        self.error = ""

    def feed(self, line: bytes) -> Iterator[Told]:
        try:
            event = parse_json(line)
        except NotJson:
            return
        at = in_utc(values.within(event, "timestamp"))
        if at is None:
            return
        self.last_at = at
        kind = values.text(values.within(event, "event"))
        payload = values.mapping(values.within(event, "payload"))
        task = values.text(values.within(event, "task_id"))
        if task:
            attempt = values.count(values.within(event, "attempt"))
            category = values.text(values.within(event, "category"))
            yield Known(task, category, attempt or 1)
            if attempt:
                yield from self._of_attempt(kind, task, attempt, at, event, payload)
        else:
            yield from self._of_run(kind, at, event, payload)

    def _of_run(self, kind: str, at: datetime, event: object, payload: dict[str, Any]) -> Iterator[Told]:
        match kind:
            case "run_started":
                self.sessions += 1
                self.began_at = self.began_at or at
                self.ended, self.ended_at = "", None
                yield ev.EngineStarted(at=at, pid=0, host="", session=self.sessions, resumed=self.sessions > 1)
            case "tasks_loaded":
                self.total_tasks = values.count(payload.get("total_tasks"))
            case "run_finished":
                said = values.text(values.within(event, "status"))
                self.ended = said if said in _OVER else "completed"
                self.ended_at = at
                self.error = values.text(payload.get("error"))

    def _of_attempt(
        self, kind: str, task: str, number: int, at: datetime, event: object, payload: dict[str, Any]
    ) -> Iterator[Told]:
        trial = trial_id(task, number)
        known = self.attempts.get(trial)
        if known is None:
            known = self.attempts[trial] = Attempt(trial, task, number)
        match kind:
            case "attempt_started":
                yield from self._start(known, at)
            case "phase_changed":
                if known.started_at is None:
                    yield from self._start(known, at)
                yield from self._change(known, values.text(values.within(event, "phase")), at, payload)
            case "execution_plan_resolved":
                known.plan = attempt_plan(payload)
            case "attempt_retry":
                yield from self._end_phase(known, at, ok=False)
                yield self._retry(known, at, payload)
            case "attempt_finished":
                failed = values.text(values.within(event, "status")) == "failed"
                yield from self._end_phase(known, at, ok=not failed)
                known.ended_at = at

    def _start(self, known: Attempt, at: datetime) -> Iterator[Told]:
        if known.started_at is not None:  # a resumed run: what it did before was set aside
            reason = "ran again after it had ended" if known.ended_at is not None else "was cut off"
            yield ev.TrialInterrupted(at=at, trial=known.trial, run_number=known.run_number, reason=reason)
            known.run_number += 1
        known.started_at, known.ended_at, known.agent_seconds = at, None, None
        known.phase, known.phase_at = None, None
        yield ev.TrialStarted(at=at, trial=known.trial, run_number=known.run_number)

    def again(self, trial: str, at: datetime, cost_usd: float | None, reason: str) -> Iterator[ev.AnyEvent]:
        """All of an attempt is tried again: what was spent on it so far stays in the books."""
        known = self.attempts[trial]
        yield ev.TrialInterrupted(
            at=at, trial=trial, run_number=known.run_number, reason=reason, folder="", cost_usd=cost_usd
        )
        known.run_number += 1
        known.agent_seconds = None
        yield ev.TrialStarted(at=at, trial=trial, run_number=known.run_number)

    def _change(self, known: Attempt, said: str, at: datetime, payload: dict[str, Any]) -> Iterator[Told]:
        if said == _WAITING:
            yield from self._end_phase(known, at, ok=False)
            delay = values.number(payload.get("retry_delay_seconds"))
            wait = f" ({delay:.0f} s)" if delay is not None else ""
            yield ev.ActivityChanged(at=at, trial=known.trial, activity=f"waiting to try again{wait}")
            return
        phase = _PHASES.get(said, known.phase or Phase.PREPARE)
        if phase is not known.phase:
            yield from self._end_phase(known, at, ok=True)
            known.phase, known.phase_at = phase, at
            limit = dict(known.plan.limits).get(phase)
            yield ev.PhaseStarted(at=at, trial=known.trial, phase=phase, limit_sec=limit)
        yield ev.ActivityChanged(at=at, trial=known.trial, activity=_activity(said, payload))

    def _end_phase(self, known: Attempt, at: datetime, *, ok: bool) -> Iterator[Told]:
        if known.phase is None:
            return
        seconds = seconds_between(known.phase_at, at) or 0.0
        if known.phase is Phase.AGENT:
            known.agent_seconds = (known.agent_seconds or 0.0) + seconds
        yield ev.PhaseFinished(at=at, trial=known.trial, phase=known.phase, seconds=seconds, ok=ok)
        known.phase, known.phase_at = None, None

    def _retry(self, known: Attempt, at: datetime, payload: dict[str, Any]) -> Retry:
        return Retry(
            trial=known.trial,
            at=at,
            number=values.count(payload.get("retry")) or 1,
            of=values.count(payload.get("max_retries")) or 0,
            stage=values.text(payload.get("stage"))[:80],
            again=values.text(payload.get("scope"))[:80],
            record=PurePosixPath(values.text(payload.get("retry_detail"))[-1_000:]).name,
        )


def _activity(said: str, payload: dict[str, Any]) -> str:
    words = said.replace("_", " ")
    source = values.text(payload.get("source"))
    return f"{words} {source}" if source and said == "download_artifacts" else words
