"""Rules about the environment: from issues of the engine and Docker's own records, never from what a container said."""

from __future__ import annotations

import re
from collections.abc import Iterator

from engine.analysis.wording import many
from engine.issues import Code, Evidence, Issue, Phase, Severity
from engine.readers.run_folder import TRIALDECK
from engine.tasks.task import MAIN
from engine.text import clean_line
from engine.trajectories.steps import Observation
from engine.triage.causes import Cause
from engine.triage.proposal import Finding, Strength
from engine.triage.trial_case import SHOWN, TrialCase
from engine.trial_state import PASSED, ServiceUse

_NAMES: dict[Code, tuple[str, str]] = {
    Code.BUILD_FAILED: ("image_build", "build log"),
    Code.BUILD_TIMEOUT: ("image_build", "build log"),
    Code.PULL_FAILED: ("image_pull", "docker pull"),
    Code.PULL_RATE_LIMITED: ("image_pull", "docker pull"),
    Code.SERVICE_UNHEALTHY: ("health_check", "docker inspect"),
    Code.HEALTHCHECK_FAILED: ("health_check", "health check"),
    Code.START_TIMEOUT: ("start_timeout", "docker compose"),
    Code.SERVICE_EXITED: ("service_exited", "docker inspect"),
    Code.NAME_CONFLICT: ("name_conflict", "docker"),
    Code.ADDRESS_POOL_EXHAUSTED: ("address_pool", "docker network"),
    Code.DISK_FULL: ("disk_full", "engine"),
    Code.DAEMON_UNREACHABLE: ("docker_unreachable", "docker"),
    Code.OUT_OF_DESCRIPTORS: ("out_of_descriptors", "engine"),
    Code.COMPOSE_INVALID: ("compose_invalid", "docker compose"),
    Code.SETUP_FAILED: ("environment_setup", "engine"),
    Code.ENVIRONMENT_FAILED: ("environment_failed", "docker"),
    Code.HOST_TOO_SMALL: ("host_too_small", "engine"),
    Code.ARTIFACT_TRANSFER_FAILED: ("artifact_transfer", "engine"),
    Code.ENGINE_FAILED: ("engine_failed", "engine"),
}
"""Issues that speak for infrastructure by themselves: the rule's name, and who recorded it."""

NETWORK_WORDS = re.compile(
    r"temporary failure (?:in name resolution|resolving)|could not resolve (?:host|proxy)|no such host"
    r"|name or service not known|\bEAI_AGAIN\b|\bENOTFOUND\b|server misbehaving",
    re.IGNORECASE,
)
"""Of a name that could not be resolved. Only looked for in words that tools of ours or of Docker wrote."""

TLS_WORDS = re.compile(
    r"CERTIFICATE_VERIFY_FAILED|SELF_SIGNED_CERT|unable to get (?:local )?issuer certificate"
    r"|SSL certificate problem|certificate signed by unknown authority",
    re.IGNORECASE,
)

_OWN_VOLUME_FULL = re.compile(r"\bNo space left on device\b")
_REFUSED = re.compile(
    r"\bconnection refused\b|\bECONNREFUSED\b|could not connect to|name or service not known|no route to host"
    r"|could not translate host name|temporary failure in name resolution|can't connect to",
    re.IGNORECASE,
)
_LEAST_REFUSED = 2

_DEFINITION = "the task's definition"
"""Evidence that only an issue has which the task's own words explain."""
_MOST_COMMAND = 200_000
_ENDS_MAIN = re.compile(
    r"(?:^|[;&|(`\"']|\b(?:sudo|exec|nohup|then|do)\s)[ \t]*(?:(?:/usr)?/s?bin/)?"
    r"(?:kill\s+(?:-\S+\s+){0,3}-?1(?![\w.])|(?:poweroff|halt|reboot|killall5|pkill|killall|init\s+0)\b"
    r"|rm[ \t]+-(?:[^\s;&|]+[ \t]+){1,20}/(?:bin|sbin|lib|lib64|usr|etc)?/?(?:\*|\s|$|[;&|\"'])"
    r"|chmod\s+(?:-R\s+)?0+\s+(?:-R\s+)?/(?:bin|usr)|mv\s+/(?:bin|lib|usr)\b)",
    re.MULTILINE,
)
"""Commands that end the container they are given in."""
_ENDS_A_SERVICE = re.compile(r"\bshutdown\b", re.IGNORECASE)
"""Commands that a service ends at, from another container: Redis, MySQL, MongoDB and others have one of this name."""


