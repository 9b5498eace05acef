"""One attempt's `result.json` of AgentCompass: verdict, issues with their evidence, tokens, cost, artifacts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from engine.issues import Code, Evidence, Issue, Phase, Severity
from engine.readers import json_values as values
from engine.readers.foreign_times import in_utc
from engine.readers.masked_text import masked

RESULT = "result.json"
_CODES = {str(code): code for code in Code} | {
    "environment_open_failed": Code.ENVIRONMENT_FAILED,
    "environment_create_failed": Code.ENVIRONMENT_FAILED,
    "evaluation_setup_failed": Code.VERIFIER_SETUP_FAILED,
    "evaluation_failed": Code.VERIFIER_CRASHED,
    "evaluation_timeout": Code.VERIFIER_TIMEOUT,
    "judge_failed": Code.VERIFIER_CRASHED,
    "output_missing": Code.ARTIFACT_MISSING,
    "run_failed": Code.HARNESS_FAILED,
    "execution_failed": Code.HARNESS_FAILED,
    "model_failed": Code.HARNESS_FAILED,
    "harness_max_iterations": Code.HARNESS_TIMEOUT,
}
_PHASES = {
    "setup": Phase.PREPARE,
    "run": Phase.AGENT,
    "collect": Phase.COLLECT,
    "evaluate": Phase.VERIFY,
    "cleanup": Phase.CLEANUP,
}
_OTHER_CODE = {
    Phase.PREPARE: Code.SETUP_FAILED,
    Phase.AGENT: Code.HARNESS_FAILED,
    Phase.COLLECT: Code.ARTIFACT_COLLECT_FAILED,
    Phase.VERIFY: Code.VERIFIER_CRASHED,
    Phase.CLEANUP: Code.LEFTOVER,
}
_SEVERITIES = {str(severity): severity for severity in Severity}
_ARTIFACTS = {
    "collected": "collected",
    "missing": "missing",
    "excluded": "skipped",
    "not_collected": "skipped",
    "pending": "skipped",
    "collecting": "failed",
    "cancelled": "failed",
    "failed": "failed",
}
_TIME = frozenset({Code.HARNESS_TIMEOUT})
_KILLED = 137
_LONGEST = 4_000


@dataclass(frozen=True)
class Artifact:
    service: str
    source: str
    status: str
    note: str = ""


@dataclass(frozen=True)
class AttemptResult:
    """`reward` None: no valid verdict, whatever the metrics say. None elsewhere is unknown."""

    status: str = ""
    reward: float | None = None
    reward_source: str = ""
    rewards: dict[str, float] = field(default_factory=dict)
    issues: tuple[Issue, ...] = ()
    exit_code: int | None = None
    timed_out: bool = False
    steps: int = 0
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost_usd: float | None = None
    agent_started: datetime | None = None
    agent_finished: datetime | None = None
    verifier_started: datetime | None = None
    verifier_finished: datetime | None = None
    artifacts: tuple[Artifact, ...] = ()


def attempt_result(value: object, data: bytes) -> AttemptResult:
    """`data` is the file that `value` was parsed from: evidence names its lines."""
    benchmark = values.within(value, "meta", "benchmark")
    raw = values.within(benchmark, "eval_raw_data")
    telemetry = values.within(value, "meta", "harness", "telemetry")
    trajectory = values.within(value, "trajectory")
    issues = tuple(_issues(value, raw, data))
    reward, source, rewards = _reward(value, benchmark, issues)
    exit_code = values.within(telemetry, "exit_code")
    code = exit_code if isinstance(exit_code, int) and not isinstance(exit_code, bool) else None
    tokens = [
        [values.count(values.within(step, "metric", name)) for step in values.rows(values.within(trajectory, "steps"))]
        for name in ("prompt_tokens_len", "completion_tokens_len")
    ]
    return AttemptResult(
        status=values.text(values.within(value, "status")),
        reward=reward,
        reward_source=source,
        rewards=rewards,
        issues=(*issues, *_exit_issue(code, data)),
        exit_code=code,
        timed_out=any(issue.code in _TIME for issue in issues),
        steps=len(tokens[0]),
        tokens_in=_sum(tokens[0]),
        tokens_out=_sum(tokens[1]),
        cost_usd=cost_of(value),
        agent_started=in_utc(values.within(trajectory, "started_at")),
        agent_finished=in_utc(values.within(trajectory, "finished_at")),
        verifier_started=in_utc(values.within(raw, "verifier", "started_at")),
        verifier_finished=in_utc(values.within(raw, "verifier", "finished_at")),
        artifacts=tuple(_artifacts(value)),
    )


def _sum(numbers: list[int | None]) -> int | None:
    known = [number for number in numbers if number is not None]
    return sum(known) if known else None


def cost_of(value: object) -> float | None:
    """What the agent itself says it cost, where it says so."""
    telemetry = values.within(value, "meta", "harness", "telemetry") or values.within(value, "telemetry")
    said = [values.within(telemetry, name) for name in ("total_cost_usd", "cost_usd")]
    said += [
        event.get("total_cost_usd") for event in values.rows(values.within(value, "artifacts", "raw_claude_events"))
    ]
    known = [found for item in said if (found := values.number(item)) is not None and found >= 0]
    return known[-1] if known else None


def _reward(value: object, benchmark: object, issues: tuple[Issue, ...]) -> tuple[float | None, str, dict[str, float]]:
    """The verifier's own reward; else the metric, unless something says that there was no verdict behind it."""
    given = values.mapping(values.within(benchmark, "eval_raw_data", "verify_result", "rewards"))
    rewards = {name: found for name, item in given.items() if (found := values.number(item)) is not None}
    if any(issue.severity is Severity.FATAL for issue in issues):
        return None, "", rewards
    if rewards:
        return rewards.get("reward", next(iter(rewards.values()))), "verify_result", rewards
    broken = values.text(values.within(benchmark, "status")) == "error"
    if given or broken or any(issue.code is Code.VERIFIER_RESULT_INVALID for issue in issues):
        return None, "", {}
    metrics = values.mapping(values.within(value, "metrics"))
    name = "correct" if "correct" in metrics else next(iter(metrics), "")
    said = metrics.get(name)
    found = float(said) if isinstance(said, bool) else values.number(said)
    return (None, "", {}) if found is None else (found, f"metrics.{name}", {name: found})


