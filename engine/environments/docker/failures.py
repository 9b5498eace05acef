"""What the messages of the daemon, of Compose and of BuildKit mean: text in, an issue's code out; the raw text is kept.

Only text that the engine's own tools wrote comes here, never what ran inside a container.
"""

from __future__ import annotations

import re

import msgspec

from engine.environments.docker.engine_api import EngineCallFailed
from engine.issues import Code, Evidence, Issue, Phase, Severity, TrialFailed


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """`retryable`: the same step may succeed a moment later with nothing changed."""

    code: Code
    message: str
    retryable: bool = False


UNREACHABLE = Failure(code=Code.DAEMON_UNREACHABLE, message="the Docker daemon can't be reached", retryable=True)

_CLASSES: tuple[tuple[str, Code, str, bool], ...] = (
    (
        r"cannot connect to (the )?docker|is the docker daemon running|connection to the daemon broke|"
        r"daemon did not answer|error during connect",
        Code.DAEMON_UNREACHABLE,
        "the Docker daemon can't be reached",
        True,
    ),
    (r"no space left on device|disk quota exceeded", Code.DISK_FULL, "the disk is full", False),
    (
        r"non-overlapping ipv4 address pool|address pools have been fully subnetted",
        Code.ADDRESS_POOL_EXHAUSTED,
        "Docker has no free address range for another network",
        True,
    ),
    (
        r"pool overlaps with other one on this address space",
        Code.ADDRESS_POOL_EXHAUSTED,
        "another network has the address range that the task fixes",
        True,
    ),
    (r"too many open files", Code.OUT_OF_DESCRIPTORS, "out of file descriptors", True),
    (
        r"container name \S+ is already in use|port is already allocated|address already in use|"
        r"ports are not available|bind for \S+ failed",
        Code.NAME_CONFLICT,
        "a name or a port that is global on the daemon is taken",
        True,
    ),
    (
        r"toomanyrequests|too many requests|pull rate limit|429 ",
        Code.PULL_RATE_LIMITED,
        "the registry limits pulls",
        True,
    ),
    (
        r"manifest (for \S+ )?(unknown|not found)|repository does not exist|pull access denied|no such image|"
        r"manifest invalid|no matching manifest|not found: manifest|unauthorized|authentication required|"
        r"invalid reference format|failed to resolve (source metadata|reference)[^\n]*not found|name unknown",
        Code.PULL_FAILED,
        "the image can't be had",
        False,
    ),
    (
        r"tls handshake timeout|failed to resolve source metadata|failed to (do request|resolve reference)|"
        r"error pulling image|failed to copy|failed to fetch (anonymous|oauth) token|"
        r"(get|head) \"https?://[^\"]+\": |registry[^\n]*(timeout|refused)|"
        r"(502 bad gateway|503 service unavailable|504 gateway)|unexpected eof|received unexpected http status",
        Code.PULL_FAILED,
        "the registry doesn't answer",
        True,
    ),
    (
        r"cannot join network of a non running container|joining network namespace of container|"
        r"cannot join network namespace|namespace path: lstat /proc/\d+/ns/net: no such file",
        Code.SERVICE_EXITED,
        "a service whose network another one shares has ended",
        False,
    ),
)


def classify(text: str) -> Failure | None:
    """None where the text names none of the classes."""
    low = text.lower()
    for pattern, code, message, retryable in _CLASSES:
        if re.search(pattern, low):
            return Failure(code=code, message=message, retryable=retryable)
    return None


def holder(text: str) -> str:
    """Who has the name or port of a conflict, as far as the message says: a container's id, a name, or an address."""
    match = re.search(r'by container "([0-9a-f]{12,64})"', text)
    if match:
        return match.group(1)
    match = re.search(r"[Bb]ind for (\S+) failed", text)
    return match.group(1) if match else ""


def fixed_name(text: str) -> str:
    match = re.search(r'container name "/?([^"]+)" is already in use', text)
    return match.group(1) if match else ""


def fail(
    code: Code,
    message: str,
    *evidence: Evidence,
    service: str = "",
    phase: Phase = Phase.PREPARE,
    severity: Severity = Severity.FATAL,
) -> TrialFailed:
    """The exception to raise."""
    return TrialFailed(
        Issue(severity=severity, phase=phase, code=code, message=message, evidence=evidence, service=service)
    )


def from_daemon(
    error: EngineCallFailed,
    doing: str,
    *,
    phase: Phase = Phase.PREPARE,
    service: str = "",
    fallback: Code = Code.ENVIRONMENT_FAILED,
) -> TrialFailed:
    """The daemon refused a call: its class if the words are known, else `fallback`, with its own words as evidence."""
    known = classify(error.message)
    if error.unreachable and (known is None or known.code is not Code.OUT_OF_DESCRIPTORS):
        known = UNREACHABLE
    code = known.code if known else fallback
    message = f"{doing}: {known.message}" if known else f"{doing}: {error.message}"
    return fail(code, message, Evidence("daemon", error.message), service=service, phase=phase)
