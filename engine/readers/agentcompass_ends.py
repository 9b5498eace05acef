"""How an attempt of AgentCompass ended, as our events."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from engine import events as ev
from engine.issues import Code, Evidence, Issue, Phase, Severity
from engine.readers.agentcompass_progress import Attempt
from engine.readers.agentcompass_result import RESULT, AttemptResult
from engine.readers.foreign_times import seconds_between


def finished(
    trial: str, known: Attempt | None, result: AttemptResult, issues: tuple[Issue, ...], began: datetime | None
) -> Iterator[ev.AnyEvent]:
    """With a record. `known` None: no event told of the attempt, its times are the record's own."""
    told_start = (known.started_at if known else None) or result.agent_started
    told_end = (known.ended_at if known else None) or result.verifier_finished or result.agent_finished
    start = told_start or began or ev.now()
    end = told_end or start
    if known is None or known.started_at is None:
        yield ev.TrialStarted(at=start, untimed=told_start is None, trial=trial)
        yield from _phases_of(trial, result)
    agent_seconds = known.agent_seconds if known is not None else None
    if agent_seconds is None:
        agent_seconds = seconds_between(result.agent_started, result.agent_finished)
    if result.steps:
        yield ev.AgentStepped(
            at=end, trial=trial, number=result.steps, tokens_in=result.tokens_in, tokens_out=result.tokens_out
        )
    if result.exit_code is not None or result.timed_out:
        yield ev.AgentFinished(
            at=end,
            trial=trial,
            exit_code=result.exit_code,
            seconds=agent_seconds,
            timed_out=result.timed_out,
        )
    for artifact in result.artifacts:
        yield ev.ArtifactRecorded(
            at=end,
            trial=trial,
            service=artifact.service,
            source=artifact.source,
            status=artifact.status,
            note=artifact.note,
        )
    for issue in (*issues, *_missing_verdict(result)):
        yield ev.IssueRaised(at=end, trial=trial, issue=issue)
    yield ev.RewardRecorded(
        at=end, trial=trial, reward=result.reward, rewards=result.rewards, source=result.reward_source
    )
    scored = result.reward is not None
    yield ev.TrialFinished(
        at=end,
        untimed=told_end is None,
        trial=trial,
        outcome="scored" if scored else "cancelled" if result.status == "skipped" else "unscored",
        reward=result.reward,
        passed=result.reward == 1 if scored else None,
        seconds=seconds_between(told_start, told_end),
        agent_seconds=agent_seconds,
        tokens_in=result.tokens_in,
        tokens_out=result.tokens_out,
        cost_usd=result.cost_usd,
        timed_out=result.timed_out,
    )


def without_record(
    trial: str, known: Attempt | None, data: bytes | None, at: datetime, *, cancelled: bool
) -> Iterator[ev.AnyEvent]:
    """The run is over, and this attempt has no `result.json` that can be read. One that never began was cancelled."""
    if known is None or known.started_at is None or cancelled:
        seconds = seconds_between(known.started_at, at) if known is not None else None
        yield ev.TrialFinished(at=at, trial=trial, outcome="cancelled", seconds=seconds)
        return
    what = "is not whole JSON" if data else "is missing"
    place = (Evidence(RESULT, what, RESULT if data else "", 0),)
    message = f"the attempt's {RESULT} {what}: it has no verdict"
    yield ev.IssueRaised(
        at=at, trial=trial, issue=Issue(Severity.FATAL, None, Code.VERIFIER_RESULT_INVALID, message, place)
    )
    seconds = seconds_between(known.started_at, known.ended_at or at)
    yield ev.TrialFinished(at=at, trial=trial, outcome="unscored", seconds=seconds)


def _missing_verdict(result: AttemptResult) -> Iterator[Issue]:
    """AgentCompass books a missing reward as not solved and may call it a warning: here it is no verdict (case 59)."""
    if result.reward is None and all(issue.severity is Severity.WARNING for issue in result.issues):
        message = "no verdict: no reward stands behind AgentCompass's own count of this as not solved"
        place = (Evidence(RESULT, f"status {result.status}", RESULT, 1),)
        yield Issue(Severity.ERROR, Phase.VERIFY, Code.VERIFIER_RESULT_INVALID, message, place)


def _phases_of(trial: str, result: AttemptResult) -> Iterator[ev.AnyEvent]:
    for phase, start, end in (
        (Phase.AGENT, result.agent_started, result.agent_finished),
        (Phase.VERIFY, result.verifier_started, result.verifier_finished),
    ):
        seconds = seconds_between(start, end)
        if start is not None and end is not None and seconds is not None:
            yield ev.PhaseStarted(at=start, trial=trial, phase=phase)
            yield ev.PhaseFinished(at=end, trial=trial, phase=phase, seconds=seconds)
