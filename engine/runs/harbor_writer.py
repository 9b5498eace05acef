"""Writes the run the way Harbor's viewer reads it, from the state that the events add up to."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path

from engine.issues import Phase, Severity
from engine.layout import CONFIG, RESULT
from engine.runs.atomic_file import write_json
from engine.runs.card import RunCard
from engine.runs.harbor_files import (
    job_config,
    job_lock,
    job_result,
    trial_config,
    trial_lock,
    trial_result,
)
from engine.runs.harbor_names import exception_type
from engine.runs.harbor_records import AgentRecord, FailureRecord, JobRecord, Span, StepRecord, TrialRecord, UsageRecord
from engine.runs.plan import Plan
from engine.state import RunState
from engine.tasks.task import Step
from engine.tasks.verifier_image import verifier_image
from engine.trial_state import RUNNING, TrialState

LOCK = "lock.json"
REWRITE_SEC = 2.0
"""The run's own result is rewritten at most this often while it lasts; it is made anew from all trials each time."""


class HarborWriter:
    """`config.json`, `lock.json` and `result.json` of the run and of each trial. Raises OSError."""

    def __init__(self, folder: Path, card: RunCard, plan: Plan, state: RunState) -> None:
        self.folder = folder
        self.card = card
        self.state = state
        self._plan = plan
        self._tasks = {planned.trial: planned.task for planned in plan.trials}
        self._digests = {task.id: task.digest for task in card.tasks}
        self._folders = {task.id: task.folder for task in card.tasks}
        self._records: dict[str, TrialRecord] = {}
        self._written = 0.0

    def run_started(self) -> None:
        write_json(self.folder / CONFIG, job_config(self._job()))
        write_json(self.folder / LOCK, job_lock(self._job(), [self._record(trial) for trial in self._runnable()]))
        for name, trial in self.state.trials.items():  # decided when an engine was killed, before this was written
            if trial.done and trial.started_at is not None and not (self.folder / name / RESULT).is_file():
                self.trial_finished(name)
        self.write_result(now=True)

    def trial_started(self, trial: str) -> None:
        folder = self.folder / trial
        folder.mkdir(parents=True, exist_ok=True)
        record = self._record(trial)
        write_json(folder / LOCK, trial_lock(self._job(), record))
        write_json(folder / CONFIG, trial_config(self._job(), record))
        self.write_result()

    def trial_finished(self, trial: str) -> None:
        folder = self.folder / trial
        if not (folder / CONFIG).is_file():
            self.trial_started(trial)
        record = self._records[trial] = self._record(trial)
        write_json(folder / RESULT, trial_result(self._job(), record))
        self.write_result()

    def write_result(self, *, now: bool = False, finished: bool = False) -> None:
        if not now and time.monotonic() - self._written < REWRITE_SEC:
            return
        self._written = time.monotonic()
        ended = [
            self._records.get(name) or self._record(name) for name, trial in self.state.trials.items() if trial.done
        ]
        job = self._job(finished_at=self.state.last_event_at if finished else None)
        write_json(self.folder / RESULT, job_result(job, ended, running=self.state.count(RUNNING)))

    def _runnable(self) -> list[str]:
        return [trial.trial for trial in self._plan.trials if trial.runnable]

    def _job(self, finished_at: datetime | None = None) -> JobRecord:
        card = self.card
        return JobRecord(
            run_id=card.run,
            name=self.folder.name,
            folder=str(self.folder),
            started_at=self.state.started_at or card.created,
            updated_at=self.state.last_event_at,
            finished_at=finished_at,
            total_trials=len(self.state.trials),
            agents=[_agent(arm_name, self.card) for arm_name in (arm.name for arm in card.arms)],
            task_paths=[task.folder for task in card.tasks],
            attempts=card.attempts,
            concurrency=card.conduct.concurrency,
            timeout_factor=card.timeout_factor,
        )

    def _record(self, name: str) -> TrialRecord:
        trial = self.state.trials[name]
        planned = self._tasks[name]
        task = planned.task
        mode = ""
        if task is not None and not task.steps:
            mode = "separate" if verifier_image(task) is not None else "shared"
        spans = {phase: _span(trial, phase) for phase in Phase}
        return TrialRecord(
            task_name=(task.name if task is not None and task.name else planned.id),
            trial_name=name,
            task_path=self._folders.get(planned.id, planned.id),
            task_digest=self._digests.get(planned.id) or "0" * 64,
            agent=_agent(trial.arm, self.card),
            dataset=self.card.task_set.name,
            rewards=_rewards(trial),
            failure=_failure(trial),
            usage=None if task is not None and task.steps else _usage(trial),
            started_at=trial.started_at,
            finished_at=trial.finished_at,
            environment_setup=spans[Phase.PREPARE],
            agent_execution=spans[Phase.AGENT],
            verifier=spans[Phase.VERIFY],
            verifier_mode=mode,
            steps=_steps(trial, task.steps if task is not None else ()),
        )


def _agent(arm: str, card: RunCard) -> AgentRecord:
    info = next(info for info in card.arms if info.name == arm)
    return AgentRecord(
        name=info.agent,
        arm=info.name if info.name != info.agent else "",
        version=info.agent_version,
        model=info.model,
        parameters=dict(info.parameters),
    )


def _span(trial: TrialState, phase: Phase, step: str | None = None) -> Span | None:
    """From the first start to the last end of a phase."""
    found = [span for span in trial.phases if span.phase is phase and step in (None, span.step)]
    if not found:
        return None
    last = found[-1]
    finished = last.started_at + timedelta(seconds=last.seconds) if last.seconds is not None else None
    return Span(started_at=found[0].started_at, finished_at=finished)


def _rewards(trial: TrialState) -> Mapping[str, float] | None:
    if trial.reward is None:
        return None
    return {**trial.rewards, "reward": trial.reward}


def _usage(trial: TrialState) -> UsageRecord:
    more = {
        "cache_written_tokens": trial.tokens_cache_written,
        "reasoning_tokens": trial.tokens_reasoning,
        "cost_source": trial.cost_source or None,
        "cost_usd_at_least": trial.cost_usd if trial.cost_partial else None,
        "model_calls": trial.model_calls,
        "model_failures": trial.model_failures or None,
        "model_retries": trial.model_retries or None,
    }
    return UsageRecord(
        input_tokens=trial.tokens_in,
        cache_tokens=trial.tokens_cached,
        output_tokens=trial.tokens_out,
        cost_usd=trial.cost_usd if trial.cost_is_complete else None,
        more={key: value for key, value in more.items() if value is not None},
    )


def _failure(trial: TrialState) -> FailureRecord | None:
    """The gravest issue, where it is more than a warning about a trial that was scored."""
    ranked = [issue for level in Severity for issue in trial.issues if issue.severity is level]
    if not ranked or trial.finished_at is None:
        return None
    worst = ranked[0]
    if worst.severity is Severity.WARNING and trial.reward is not None and not trial.timed_out:
        return None
    return FailureRecord(
        type=exception_type(str(worst.code)),
        message=worst.message,
        occurred_at=trial.finished_at,
        traceback="\n".join(f"{item.label}: {item.text}" for item in worst.evidence),
        reward_counts=trial.reward is not None,
    )


def _steps(trial: TrialState, steps: Sequence[Step]) -> list[StepRecord]:
    return [
        StepRecord(
            name=step.name,
            rewards=trial.step_rewards.get(step.name),
            usage=_usage(trial) if number == 0 else None,
            agent_execution=_span(trial, Phase.AGENT, step.name),
            verifier=_span(trial, Phase.VERIFY, step.name),
        )
        for number, step in enumerate(steps)
    ]
