"""Rules that look at other trials: a task that fails for all, attempts that disagree, a failure of many at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from engine.analysis.wording import many
from engine.issues import Code, Issue, Severity
from engine.text import clean_line
from engine.triage.causes import Cause
from engine.triage.neighbours import ZERO_TOKENS, failure_kinds, tasks
from engine.triage.proposal import Finding, Strength
from engine.triage.rules_environment import of_issue
from engine.triage.trial_case import TrialCase
from engine.trial_state import FAILED, PASSED, UNSCORED, TrialState

_OF_THE_PLAN = (Code.TASK_INVALID, Code.TASK_REFUSED, Code.TASK_CHANGED)
_OF_A_TASK = frozenset(
    {
        Code.BUILD_FAILED,
        Code.COMPOSE_INVALID,
        Code.PULL_FAILED,
        Code.SERVICE_UNHEALTHY,
        Code.SERVICE_EXITED,
        Code.START_TIMEOUT,
        Code.HEALTHCHECK_FAILED,
        Code.MCP_SERVER_FAILED,
        Code.VERIFIER_SETUP_FAILED,
        Code.VERIFIER_RESULT_INVALID,
        Code.VERIFIER_CRASHED,
        Code.VERIFIER_TIMEOUT,
    }
)
"""What a task can be to blame for; a full disk or a registry's limit is nobody's task."""
_ORACLE, _NOP = "oracle", "nop"
_MANY = 3
_MOST_OF = 0.5


def refused(case: TrialCase) -> Iterator[Finding]:
    """The task itself could not be run, or not with this arm's agent, or that not on this host: a key that a person did
    not give is no fault of the agent's, and it never reached its model."""
    for issue in case.issues(*_OF_THE_PLAN):
        yield of_issue(str(issue.code), Cause.TASK, issue, "task's files")
    for issue in case.issues(Code.AGENT_INCOMPATIBLE):
        yield of_issue(str(issue.code), Cause.AGENT, issue, "plan")
    for issue in case.issues(Code.AGENT_UNAVAILABLE):
        yield of_issue(str(issue.code), Cause.INFRASTRUCTURE, issue, "plan" if issue.phase is None else "engine")


def fails_for_everybody(case: TrialCase) -> Iterator[Finding]:
    """The same fatal error in every trial of the task, over several arms, while other tasks got past it (case 13)."""
    own = _task_fault(case.trial)
    if own is None:
        return
    over = [trial for trial in (case.trial, *case.same_task) if trial.state in (PASSED, FAILED, UNSCORED)]
    alike = [trial for trial in over if any(issue.code is own.code for issue in trial.issues)]
    arms = {trial.arm for trial in over}
    if len(arms) < 2 or len(alike) < len(over) or any(trial.state == PASSED for trial in over):
        return
    elsewhere = case.neighbours.without_issue(own.code, case.trial.task)
    if not elsewhere:
        return
    yield Finding(
        rule="fails_for_everybody",
        cause=Cause.TASK,
        strength=Strength.STRONG,
        text=f"{own.code} in all {len(over)} trials of this task, over {len(arms)} arms, and in none of {elsewhere} "
        "trials of other tasks",
        source="other trials",
        evidence=own.evidence[:1],
    )


def oracle_fails(case: TrialCase) -> Iterator[Finding]:
    """The task's own solution does not pass, and nothing else explains it."""
    oracles = _of_agent(case, _ORACLE)
    clean = [trial for trial in oracles if trial.state == FAILED and not _explained(trial)]
    passed = [trial for trial in oracles if trial.state == PASSED]
    if not clean or passed:
        return
    own = case.agent.lower() == _ORACLE
    yield Finding(
        rule="solution_fails",
        cause=Cause.TASK,
        strength=Strength.WEAK if own else Strength.STRONG,
        text="the task's own solution did not pass"
        + ("" if own else f" either ({len(clean)} of {len(oracles)} failed)"),
        source="the task's solution",
    )