def environment_issues(case: TrialCase) -> Iterator[Finding]:
    """What the engine booked as the environment's fault."""
    for issue in case.issues(*_NAMES):
        rule, source = _NAMES[issue.code]
        if NETWORK_WORDS.search(_said(issue)):
            rule, source = "dns", "docker"
        strong = issue.severity is not Severity.WARNING
        yield of_issue(rule, Cause.INFRASTRUCTURE, issue, source, strong=strong)


def mcp_server_failed(case: TrialCase) -> Iterator[Finding]:
    """A tool of the task was not there for the agent. Where the task's own words about it can't be right, no other
    machine and no other agent would have had it."""
    for issue in case.issues(Code.MCP_SERVER_FAILED):
        wrong = [item for item in issue.evidence if item.label == _DEFINITION]
        yield of_issue(
            "mcp_server",
            Cause.TASK if wrong else Cause.INFRASTRUCTURE,
            issue,
            "the agent's program",
            more="".join(f"; {clean_line(item.text, 160)}" for item in wrong),
        )


def agent_setup_network(case: TrialCase) -> Iterator[Finding]:
    """The agent could not be installed: a name was not to be resolved, or a certificate was not trusted (case 65)."""
    for issue in case.issues(Code.AGENT_SETUP_FAILED):
        said = _said(issue)
        for rule, words in (("dns", NETWORK_WORDS), ("tls", TLS_WORDS)):
            if words.search(said):
                yield of_issue(rule, Cause.INFRASTRUCTURE, issue, "set-up of the agent")
                break


def out_of_memory(case: TrialCase) -> Iterator[Finding]:
    """From Docker's own record; an exit code of 137 alone says nothing (case 17). Where the agent's own container hit a
    limit that others lived with, the limit may not be to blame."""
    issues = case.issues(Code.OUT_OF_MEMORY)
    told = {issue.service for issue in issues}
    recorded = case.source == TRIALDECK.kind or case.trial.out_of_memory
    passed = _passed_alike(case)
    also = f"; {many(passed, 'other trial')} of this task passed under the same limit" if passed else ""
    for issue in issues:
        yield of_issue(
            "out_of_memory",
            Cause.INFRASTRUCTURE,
            issue,
            "docker inspect" if recorded else f"signs in what {case.source} keeps",
            strong=recorded and (not passed or issue.service not in ("", MAIN)),
            more=also,
        )
    for use in case.trial.services.values():
        if use.out_of_memory and use.service not in told:
            limit = f", limit {use.memory_limit >> 20} M" if use.memory_limit else ""
            yield Finding(
                rule="out_of_memory",
                cause=Cause.INFRASTRUCTURE,
                strength=Strength.WEAK if passed and use.service == MAIN else Strength.STRONG,
                text=f"service {clean_line(use.service, 80)} was OOM-killed{limit}{also}",
                source="docker inspect",
                evidence=(_log_evidence(case, use),),
            )
    if passed and (issues or case.trial.out_of_memory):
        yield Finding(
            rule="memory_was_enough",
            cause=Cause.MODEL,
            strength=Strength.WEAK,
            text=f"{many(passed, 'other trial')} of this task passed under the same memory limit",
            source="other trials",
        )


def killed_without_record(case: TrialCase) -> Iterator[Finding]:
    """A SIGKILL that nobody owns up to: not ours, not for the memory limit as far as Docker says."""
    for issue in case.issues(Code.KILLED_UNKNOWN):
        yield of_issue("killed_unknown", Cause.AMBIGUOUS, issue, "exit code", strong=False)


def environment_died(case: TrialCase) -> Iterator[Finding]:
    """The environment or a service of it ended under the agent; who ended it decides the cause (cases 8 and 25)."""
    for issue in case.issues(Code.ENVIRONMENT_DIED, Code.SERVICE_DIED):
        dead = issue.code is Code.ENVIRONMENT_DIED
        rule = "environment_died" if dead else "service_died"
        by_agent = _killed_by_agent(case, issue)
        if by_agent is not None:
            yield by_agent
            yield of_issue(rule, Cause.INFRASTRUCTURE, issue, "docker events", strong=False)
        else:
            yield of_issue(rule, Cause.INFRASTRUCTURE, issue, "docker events")


def refused_after_death(case: TrialCase) -> Iterator[Finding]:
    """The agent's last commands found no service, and Docker says that one had died."""
    dead = _dead_services(case)
    if not dead or case.session is None:
        return
    refused = []
    for step in reversed(case.agent_steps):
        if not step.observations:
            continue
        if not any(_REFUSED.search(observation.text) for observation in step.observations):
            break
        refused.append(step)
    if len(refused) < _LEAST_REFUSED:
        return
    first, last = refused[-1].number, refused[0].number
    yield Finding(
        rule="refused_after_death",
        cause=Cause.INFRASTRUCTURE,
        strength=Strength.WEAK if _agent_ended_a_service(case) else Strength.STRONG,
        text=f"the agent's last {len(refused)} commands found no service, after {', '.join(dead)} had ended",
        source=f"steps {first}–{last}",
        evidence=(case.step_evidence(case.session, first, _refusal(refused[-1].observations[0].text)),),
        step=first,
    )


