"""A run's state as the document that `trialdeck show --json` prints."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from console.run_condition import AT_AN_END, Condition
from console.show_schema import (
    ArmFacts,
    ArtifactFacts,
    ChangedFiles,
    EarlierFacts,
    EvidenceFacts,
    HookFacts,
    HostFacts,
    IssueFacts,
    PhaseFacts,
    RunFacts,
    ServiceFacts,
    SeverityCounts,
    ShowDocument,
    TaskSetFacts,
    TrialFacts,
)
from engine import trial_state
from engine.analysis.cost import cost
from engine.analysis.from_state import arm_outcomes
from engine.analysis.outcomes import TrialOutcome
from engine.analysis.rates import Rate, arm_rate, count
from engine.events import HostInfo, TaskSetInfo
from engine.issues import Issue, Severity
from engine.readers.open_run import OpenedRun, open_run
from engine.state import ArmState, RunState
from engine.text import clean_line
from engine.triage.label_book import LabelBook
from engine.triage.label_store import open_labels
from engine.triage.who import who_am_i
from engine.trial_load import running_beside
from engine.trial_state import TrialState

STATES = (
    trial_state.QUEUED,
    trial_state.WAITING,
    trial_state.RUNNING,
    trial_state.PASSED,
    trial_state.FAILED,
    trial_state.UNSCORED,
    trial_state.REFUSED,
    trial_state.CANCELLED,
    trial_state.INTERRUPTED,
)


def show_document(folder: Path, state: RunState, condition: Condition) -> ShowDocument:
    """The same folder gives the same document to the same person: others' labels are hidden as in triage, until one's
    own is set or the matter settled."""
    plan = state.plan
    task_set = plan.task_set if plan is not None else TaskSetInfo(name="")
    outcomes = arm_outcomes(state)
    opened = open_run(folder)
    book = _labels(opened)
    beside = running_beside(state.trials.values())
    return ShowDocument(
        run=_run(opened, state, condition),
        task_set=TaskSetFacts(name=clean_line(task_set.name), version=task_set.version, digest=task_set.digest),
        arms=tuple(_arm(state.arms[name], found) for name, found in outcomes.items()),
        trials=tuple(
            _trial(trial, _word(trial, condition), opened, book, beside.get(trial.trial))
            for trial in sorted(state.trials.values(), key=lambda trial: trial.position)
        ),
    )


def _word(trial: TrialState, condition: Condition) -> str:
    """Nothing runs or waits without an engine: what it was at when it went was cut off, the rest is still to come."""
    if condition.state not in AT_AN_END:
        return trial.state
    return {trial_state.RUNNING: trial_state.INTERRUPTED, trial_state.WAITING: trial_state.QUEUED}.get(
        trial.state, trial.state
    )


def _run(opened: OpenedRun, state: RunState, condition: Condition) -> RunFacts:
    folder = opened.folder
    plan, finished, seconds = state.plan, state.finished, state.took
    host = plan.host if plan is not None else HostInfo()
    words = [_word(trial, condition) for trial in state.trials.values()]
    return RunFacts(
        id=plan.run if plan is not None else "",
        name=clean_line(plan.name if plan is not None else folder.name),
        folder=clean_line(str(folder.resolve())),
        source=plan.source if plan is not None else "",
        kind=opened.kind,
        identity=clean_line(opened.identity),
        engine_version=plan.engine_version if plan is not None else "",
        card_digest=plan.card_digest if plan is not None else "",
        state=condition.state,
        cause=condition.cause,
        exit_code=finished.exit_code if finished is not None else None,
        reason=clean_line(finished.reason) if finished is not None else "",
        started_at=state.started_at,
        last_event_at=state.last_event_at,
        seconds=seconds,
        sessions=state.sessions,
        tasks=plan.tasks if plan is not None else 0,
        attempts=plan.attempts if plan is not None else 0,
        planned=max(len(state.trials), plan.trials if plan is not None else 0),
        done=state.done,
        trials_by_state={word: words.count(word) for word in STATES},
        concurrency=state.concurrency,
        seed=plan.seed if plan is not None else 0,
        timeout_factor=plan.timeout_factor if plan is not None else 1.0,
        max_cost_usd=plan.max_cost_usd if plan is not None else None,
        cost_usd=state.cost_usd,
        cost_unknown=state.cost_unknown,
        issue_counts=SeverityCounts(
            fatal=state.severities[Severity.FATAL],
            error=state.severities[Severity.ERROR],
            warning=state.severities[Severity.WARNING],
        ),
        issues=_issues(state.run_issues),
        host=HostFacts(
            name=clean_line(host.name),
            cpus=host.cpus,
            memory_mb=host.memory_mb,
            docker=host.docker,
            compose=host.compose,
        ),
    )


def _arm(arm: ArmState, outcomes: Sequence[TrialOutcome]) -> ArmFacts:
    counts, money, rate = count(outcomes), cost(outcomes), _rate(outcomes)
    return ArmFacts(
        name=clean_line(arm.info.name),
        agent=clean_line(arm.info.agent),
        agent_version=clean_line(arm.info.agent_version),
        model=clean_line(arm.info.model),
        parameters={clean_line(key): clean_line(value) for key, value in arm.info.parameters.items()},
        assigned=counts.assigned,
        finished=counts.finished,
        completed=counts.completed,
        scored=counts.scored,
        excluded=counts.excluded,
        passed=counts.passed,
        failed=arm.count(trial_state.FAILED),
        unscored=arm.count(trial_state.UNSCORED),
        refused=arm.count(trial_state.REFUSED),
        cancelled=arm.count(trial_state.CANCELLED),
        rate=counts.rate,
        interval=rate.interval if rate is not None else None,
        interval_method=rate.method if rate is not None else "",
        rate_completed=counts.rate_completed,
        bounds=counts.bounds,
        cost_usd=money.total,
        cost_discarded_usd=money.discarded,
        cost_known=money.known,
        cost_unknown=money.unknown,
        cost_per_resolved_usd=money.per_resolved,
        cost_is_lower_bound=money.is_lower_bound,
    )


def _rate(outcomes: Sequence[TrialOutcome]) -> Rate | None:
    """None for a folder that names one attempt of a task twice: no interval can be told."""
    try:
        return arm_rate(outcomes)
    except ValueError:
        return None


def _trial_folder(trial: str, opened: OpenedRun) -> str:
    """Relative to the run's folder; "" where the trial has none of its own."""
    if opened.ours:
        return trial
    try:
        relative = opened.trial_folder(trial).relative_to(opened.folder)
    except ValueError:
        return ""
    return str(relative) if relative.parts else ""


