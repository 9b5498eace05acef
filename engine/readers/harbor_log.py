"""What only Harbor's logs tell: hooks, downloads that failed, clean-up that failed, runs that were thrown away.

The logs carry no times. What hooks and builds print stands in them unmarked, so a task could write such a line itself:
nothing here decides more than a warning.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from engine.issues import Code, Evidence, Issue, Phase, Severity

TRIAL_LOG = "trial.log"
MOST_READ = 4 << 20
MOST_ISSUES = 100
_MOST_OUTPUT = 2_000
_MOST_LINES = 40

_RUNNING = re.compile(r"^Running collect hook in service '(.*?)': (.*)$")
_COMPLETED = re.compile(r"^Collect hook in service '(.*?)' completed$")
_EXITED = re.compile(r"^Collect hook in service '(.*?)' exited with code (-?\d+): (.*?)\. stdout: (.*)$")
_FAILED = re.compile(r"^Collect hook in service '(.*?)' failed \((.*)\): (.*)$")
_TIMED_OUT = re.compile(r"timed out after (\d+(?:\.\d+)?) seconds")
_DOWNLOAD = re.compile(r"^Failed to download artifact '(.*)' from service '(.*)' \(best-effort\)$")
_COLLISION = re.compile(r"^Artifact collision: source '(.*?)' \(service (.*?)\) maps to host path ")
_STEP = re.compile(r"^Starting step (\d+)/(\d+): (.*)$")
_COLLECTING = "Collecting main service artifacts"
_ERROR = re.compile(r"^(?:[A-Za-z_][\w.]*(?:Error|Exception|Timeout)|TimeoutError)\b(?:: )?(.*)$")
_MISSING = re.compile(r"[Cc]ould not find the file|[Nn]o such file or directory|[Nn]o such container:path")
_KNOWN = re.compile(
    r"^(?:Running |Collect hook |Collecting |Stopping main |Main service stopped|compose cp failed|Failed to |"
    r"Healthcheck |Trial |Skipping |Skipped |Starting step |Step '|Artifact collision|Traceback |Agent '|"
    r"Not retrying |Cleanup |Warning: |Harbor could not)"
)

_Told = tuple[re.Pattern[str], Phase, Code, str]
_PLAIN: tuple[_Told, ...] = (
    (re.compile(r"^Failed to download logs to .*?([^/]+): (.*)$"), Phase.COLLECT, Code.ARTIFACT_TRANSFER_FAILED,
     "the logs of {0} could not be downloaded: {1}"),
    (re.compile(r"^Failed to upload (\S+) logs back to environment: (.*)$"), Phase.COLLECT,
     Code.ARTIFACT_TRANSFER_FAILED, "the {0} logs could not be taken back into the environment: {1}"),
    (re.compile(r"^Skipped (\d+) unsafe entries in artifact (.*), e\.g\. (.*)$"), Phase.COLLECT,
     Code.ARTIFACT_REFUSED, "{0} unsafe entries of an artifact were left out, such as {2}"),
    (re.compile(r"^Failed to stop main service before sidecar collection: (.*)$"), Phase.COLLECT,
     Code.ARTIFACT_COLLECT_FAILED, "main went on running while its sidecars were collected from: {0}"),
    (re.compile(r"^Warning: Agent environment cleanup failed for .*?: (.*)$"), Phase.CLEANUP, Code.LEFTOVER,
     "the agent's environment could not be taken down: {0}"),
    (re.compile(r"^Failed to stop verifier env '(.*?)': (.*)$"), Phase.CLEANUP, Code.LEFTOVER,
     "the verifier's environment {0} could not be taken down: {1}"),
    (re.compile(r"^(Harbor could not determine or estimate the inference endpoint .*)$"), Phase.PREPARE,
     Code.TASK_WARNING, "{0}"),
)  # fmt: skip

_RETRY = re.compile(r"^Trial (\S+) failed with exception (.+)\. Retrying in [\d.]+ seconds\.\.\.$")
_TASK_WARNING = re.compile(r"^Task (\S+): (.*)$")
_UNREADABLE = re.compile(r"^Skipping existing trial directory (.*) because (result\.json .*)$")


@dataclass
class Hook:
    """A collect hook. `exit_code` None: timed out, could not run, or not over. `seconds` None: no file tells."""

    service: str
    command: str
    exit_code: int | None = None
    timed_out: bool = False
    seconds: float | None = None
    output: str = ""
    step: str = ""
    over: bool = False
    line: int = 0


@dataclass(frozen=True)
class FailedDownload:
    """`missing`: it wasn't there, as Docker said; else the transfer itself failed."""

    source: str
    service: str
    why: str
    missing: bool
    line: int


@dataclass
class TrialLog:
    """`step` and `collecting` tell how far a trial is that still runs."""

    hooks: list[Hook] = field(default_factory=list)
    downloads: list[FailedDownload] = field(default_factory=list)
    collisions: dict[tuple[str, str], int] = field(default_factory=dict)
    issues: list[Issue] = field(default_factory=list)
    step: str = ""
    step_number: str = ""
    collecting: bool = False