# --- issues ---


def _issues(value: object, raw: object, data: bytes) -> Iterator[Issue]:
    diagnostics = values.text(values.within(value, "artifacts", "execution_diagnostics"))
    output = values.text(values.within(raw, "testcase_output"))
    for row in values.rows(values.within(value, "issues")):
        found = issue_of(row)
        evidence = [Evidence("result.json", f"{row.get('code')}: {found.message}", RESULT, _line(data, row))]
        if diagnostics.strip():
            last = masked(diagnostics.strip().splitlines()[-1][:_LONGEST])
            evidence.append(Evidence("exception", last, RESULT, line_of(data, b'"execution_diagnostics"')))
        if found.phase is Phase.VERIFY and output.strip():
            place = line_of(data, b'"testcase_output"')
            evidence.append(Evidence("verifier output", masked(output[-_LONGEST:]), RESULT, place))
        yield Issue(found.severity, found.phase, found.code, found.message, tuple(evidence))


def issue_of(row: dict[str, Any]) -> Issue:
    """One of AgentCompass's issues in our words. A code that we don't know stays readable in the message."""
    phase = _PHASES.get(values.text(row.get("phase")))
    said = values.text(row.get("code"))
    code = _CODES.get(said) or (_OTHER_CODE[phase] if phase is not None else Code.ENGINE_FAILED)
    message = masked(values.text(row.get("message"))[:_LONGEST]) or said or "no message"
    if said and said != str(code):
        message = f"{said[:80]}: {message}"
    return Issue(_SEVERITIES.get(values.text(row.get("severity")), Severity.ERROR), phase, code, message)


def _exit_issue(code: int | None, data: bytes) -> Iterator[Issue]:
    """How the agent left, where it left badly: the verdict stands beside it (case 71)."""
    if not code:
        return
    place = (Evidence("exit code", str(code), RESULT, line_of(data, b'"exit_code"')),)
    if code == _KILLED:
        message = "the agent was killed (exit 137), and nothing here tells by whom"
        yield Issue(Severity.ERROR, Phase.AGENT, Code.KILLED_UNKNOWN, message, place)
    else:
        message = f"the agent ended with exit code {code}"
        yield Issue(Severity.WARNING, Phase.AGENT, Code.AGENT_EXIT_NONZERO, message, place)


def _line(data: bytes, row: dict[str, Any]) -> int:
    return line_of(data, f'"code": "{values.text(row.get("code"))}"'.encode("utf-8", "replace"))


def line_of(data: bytes, words: bytes) -> int:
    """The line, from 1, in which `words` stand first; 0 where they don't."""
    at = data.find(words)
    return data.count(b"\n", 0, at) + 1 if at >= 0 else 0


def _artifacts(value: object) -> Iterator[Artifact]:
    declared = values.within(value, "artifacts", "declared_artifacts")
    for row in values.rows(values.within(declared, "entries")):
        said = values.text(row.get("status"))
        yield Artifact(
            service=values.text(row.get("service")) or "main",
            source=values.text(row.get("source")),
            status=_ARTIFACTS.get(said, "failed"),
            note=values.text(row.get("error")) or (said if said not in _ARTIFACTS else ""),
        )
