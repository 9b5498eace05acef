"""Rules about the agent: its harness, the budget it spends, and what it never did."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta

from engine.analysis.wording import many
from engine.issues import Code, Phase, Severity
from engine.readers.run_folder import TRIALDECK
from engine.text import clean_line
from engine.triage.causes import Cause
from engine.triage.proposal import Finding, Strength
from engine.triage.rules_environment import NETWORK_WORDS, TLS_WORDS, of_issue
from engine.triage.trial_case import SHOWN, Line, TrialCase
from engine.trial_state import PASSED

LIMIT_WORDS = re.compile(
    r"max[_ ]?(?:turns?|steps?|iterations?|tokens?|budget|cost|episodes?)"
    r"|(?:step|turn|cost|call|token|budget|episode)s?[_ ]?limits?|limits?[_ ]?exceeded|budget[_ ]?exceeded",
    re.IGNORECASE,
)
"""In an agent's own word for how it ended: LimitsExceeded, error_max_turns, error_max_budget_usd, …"""

_LIMIT_LINE = re.compile(
    r"^(?:[\w.]+\.)?(?:Max(?:imum)?_?(?:Turn|Step|Iteration)s?(?:Error|Exceeded|Reached)|LimitsExceeded)\b"
)
"""A harness's last word on a limit: the name of an exception at the beginning of a line."""

_TRACEBACK = "Traceback (most recent call last):"
_RAISED = re.compile(r"^[A-Za-z_][\w.]*(?:Error|Exception|Exit|Interrupt|Warning|Failure|Timeout)\b(?::|$)")
_NODE_CRASH = re.compile(r"^(?:Uncaught |Unhandled )?(?:[A-Z]\w*Error|Error): |^Node\.js v\d+")
_NODE_FRAME = re.compile(r"^ {4}at .+[:(]\d*")
_PANIC = re.compile(r"^thread '[^']*' (?:\(\d+\) )?panicked at |^panic: |^fatal error: ")
_CRASH_LINES = 40
_SLACK = timedelta(seconds=30)
_KILLED = re.compile(r"^\S*: line \d+:\s+\d+ Killed\b")


def harness_failed(case: TrialCase) -> Iterator[Finding]:
    """The harness could not be set up, or its own code failed (case 46: a time-out of its own is no limit of ours)."""
    for issue in case.issues(Code.HARNESS_FAILED):
        strong = issue.severity is not Severity.WARNING  # a warning tells of a run that another one followed
        yield of_issue("harness_failed", Cause.AGENT, issue, "engine", strong=strong)
    for issue in case.issues(Code.AGENT_SETUP_FAILED):
        said = "\n".join([issue.message, *(item.text for item in issue.evidence)])
        if not NETWORK_WORDS.search(said) and not TLS_WORDS.search(said):
            yield of_issue("agent_setup", Cause.AGENT, issue, "set-up of the agent")


def harness_crashed(case: TrialCase) -> Iterator[Finding]:
    """An exit code, and at the very end of what the harness printed the traceback that goes with it."""
    if case.trial.agent_exit in (None, 0) or case.trial.timed_out or not case.asks_a_model:
        return
    for log in case.agent_texts:
        tail = case.tail(log.path)
        found = _crash(tail)
        if found is not None:
            yield Finding(
                rule="harness_crashed",
                cause=Cause.AGENT,
                strength=Strength.STRONG,
                text=f"the harness ended with exit code {case.trial.agent_exit} and a crash of its own: "
                + clean_line(found.text, 160),
                source=f"{log.label}, its end",
                evidence=(case.evidence(log.path, found, "crash"),),
            )
            return


def agent_exit(case: TrialCase) -> Iterator[Finding]:
    """An exit code alone; the verdict outranks it (case 71)."""
    for issue in case.issues(Code.AGENT_EXIT_NONZERO):
        yield of_issue("agent_exit", Cause.AGENT, issue, "exit code", strong=False)


def time_up(case: TrialCase) -> Iterator[Finding]:
    """Killed at its time limit: it spent its budget, which is a failure and no fault of ours (case 53)."""
    issues = case.issues(Code.HARNESS_TIMEOUT)
    for issue in issues:
        yield of_issue("time_limit", Cause.BUDGET, issue, case.clock)
    if case.trial.timed_out and not issues:
        limit = case.trial.limits.get(Phase.AGENT)
        spent = f" after {case.trial.agent_seconds:.0f} s" if case.trial.agent_seconds is not None else ""
        yield Finding(
            rule="time_limit",
            cause=Cause.BUDGET,
            strength=Strength.STRONG,
            text=f"the agent's time was up{spent}" + (f" (limit {limit:g} s)" if limit else ""),
            source="run's record",
        )
    for issue in case.issues(Code.COST_LIMIT_REACHED):
        yield of_issue("cost_limit", Cause.BUDGET, issue, "engine")