def trial_log(data: bytes) -> TrialLog:
    lines = data.decode("utf-8", "replace").splitlines()
    log = TrialLog()
    for number, line in enumerate(lines):
        if len(log.issues) + len(log.hooks) + len(log.downloads) >= MOST_ISSUES:
            break
        if (found := _STEP.match(line)) is not None:
            log.step, log.step_number, log.collecting = found.group(3), f"{found.group(1)}/{found.group(2)}", False
        elif line == _COLLECTING:
            log.collecting = True
        elif (found := _RUNNING.match(line)) is not None:
            log.hooks.append(Hook(found.group(1), _command(found.group(2)), step=log.step, line=number + 1))
        elif line.startswith("Collect hook "):
            _end_hook(log, lines, number)
        elif (found := _DOWNLOAD.match(line)) is not None:
            why = _why(lines, number)
            log.downloads.append(
                FailedDownload(found.group(1), found.group(2), why, bool(_MISSING.search(why)), number + 1)
            )
        elif (found := _COLLISION.match(line)) is not None:
            service = found.group(2).strip("'")
            log.collisions[(found.group(1), "" if service == "None" else service)] = number + 1
        else:
            log.issues += _plain(line, number + 1, log.step)
    log.issues = [*(_hook_issue(hook) for hook in log.hooks if hook.over and hook.exit_code != 0), *log.issues]
    return log


def _plain(line: str, number: int, step: str) -> Iterator[Issue]:
    for pattern, phase, code, said in _PLAIN:
        if (found := pattern.match(line)) is not None:
            evidence = Evidence("log", line, TRIAL_LOG, number)
            yield Issue(Severity.WARNING, phase, code, said.format(*found.groups()), (evidence,), step=step)
            return


def _end_hook(log: TrialLog, lines: list[str], number: int) -> None:
    line = lines[number]
    if (found := _EXITED.match(line)) is not None:
        service, command = found.group(1), _command(found.group(3))
        hook = _open_hook(log, service, command, number)
        hook.exit_code = int(found.group(2))
        hook.output = "\n".join([found.group(4), *_following(lines, number)]).removesuffix("stderr: None").strip()
    elif (found := _FAILED.match(line)) is not None:
        hook = _open_hook(log, found.group(1), _command(found.group(2)), number)
        hook.output = found.group(3)
        if (limit := _TIMED_OUT.search(found.group(3))) is not None:
            hook.timed_out, hook.seconds = True, float(limit.group(1))
    elif (found := _COMPLETED.match(line)) is not None:
        hook = _open_hook(log, found.group(1), "", number)
        hook.exit_code = 0
    else:
        return
    hook.over = True
    hook.line = number + 1
    hook.output = hook.output[-_MOST_OUTPUT:]


def _open_hook(log: TrialLog, service: str, command: str, number: int) -> Hook:
    for hook in reversed(log.hooks):
        if not hook.over and hook.service == service and command in ("", hook.command):
            return hook
    log.hooks.append(Hook(service, command, step=log.step, line=number + 1))
    return log.hooks[-1]


def _following(lines: list[str], number: int) -> Iterator[str]:
    """What a message goes on with: up to the next one that Harbor begins."""
    for line in lines[number + 1 : number + 1 + _MOST_LINES]:
        if _KNOWN.match(line):
            return
        yield line


def _why(lines: list[str], number: int) -> str:
    """The last error of the traceback that follows."""
    why = ""
    for line in lines[number + 1 : number + 1 + 400]:
        if (found := _ERROR.match(line)) is not None:
            why = found.group(1) or line
        elif _KNOWN.match(line) and not line.startswith("Traceback "):
            break
    return why


def _command(written: str) -> str:
    """Harbor writes commands as Python literals."""
    try:
        value = ast.literal_eval(written) if len(written) < 20_000 else written
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return written
    return value if isinstance(value, str) else written


def _hook_issue(hook: Hook) -> Issue:
    if hook.timed_out:
        ended = f"timed out after {hook.seconds:g} s" if hook.seconds is not None else "timed out"
    elif hook.exit_code is None:
        ended = f"could not run: {hook.output}"
    else:
        ended = f"ended with exit code {hook.exit_code}"
    return Issue(
        Severity.WARNING,
        Phase.COLLECT,
        Code.ARTIFACT_COLLECT_FAILED,
        f"{hook.service}: hook {ended}",
        (Evidence("command", hook.command), Evidence("output", hook.output, TRIAL_LOG, hook.line)),
        service=hook.service,
        step=hook.step,
    )


@dataclass(frozen=True)
class Retry:
    """A run of a trial that Harbor deleted before it ran the trial again. `line` is of job.log."""

    trial: str
    exception: str
    line: int


class JobLog:
    """job.log as it grows. It repeats what the trials' logs say; only what those can't say is taken from it."""

    def __init__(self) -> None:
        self.lines = 0
        self.retries: dict[str, list[Retry]] = {}
        self._told: set[str] = set()

    def feed(self, lines: list[bytes], is_task: Callable[[str], bool]) -> list[Issue]:
        issues = []
        for raw in lines:
            self.lines += 1
            line = raw[:4_096].decode("utf-8", "replace")
            if (found := _RETRY.match(line)) is not None:
                retry = Retry(found.group(1), found.group(2), self.lines)
                self.retries.setdefault(retry.trial, []).append(retry)
            elif (found := _TASK_WARNING.match(line)) is not None and is_task(found.group(1)):
                issues += self._issue(line, Severity.WARNING, Code.TASK_WARNING, line)
            elif (found := _UNREADABLE.match(line)) is not None:
                said = f"Harbor passed over a trial when it resumed: {found.group(2)}"
                issues += self._issue(line, Severity.ERROR, Code.HARNESS_FAILED, said)
        return issues

    def _issue(self, line: str, severity: Severity, code: Code, said: str) -> list[Issue]:
        if line in self._told or len(self._told) >= MOST_ISSUES:
            return []
        self._told.add(line)
        return [Issue(severity, None, code, said, (Evidence("log", line, "job.log", self.lines),))]
