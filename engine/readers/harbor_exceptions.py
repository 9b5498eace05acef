"""From an exception that Harbor recorded to the issue that it is."""

from __future__ import annotations

import re
from pathlib import Path

from engine.issues import Code, Evidence, Issue, Phase, Severity
from engine.readers.harbor_record import CANCELLED, Raised
from engine.readers.inside import read_inside

EXCEPTION = "exception.txt"
_MOST_READ = 1 << 20
_END_LINES = 25
_END_CHARS = 4_000
_MOST_SAID = 300

_Kind = tuple[Severity, Phase, Code]
_BY_TYPE: dict[str, _Kind] = {
    "EnvironmentStartTimeoutError": (Severity.FATAL, Phase.PREPARE, Code.START_TIMEOUT),
    "SandboxBuildFailedError": (Severity.FATAL, Phase.PREPARE, Code.BUILD_FAILED),
    "HealthcheckError": (Severity.FATAL, Phase.PREPARE, Code.HEALTHCHECK_FAILED),
    "AgentSetupTimeoutError": (Severity.FATAL, Phase.PREPARE, Code.AGENT_SETUP_FAILED),
    "DspyImportError": (Severity.FATAL, Phase.PREPARE, Code.AGENT_SETUP_FAILED),
    "MissingExtraError": (Severity.FATAL, Phase.PREPARE, Code.AGENT_SETUP_FAILED),
    "SandboxLikelyOutOfMemoryError": (Severity.FATAL, Phase.AGENT, Code.OUT_OF_MEMORY),
    "MemoryLimitExceededError": (Severity.FATAL, Phase.AGENT, Code.OUT_OF_MEMORY),
    "AgentTimeoutError": (Severity.WARNING, Phase.AGENT, Code.HARNESS_TIMEOUT),
    "NonZeroAgentExitCodeError": (Severity.WARNING, Phase.AGENT, Code.AGENT_EXIT_NONZERO),
    "VerifierTimeoutError": (Severity.FATAL, Phase.VERIFY, Code.VERIFIER_TIMEOUT),
    "AddTestsDirError": (Severity.FATAL, Phase.VERIFY, Code.VERIFIER_SETUP_FAILED),
    "DownloadVerifierDirError": (Severity.FATAL, Phase.VERIFY, Code.ARTIFACT_TRANSFER_FAILED),
    "RegradeError": (Severity.FATAL, Phase.VERIFY, Code.VERIFIER_SETUP_FAILED),
    "RewardFileNotFoundError": (Severity.WARNING, Phase.VERIFY, Code.VERIFIER_RESULT_INVALID),
    "RewardFileEmptyError": (Severity.WARNING, Phase.VERIFY, Code.VERIFIER_RESULT_INVALID),
    "VerifierOutputParseError": (Severity.WARNING, Phase.VERIFY, Code.VERIFIER_RESULT_INVALID),
}
_BY_PHASE: dict[Phase, _Kind] = {
    Phase.PREPARE: (Severity.FATAL, Phase.PREPARE, Code.ENVIRONMENT_FAILED),
    Phase.AGENT: (Severity.ERROR, Phase.AGENT, Code.HARNESS_FAILED),
    Phase.VERIFY: (Severity.FATAL, Phase.VERIFY, Code.VERIFIER_CRASHED),
}

_COMPOSE = re.compile(r"Docker compose command failed .{0,4000}?\. Return code: (-?\d+)\. Stdout: ", re.DOTALL)
_BUILD = re.compile(r" build\. Return code: ")
_ENGINE_SAYS: tuple[tuple[re.Pattern[str], Code], ...] = (
    (re.compile(r"(?:container )?(\S+) is unhealthy", re.IGNORECASE), Code.SERVICE_UNHEALTHY),
    (re.compile(r"container (\S+) exited \(\d+\)"), Code.SERVICE_EXITED),
    (re.compile(r"toomanyrequests|pull rate limit", re.IGNORECASE), Code.PULL_RATE_LIMITED),
    (re.compile(r"pull access denied|manifest (?:for \S+ )?(?:not found|unknown)|failed to resolve reference"),
     Code.PULL_FAILED),
    (re.compile(r"non-overlapping IPv4 address pool|predefined address pools have been"), Code.ADDRESS_POOL_EXHAUSTED),
    (re.compile(r"no space left on device", re.IGNORECASE), Code.DISK_FULL),
    (re.compile(r"too many open files", re.IGNORECASE), Code.OUT_OF_DESCRIPTORS),
    (re.compile(r"cannot connect to the docker daemon", re.IGNORECASE), Code.DAEMON_UNREACHABLE),
    (re.compile(r"is already in use by container"), Code.NAME_CONFLICT),
    (re.compile(r"^(?:yaml|validating) |[Aa]dditional propert(?:y|ies) "), Code.COMPOSE_INVALID),
)  # fmt: skip
"""What Compose and Docker say last, in their own words; looked for in the last lines only, what a build printed
before is the build's."""