def own_volume_full(case: TrialCase) -> Iterator[Finding]:
    """The agent filled a volume of its own: the model's doing, unless the engine itself ran out of room (case 11)."""
    if case.has(Code.DISK_FULL) or case.session is None:
        return
    for step in reversed(case.agent_steps):
        for observation in step.observations:
            found = _OWN_VOLUME_FULL.search(observation.text)
            if found and (observation.failed or observation.exit_code):
                yield Finding(
                    rule="own_volume_full",
                    cause=Cause.MODEL,
                    strength=Strength.WEAK,
                    text="a command of the agent filled a volume of its environment; the host had room",
                    source=f"step {step.number}",
                    evidence=(case.step_evidence(case.session, step.number, found[0]),),
                    step=step.number,
                )
                return


def of_issue(rule: str, cause: Cause, issue: Issue, source: str, *, strong: bool = True, more: str = "") -> Finding:
    """A finding that hands on what an issue says, with the issue's own evidence."""
    return Finding(
        rule=rule,
        cause=cause,
        strength=Strength.STRONG if strong else Strength.WEAK,
        text=clean_line(issue.message, SHOWN) + more,
        source=source,
        evidence=tuple(item for item in issue.evidence if item.file) or issue.evidence[:1],
    )


def _said(issue: Issue) -> str:
    return "\n".join([issue.message, *(item.text for item in issue.evidence)])


def _log_evidence(case: TrialCase, use: ServiceUse) -> Evidence:
    log = next((log for log in case.logs_of("service") if log.path.stem == use.service), None)
    last = case.tail(log.path, 1) if log is not None else []
    if log is None or not last:
        return Evidence("service", use.detail or use.service)
    return case.evidence(log.path, last[0], "last line")


def _passed_alike(case: TrialCase) -> int:
    limit = case.trial.memory_mb
    return sum(1 for trial in case.same_task if trial.state == PASSED and trial.memory_mb == limit)


def _dead_services(case: TrialCase) -> list[str]:
    found = {issue.service or MAIN for issue in case.issues(Code.SERVICE_DIED, Code.ENVIRONMENT_DIED)}
    for use in case.trial.services.values():
        if use.environment == "agent" and use.service != MAIN and use.out_of_memory:
            found.add(use.service)
    return sorted(found)


def _agent_ended_a_service(case: TrialCase) -> bool:
    return any(_killed_by_agent(case, issue) for issue in case.issues(Code.SERVICE_DIED, Code.ENVIRONMENT_DIED))


def _killed_by_agent(case: TrialCase, issue: Issue) -> Finding | None:
    """A command of the agent that ends such things, after which nothing worked any more."""
    if issue.phase is not Phase.AGENT or case.session is None or "memory limit" in _said(issue):
        return None
    of_main = issue.code is Code.ENVIRONMENT_DIED or issue.service == MAIN
    ends = _ENDS_MAIN if of_main else _ENDS_A_SERVICE
    for step in reversed(case.agent_steps):
        for call in step.calls:
            found = ends.search(call.text[:_MOST_COMMAND])
            if found is None:
                continue
            line = _line_at(call.text, found.end() - 1)
            what = issue.service or "the environment"
            return Finding(
                rule="ended_by_agent",
                cause=Cause.MODEL,
                strength=Strength.STRONG,
                text=f"{what} ended while the agent ran, and the agent had given a command that ends it: "
                + clean_line(line.strip(), 80),
                source=f"step {step.number}",
                evidence=(case.step_evidence(case.session, step.number, line.strip(), "command"),),
                step=step.number,
            )
        if of_main and any(_worked(observation) for observation in step.observations):
            return None  # what was commanded before it did not end the container
    return None


def _worked(observation: Observation) -> bool:
    return observation.exit_code == 0 or (
        observation.exit_code is None and not observation.failed and bool(observation.text.strip())
    )


def _line_at(text: str, place: int) -> str:
    begin = text.rfind("\n", 0, max(place, 0)) + 1
    end = text.find("\n", begin)
    return text[begin:] if end < 0 else text[begin:end]


def _refusal(text: str) -> str:
    return next((line for line in text.split("\n") if _REFUSED.search(line)), text[:SHOWN])