def _labels(opened: OpenedRun) -> LabelBook:
    """What people decided; none where the labels can't be read, which is no reason to show no run."""
    try:
        return LabelBook(open_labels(opened).new_labels())
    except OSError:
        return LabelBook()


def _earlier(trial: TrialState) -> tuple[EarlierFacts, ...]:
    return tuple(
        EarlierFacts(
            run_number=run.run_number,
            state=run.state,
            reason=clean_line(run.reason),
            folder=clean_line(run.folder),
            reward=run.reward,
            cost_usd=run.cost_usd,
            cost_partial=run.cost_partial,
            cause=clean_line(run.cause),
            by=clean_line(run.by),
        )
        for run in trial.earlier
    )


def _trial(trial: TrialState, word: str, opened: OpenedRun, book: LabelBook, beside: float | None) -> TrialFacts:
    viewer = who_am_i()
    return TrialFacts(
        trial=clean_line(trial.trial),
        folder=clean_line(_trial_folder(trial.trial, opened)),
        task=trial.task,
        arm=clean_line(trial.arm),
        attempt=trial.attempt,
        position=trial.position,
        category=trial.category,
        difficulty=trial.difficulty,
        state=word,
        passed=trial.passed,
        reward=trial.reward,
        rewards=trial.rewards,
        step_rewards=trial.step_rewards,
        tests_passed=trial.tests_passed,
        tests_total=trial.tests_total,
        timed_out=trial.timed_out,
        ran_beside=beside,
        run_number=trial.run_number,
        started_at=trial.started_at,
        finished_at=trial.finished_at,
        seconds=trial.seconds,
        phase=str(trial.phase) if trial.phase is not None else None,
        step=trial.step,
        activity=trial.activity,
        waiting_for=trial.waiting_for,
        phases=tuple(
            PhaseFacts(
                phase=str(span.phase),
                step=span.step,
                started_at=span.started_at,
                seconds=span.seconds,
                limit_sec=span.limit_sec,
                ok=span.ok,
            )
            for span in trial.phases
        ),
        agent_exit=trial.agent_exit,
        agent_seconds=trial.agent_seconds,
        agent_steps=trial.steps,
        tokens_in=trial.tokens_in,
        tokens_cached=trial.tokens_cached,
        tokens_cache_written=trial.tokens_cache_written,
        tokens_out=trial.tokens_out,
        tokens_reasoning=trial.tokens_reasoning,
        cost_usd=trial.cost_usd,
        cost_partial=trial.cost_partial,
        cost_source=trial.cost_source,
        discarded_cost_usd=trial.discarded_cost_usd,
        discarded_cost_partial=trial.discarded_cost_partial,
        model_calls=trial.model_calls,
        model_failures=trial.model_failures,
        model_retries=trial.model_retries,
        cpus=trial.cpus,
        memory_mb=trial.memory_mb,
        limits={str(phase): seconds for phase, seconds in trial.limits.items()},
        services=_services(trial),
        issues=_issues(trial.issues),
        hooks=_hooks(trial),
        artifacts=_artifacts(trial),
        files_changed=(
            ChangedFiles(
                added=trial.files_changed.added,
                changed=trial.files_changed.changed,
                deleted=trial.files_changed.deleted,
                unseen=trial.files_changed.unseen,
            )
            if trial.files_changed is not None
            else None
        ),
        kept=trial.kept,
        earlier=_earlier(trial),
        cause=book.cause(trial.trial, viewer),
        settled=book.settled(trial.trial) is not None,
        decided=book.decided(trial.trial, viewer),
    )