def issue_of(raised: Raised, folder: Path, trial: str, *, scored: bool) -> Issue:
    """`scored`: a valid reward came all the same."""
    if raised.type == CANCELLED:
        return Issue(
            Severity.WARNING,
            raised.phase,
            Code.HARNESS_INTERRUPTED,
            f"Harbor cancelled this trial during its {raised.phase} phase",
            (_evidence(raised, folder, "CancelledError"),),
            step=raised.step,
        )
    severity, phase, code = _BY_TYPE.get(raised.type) or _otherwise(raised)
    said, service = _last_words(raised.message), ""
    if (failed := _COMPOSE.search(raised.message)) is not None:
        told = _told_by_engine(raised.message)
        if told is not None and (code is Code.ENVIRONMENT_FAILED or phase is not Phase.PREPARE):
            code, said, service = told[0], told[1], _service(told[2], trial)
        elif code is Code.ENVIRONMENT_FAILED and _BUILD.search(failed.group()):
            code = Code.BUILD_FAILED
    elif raised.type == "EnvironmentStartTimeoutError" and '["build"]' in raised.traceback:
        code = Code.BUILD_TIMEOUT
    if severity is Severity.FATAL and scored:
        severity = Severity.ERROR
    return Issue(
        severity,
        phase,
        code,
        f"{raised.type}: {said[:_MOST_SAID]}" if said else raised.type,
        (_evidence(raised, folder, said),),
        service=service,
        step=raised.step,
    )


def _otherwise(raised: Raised) -> _Kind:
    found = _BY_PHASE.get(raised.phase, _BY_PHASE[Phase.AGENT])
    if found[2] is Code.ENVIRONMENT_FAILED:
        if "in run_healthcheck" in raised.traceback:
            return Severity.FATAL, Phase.PREPARE, Code.HEALTHCHECK_FAILED
        if "in _setup_agent\n" in raised.traceback:
            return Severity.FATAL, Phase.PREPARE, Code.AGENT_SETUP_FAILED
    return found


def _told_by_engine(message: str) -> tuple[Code, str, str] | None:
    for line in reversed(_end(message).splitlines()):
        for pattern, code in _ENGINE_SAYS:
            if (found := pattern.search(line)) is not None:
                return code, line.strip(), found.group(1) if pattern.groups else ""
    return None


def _service(container: str, trial: str) -> str:
    """The service behind Compose's name of a container: `<project>-<service>-<number>`."""
    project = re.sub(r"[^a-z0-9_-]", "-", f"{trial}__env".lower()) + "-"
    return re.sub(r"-\d+$", "", container.strip("\"'").removeprefix(project)) if project in container else ""


def _end(message: str) -> str:
    return "\n".join(message[-_END_CHARS:].splitlines()[-_END_LINES:])


def _last_words(message: str) -> str:
    """The line that says what is wrong: the last one of Compose's output, the first one of anything else."""
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    if not lines:
        return ""
    if "Docker compose command failed" in lines[0]:
        lines = [line for line in lines if not line.startswith(". Stderr:")]
        return lines[-1] if len(lines) > 1 else lines[0][-_MOST_SAID:]
    return lines[0]


def _evidence(raised: Raised, folder: Path, said: str) -> Evidence:
    """The place in exception.txt; where it isn't there (a step's exception has none), the words alone."""
    text = _end(raised.message) or raised.type
    data = read_inside(folder, folder / EXCEPTION, _MOST_READ)
    if data is None or raised.step:
        return Evidence(raised.type, text, "result.json")
    lines = data.decode("utf-8", "replace").splitlines()
    wanted = said[:200] or raised.type
    line = next((number for number in range(len(lines), 0, -1) if wanted in lines[number - 1]), 0)
    return Evidence(raised.type, text, EXCEPTION, line or len(lines))