def limit_reached(case: TrialCase) -> Iterator[Finding]:
    """Turns, steps, tokens or money: by the engine's record, else by the session's own word for its end."""
    if issues := case.issues(Code.AGENT_LIMIT_REACHED):
        yield of_issue("limit_reached", Cause.BUDGET, issues[-1], "the agent's end")
        return
    for trajectory in case.trajectories:
        if trajectory.ended and LIMIT_WORDS.search(trajectory.ended):
            last = trajectory.steps[-1].number if trajectory.steps else 0
            yield Finding(
                rule="limit_reached",
                cause=Cause.BUDGET,
                strength=Strength.STRONG,
                text=f"the agent stopped at a limit of its own: {clean_line(trajectory.ended, 80)}",
                source=f"the session's end, {len(trajectory.steps)} steps",
                evidence=(case.step_evidence(trajectory, last, trajectory.ended, "end"),),
                step=last,
            )
            return
    if case.trial.agent_exit in (None, 0):
        return
    for log in case.agent_texts:
        for line in case.tail(log.path, 5):
            if _LIMIT_LINE.search(line.text):
                yield Finding(
                    rule="limit_reached",
                    cause=Cause.BUDGET,
                    strength=Strength.STRONG,
                    text=f"the agent ended with exit code {case.trial.agent_exit} at a limit of its own: "
                    + clean_line(line.text, 80),
                    source=f"{log.label}, its end",
                    evidence=(case.evidence(log.path, line, "end"),),
                )
                return


def past_its_time(case: TrialCase) -> Iterator[Finding]:
    """It went on when its time was up: by the engine's record, by the times of its own steps, or because the tool that
    ran it is known to let it."""
    for issue in case.issues(Code.AGENT_NOT_STOPPED):
        yield of_issue("agent_past_its_time", Cause.AGENT, issue, "engine")
    limit = case.trial.limits.get(Phase.AGENT)
    timed = [step for step in case.agent_steps if step.at is not None and step.at.tzinfo is not None]
    if limit and timed and case.session is not None and case.asks_a_model and not _has_steps(case):
        # Both ends by the same clock: a container's clock says nothing about ours.
        first = timed[0].at
        late = [step for step in timed if first and step.at and step.at - first > timedelta(seconds=limit) + _SLACK]
        if late:
            yield Finding(
                rule="agent_past_its_time",
                cause=Cause.AGENT,
                strength=Strength.STRONG,
                text=f"{many(len(late), 'step')} of the agent came later after its first than its limit of {limit:g} s "
                "allows",
                source=f"steps {late[0].number}–{late[-1].number}",
                evidence=(case.step_evidence(case.session, late[0].number, late[0].message or "first late step"),),
                step=late[0].number,
            )
            return
    if case.trial.timed_out and case.trial.state == PASSED and case.source != TRIALDECK.kind:
        yield Finding(
            rule="agent_past_its_time",
            cause=Cause.AGENT,
            strength=Strength.WEAK,
            text="passed after its time was up, run by a tool that lets what the agent started go on while it verifies",
            source=f"written by {case.source}",
        )


def zero_tokens(case: TrialCase) -> Iterator[Finding]:
    """Counted, and none: the model was never asked. Unknown is not zero."""
    if not case.asks_a_model or not case.reached(Phase.AGENT):
        return
    counts = (case.trial.tokens_in, case.trial.tokens_out)
    if counts == (None, None) and case.session is not None:
        counts = (case.session.tokens_in, case.session.tokens_out)
    if any(counts) or counts == (None, None):
        return
    yield Finding(
        rule="zero_tokens",
        cause=Cause.AGENT,
        strength=Strength.WEAK,
        text="no token was spent: the model never answered",
        source="the session's own count",
        evidence=() if case.session is None else (case.step_evidence(case.session, 0, "tokens: 0", "session"),),
    )


def killed_in_the_log(case: TrialCase) -> Iterator[Finding]:
    """Where nobody kept Docker's record: the exit code 137, and the shell's own line on what was killed."""
    if case.source == TRIALDECK.kind or case.trial.timed_out or case.has(Code.OUT_OF_MEMORY, Code.KILLED_UNKNOWN):
        return
    recorded = case.trial.agent_exit == 137 or _exit_code_file(case) == 137
    if not recorded or case.trial.out_of_memory:
        return
    for log in case.logs_of("agent"):
        for line in reversed(case.tail(log.path)):
            if _KILLED.search(line.text):
                yield Finding(
                    rule="killed_in_the_log",
                    cause=Cause.INFRASTRUCTURE,
                    strength=Strength.WEAK,
                    text="a process of the agent was killed (137), and it was not its time limit: out of memory is "
                    "likely, though nobody kept Docker's record",
                    source=f"{log.label}, exit code",
                    evidence=(case.evidence(log.path, line, "killed"),),
                )
                return


def _has_steps(case: TrialCase) -> bool:
    """A task of several steps, each with a limit of its own."""
    return any(span.step for span in case.trial.phases)


def _exit_code_file(case: TrialCase) -> int | None:
    for log in case.logs_of("agent"):
        if log.path.name == "exit-code.txt":
            lines = case.lines(log.path)
            text = lines[0].text.strip() if len(lines) == 1 else ""
            return int(text) if text.isascii() and text.isdigit() and len(text) < 4 else None
    return None


def _crash(tail: list[Line]) -> Line | None:
    """The line that says what was raised, where the log ends with it."""
    end = tail[-_CRASH_LINES:]
    for index in reversed(range(len(end))):
        text = end[index].text[:SHOWN]
        if _PANIC.search(text):
            return end[index]
        if _RAISED.search(text) and any(line.text.startswith(_TRACEBACK) for line in end[:index]):
            return end[index] if len(end) - index <= 8 else None
        if _NODE_CRASH.search(text) and any(_NODE_FRAME.search(line.text) for line in end[index + 1 : index + 4]):
            return end[index]
    return None