def _services(trial: TrialState) -> tuple[ServiceFacts, ...]:
    return tuple(
        ServiceFacts(
            service=use.service,
            environment=use.environment,
            state=use.state,
            exit_code=use.exit_code,
            detail=use.detail,
            out_of_memory=use.out_of_memory,
            peak_cpu_percent=use.peak_cpu_percent,
            peak_memory_bytes=use.peak_memory_bytes,
            memory_limit_bytes=use.memory_limit,
            network_bytes=use.network_bytes,
            block_bytes=use.block_bytes,
        )
        for use in trial.services.values()
    )


def _issues(issues: Iterable[Issue]) -> tuple[IssueFacts, ...]:
    return tuple(
        IssueFacts(
            severity=str(issue.severity),
            phase=str(issue.phase) if issue.phase is not None else None,
            code=str(issue.code),
            message=issue.message,
            service=issue.service,
            step=issue.step,
            evidence=tuple(
                EvidenceFacts(label=item.label, text=item.text, file=item.file, line=item.line)
                for item in issue.evidence
            ),
        )
        for issue in issues
    )


def _hooks(trial: TrialState) -> tuple[HookFacts, ...]:
    return tuple(
        HookFacts(
            number=hook.number,
            of=hook.of,
            service=hook.service,
            command=hook.command,
            exit_code=hook.exit_code,
            seconds=hook.seconds,
            timed_out=hook.timed_out,
            output=hook.output,
            step=hook.step,
        )
        for hook in trial.hooks
    )


def _artifacts(trial: TrialState) -> tuple[ArtifactFacts, ...]:
    return tuple(
        ArtifactFacts(
            service=row.service,
            source=row.source,
            status=row.status,
            bytes=row.bytes,
            sha256=row.sha256,
            note=row.note,
            step=row.step,
        )
        for row in trial.artifacts
    )