def oracle_disagrees(case: TrialCase) -> Iterator[Finding]:
    """A solution that is the same each time, and a verdict that is not: flaky (case 55)."""
    for agent in (_ORACLE, _NOP):
        trials = _of_agent(case, agent)
        passed, failed = _verdicts(trials)
        if passed and failed and (case.trial.state == FAILED):
            own = case.agent.lower() == agent
            yield Finding(
                rule="flaky",
                cause=Cause.GRADER,
                strength=Strength.STRONG if own else Strength.WEAK,
                text=f"flaky: the {agent} passed {many(passed, 'time')} and failed {many(failed, 'time')} on this task",
                source="other attempts",
            )


def same_work_other_verdict(case: TrialCase) -> Iterator[Finding]:
    """The same artifacts to the byte, judged otherwise (case 55)."""
    own = _work(case.trial)
    if not own or case.trial.state not in (PASSED, FAILED):
        return
    other = PASSED if case.trial.state == FAILED else FAILED
    alike = [trial for trial in case.same_task if trial.state == other and _work(trial) == own]
    if alike:
        yield Finding(
            rule="attempts_disagree",
            cause=Cause.GRADER,
            strength=Strength.STRONG,
            text=f"flaky: {many(len(alike), 'other trial')} handed over the same artifacts, byte for byte, and "
            + ("failed" if other == FAILED else "passed"),
            source="manifest.json",
        )


def other_attempts(case: TrialCase) -> Iterator[Finding]:
    """Others passed the same task: it can be done, so far as it goes."""
    if case.trial.state != FAILED:
        return
    same_arm = [trial for trial in case.same_task if trial.arm == case.trial.arm]
    passed, failed = _verdicts(same_arm)
    if passed and case.asks_a_model:
        yield _weak_model("attempts_differ", f"of this arm's other attempts {passed} passed and {failed} failed")
    if case.agent.lower() != _ORACLE and any(trial.state == PASSED for trial in _of_agent(case, _ORACLE)):
        yield _weak_model("solution_passes", "the task's own solution passes")


def passes_without_work(case: TrialCase) -> Iterator[Finding]:
    """An agent that does nothing passes this task (case 52)."""
    if case.trial.state == PASSED and any(trial.state == PASSED for trial in _of_agent(case, _NOP)):
        yield Finding(
            rule="passes_without_work",
            cause=Cause.TASK,
            strength=Strength.STRONG,
            text="an agent that does nothing passes this task",
            source="an agent that does nothing",
        )


def many_at_once(case: TrialCase) -> Iterator[Finding]:
    """Trials of several tasks failed alike within minutes: an outage rather than many faults."""
    for kind in sorted(failure_kinds(case.trial)):
        alike = case.neighbours.failed_alike(case.trial, kind)
        if len(alike) < _MANY or len(tasks(alike)) < 2 or case.trial.finished_at is None:
            continue
        around = case.neighbours.over_at(case.trial.finished_at)
        if len(alike) < _MOST_OF * around:
            continue
        yield Finding(
            rule="many_at_once",
            cause=Cause.PROVIDER if kind == ZERO_TOKENS else Cause.INFRASTRUCTURE,
            strength=Strength.WEAK,
            text=f"{len(alike)} of {around} trials that ended within ten minutes failed alike: {clean_line(kind, 80)}",
            source="other trials",
        )


def _weak_model(rule: str, text: str) -> Finding:
    return Finding(rule=rule, cause=Cause.MODEL, strength=Strength.WEAK, text=text, source="other trials")


def _of_agent(case: TrialCase, agent: str) -> list[TrialState]:
    """The trials of its task, itself among them, by arms of this agent."""
    arms = {name for name, arm in case.state.arms.items() if arm.info.agent.lower() == agent}
    return [trial for trial in (case.trial, *case.same_task) if trial.arm in arms] if arms else []


def _task_fault(trial: TrialState) -> Issue | None:
    return next((issue for issue in trial.issues if issue.code in _OF_A_TASK and trial.state != PASSED), None)


def _explained(trial: TrialState) -> bool:
    return trial.out_of_memory or any(issue.severity is not Severity.WARNING for issue in trial.issues)


def _verdicts(trials: list[TrialState]) -> tuple[int, int]:
    counts = Counter(trial.state for trial in trials)
    return counts[PASSED], counts[FAILED]


def _work(trial: TrialState) -> frozenset[tuple[str, str, str]]:
    """What it handed over; empty where it handed over nothing with content."""
    return frozenset((row.service, row.source, row.sha256) for row in trial.artifacts if row.sha256 and row.bytes)
