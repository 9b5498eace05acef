"""One trial of Terminal-Bench 0.x: what its results.json says, as events."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from engine import events as ev
from engine.issues import Code, Evidence, Issue, Phase, Severity
from engine.readers import json_values as values
from engine.readers.foreign_times import in_utc, seconds_between
from engine.readers.inside import read_inside
from engine.readers.terminal_bench_plan import RESULTS

_NOTHING = ("", "unset", "none")
_TIMED_OUT = "agent_timeout"
_MODES: dict[str, tuple[Severity, Phase, Code, str]] = {
    _TIMED_OUT: (
        Severity.WARNING,
        Phase.AGENT,
        Code.HARNESS_TIMEOUT,
        "the agent's time was up; the tests ran all the same",
    ),
    "test_timeout": (
        Severity.FATAL,
        Phase.VERIFY,
        Code.VERIFIER_TIMEOUT,
        "the tests' time was up, there is no verdict",
    ),
    "parse_error": (
        Severity.WARNING,
        Phase.VERIFY,
        Code.VERIFIER_RESULT_INVALID,
        "the tests' output could not be parsed, there is no verdict",
    ),
    "agent_installation_failed": (
        Severity.FATAL,
        Phase.PREPARE,
        Code.AGENT_SETUP_FAILED,
        "the agent could not be installed",
    ),
    "unknown_agent_error": (Severity.ERROR, Phase.AGENT, Code.HARNESS_FAILED, "the agent failed with an error"),
    "context_length_exceeded": (Severity.ERROR, Phase.AGENT, Code.HARNESS_FAILED, "the model's context was full"),
    "output_length_exceeded": (
        Severity.ERROR,
        Phase.AGENT,
        Code.HARNESS_FAILED,
        "the model's answer was cut at its longest",
    ),
    "fatal_llm_parse_error": (
        Severity.ERROR,
        Phase.AGENT,
        Code.HARNESS_FAILED,
        "the model's answers could not be parsed",
    ),
    "unknown": (Severity.ERROR, Phase.AGENT, Code.HARNESS_FAILED, "it failed, Terminal-Bench doesn't say how"),
}


def started_at(value: object) -> datetime | None:
    return in_utc(values.within(value, "trial_started_at")) or in_utc(values.within(value, "agent_started_at"))


def story(trial: str, folder: Path, value: object) -> list[ev.AnyEvent]:
    """From start to end, in order. `value` is the parsed results.json, `folder` where it lies (or would)."""
    moments = {
        name: in_utc(values.within(value, f"{name}_at"))
        for name in ("trial_started", "agent_started", "agent_ended", "test_started", "test_ended", "trial_ended")
    }
    known = [moment for moment in moments.values() if moment is not None]
    start = moments["trial_started"] or min(known, default=datetime.fromtimestamp(0, UTC))
    end = max(known, default=start)
    mode = values.text(values.within(value, "failure_mode"))
    resolved = values.within(value, "is_resolved")
    reward = float(resolved) if isinstance(resolved, bool) else None
    told: list[ev.AnyEvent] = [ev.TrialStarted(at=start, untimed=not known, trial=trial)]
    told += _phases(trial, moments, start, end, mode)
    if (issue := _issue(folder, mode)) is not None:
        at = moments["agent_ended"] if issue.phase is Phase.AGENT else moments["test_ended"]
        told.append(ev.IssueRaised(at=min(max(at or end, start), end), trial=trial, issue=issue))
    tests = [said for said in values.mapping(values.within(value, "parser_results")).values() if isinstance(said, str)]
    if reward is not None or tests:
        told.append(
            ev.RewardRecorded(
                at=min(max(moments["test_ended"] or end, start), end),
                trial=trial,
                reward=reward,
                rewards={"is_resolved": reward} if reward is not None else {},
                source=RESULTS,
                tests_passed=sum(said == "passed" for said in tests) if tests else None,
                tests_total=len(tests) if tests else None,
            )
        )
    tokens_in, tokens_out = _tokens(value)
    told.append(
        ev.TrialFinished(
            at=end,
            untimed=not known,
            trial=trial,
            outcome="unscored" if reward is None else "scored",
            reward=reward,
            passed=None if reward is None else reward == 1.0,
            seconds=seconds_between(start, end) if len(known) > 1 else None,
            agent_seconds=seconds_between(moments["agent_started"], moments["agent_ended"]),
            tokens_in=tokens_in,
            tokens_out=tokens_out,
            timed_out=mode == _TIMED_OUT,
        )
    )
    return sorted(told, key=lambda event: event.at)


def _phases(
    trial: str, moments: dict[str, datetime | None], start: datetime, end: datetime, mode: str
) -> Iterator[ev.AnyEvent]:
    """What lies between the agent's end and the tests' start is copying the tests: part of verifying."""
    agent, done = moments["agent_started"], moments["agent_ended"]
    tested = moments["test_ended"]
    verify = (done or moments["test_started"]) if moments["test_started"] is not None else None
    spans = (
        (Phase.PREPARE, start, agent),
        (Phase.AGENT, agent, done),
        (Phase.VERIFY, verify, tested),
        (Phase.CLEANUP, tested, moments["trial_ended"]),
    )
    failed = _MODES.get(mode)
    for phase, began, ended in spans:
        if began is None or (ended is None and phase is Phase.CLEANUP):
            continue
        first, last = min(max(began, start), end), min(max(ended or end, start), end)
        yield ev.PhaseStarted(at=first, trial=trial, phase=phase)
        if phase is Phase.AGENT:
            yield ev.AgentFinished(
                at=max(first, last),
                trial=trial,
                exit_code=None,
                seconds=seconds_between(began, ended),
                timed_out=mode == _TIMED_OUT,
            )
        yield ev.PhaseFinished(
            at=max(first, last),
            trial=trial,
            phase=phase,
            seconds=seconds_between(first, last) or 0.0,
            ok=ended is not None and (failed is None or failed[1] is not phase),
        )


def _issue(folder: Path, mode: str) -> Issue | None:
    if mode in _NOTHING:
        return None
    unknown = Severity.ERROR, Phase.AGENT, Code.HARNESS_FAILED, "a failure mode that is not known here"
    severity, phase, code, said = _MODES.get(mode, unknown)
    lines = (read_inside(folder, folder / RESULTS, 1 << 20) or b"").decode("utf-8", "replace").splitlines()
    line = next((number for number, text in enumerate(lines, 1) if '"failure_mode"' in text), 0)
    return Issue(severity, phase, code, f"{mode}: {said}", (Evidence("failure_mode", mode, RESULTS, line),))


def _tokens(value: object) -> tuple[int | None, int | None]:
    """Agents that count nothing leave 0 in both."""
    tokens_in = values.count(values.within(value, "total_input_tokens"))
    tokens_out = values.count(values.within(value, "total_output_tokens"))
    return (tokens_in, tokens_out) if tokens_in or tokens_out else (None, None)
