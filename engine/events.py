"""Everything that can happen in a run, typed. One JSON object a line; `type` names the struct in snake case.

The engine appends events to `events.jsonl` of the run folder, resource samples to `samples.jsonl` of a trial and to
`host.jsonl` of the run. `RunState` folds all of them. Times are UTC with an offset; durations are seconds measured by a
monotonic clock, never differences of wall-clock times. Unknown fields are ignored, an unknown type decodes to None, so
that a newer run folder still opens.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

import msgspec

from engine.issues import Issue, Phase


def _snake(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


def now() -> datetime:
    return datetime.now(UTC)


class Event(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="type", tag=_snake, gc=False):
    """`untimed`: nobody knows when; `at` only says where it stands among the others (records of other systems)."""

    at: datetime = msgspec.field(default_factory=now)
    untimed: bool = False


# --- what the plan says -----------------------------------------------------------------------------------------------


class Endpoint(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How an arm's model is reached from this host: no part of what is measured, so that another port is no other run.

    A key is never in here, only where it is found: a variable's name or a file's path. A value of `headers` may be
    `${VAR}`, filled from the engine's environment.
    """

    base_url: str = ""
    key_env: str = ""
    key_file: str = ""
    headers: dict[str, str] = {}


class ArmInfo(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One configuration. `parameters` never hold a secret. From `provider` on: what a card says of the arm beside what
    its agent takes. `capsules`: what its agent is carried in with, tag -> digest."""

    name: str
    agent: str
    agent_version: str = ""
    model: str = ""
    parameters: dict[str, str] = {}
    provider: str = ""
    effort: str = ""
    tools: tuple[str, ...] = ()
    mcp: tuple[str, ...] = ()
    skills: tuple[str, ...] = ()
    prompt_digest: str = ""
    protocol: str = ""
    temperature: float | None = None
    context_tokens: int | None = None
    max_output_tokens: int | None = None
    endpoint: Endpoint = Endpoint()
    capsules: dict[str, str] = {}


class TaskSetInfo(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """`version` is what the set calls itself (or the git commit), `digest` covers the chosen tasks' content."""

    name: str
    version: str = ""
    digest: str = ""


class HostInfo(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The host of the Docker engine. `elsewhere`: it is not the one that trialdeck runs on."""

    name: str = ""
    cpus: float = 0
    memory_mb: int = 0
    docker: str = ""
    compose: str = ""
    elsewhere: bool = False


class RunPlanned(Event, frozen=True, kw_only=True):
    """First event of every run: what is going to be measured."""

    run: str
    name: str
    task_set: TaskSetInfo
    arms: tuple[ArmInfo, ...]
    tasks: int
    trials: int
    attempts: int = 1
    concurrency: int = 1
    seed: int = 0
    timeout_factor: float = 1.0
    max_cost_usd: float | None = None
    card_digest: str = ""
    engine_version: str = ""
    host: HostInfo = HostInfo()
    source: str = "trialdeck"


class TrialPlanned(Event, frozen=True, kw_only=True):
    """`limits` are seconds per phase, the timeout factor already applied; a phase without a limit is left out."""

    trial: str
    task: str
    arm: str
    attempt: int
    position: int
    cpus: float = 0
    memory_mb: int = 0
    limits: dict[Phase, float] = {}
    category: str = ""
    difficulty: str = ""


# --- the engine's process ---------------------------------------------------------------------------------------------


class EngineStarted(Event, frozen=True, kw_only=True):
    """One per engine process; a resumed run has several."""

    pid: int
    host: str
    session: int
    resumed: bool = False


class EngineStopped(Event, frozen=True, kw_only=True):
    reason: str = ""


class RunIssue(Event, frozen=True, kw_only=True):
    issue: Issue


class RunPaused(Event, frozen=True, kw_only=True):
    by: str = ""


class RunContinued(Event, frozen=True, kw_only=True):
    by: str = ""


class ConcurrencyChanged(Event, frozen=True, kw_only=True):
    concurrency: int


class CancelRequested(Event, frozen=True, kw_only=True):
    """`trial` empty: the whole run."""

    trial: str = ""
    force: bool = False


class RerunWanted(Event, frozen=True, kw_only=True):
    """A trial that is over shall run again: a person decided its cause, and the card's policy lets that cause run
    again. Its record is set aside by a TrialInterrupted."""

    trial: str
    cause: str
    by: str = ""


class RunFinished(Event, frozen=True, kw_only=True):
    """`exit_code` as `trialdeck run` gives it: 0 every trial scored, 3 unscored trials, 130 interrupted.
    `seconds` None: nobody measured it."""

    exit_code: int
    seconds: float | None
    reason: str = ""


# --- one trial --------------------------------------------------------------------------------------------------------


class TrialWaiting(Event, frozen=True, kw_only=True):
    """Next in line, held back; `reason` such as "memory (needs 16 G)"."""

    trial: str
    reason: str


class TrialStarted(Event, frozen=True, kw_only=True):
    """`run_number` is 1 unless an interrupted trial runs again."""

    trial: str
    run_number: int = 1
    project: str = ""


class PhaseStarted(Event, frozen=True, kw_only=True):
    """Told again with an earlier `at`, it corrects a start that was only observed: other systems write down when a
    phase began after it ended."""

    trial: str
    phase: Phase
    limit_sec: float | None = None
    step: str = ""


class PhaseFinished(Event, frozen=True, kw_only=True):
    trial: str
    phase: Phase
    seconds: float
    ok: bool = True
    step: str = ""


class ActivityChanged(Event, frozen=True, kw_only=True):
    """What the trial does right now: "build image", "wait for db", "bash", "hook 2/3"."""

    trial: str
    activity: str


class ServiceChanged(Event, frozen=True, kw_only=True):
    """`state`: created, running, healthy, unhealthy, paused, exited, oom, removed. `environment`: agent or verifier."""

    trial: str
    service: str
    state: str
    environment: str = "agent"
    container: str = ""
    exit_code: int | None = None
    detail: str = ""


class IssueRaised(Event, frozen=True, kw_only=True):
    trial: str
    issue: Issue


class HookFinished(Event, frozen=True, kw_only=True):
    """`seconds` None: nobody measured it."""

    trial: str
    number: int
    of: int
    service: str
    command: str
    exit_code: int | None
    seconds: float | None
    timed_out: bool = False
    output: str = ""
    step: str = ""


class ArtifactRecorded(Event, frozen=True, kw_only=True):
    """A manifest row. `status`: collected, empty, missing, skipped, refused, too_large, failed."""

    trial: str
    service: str
    source: str
    status: str
    bytes: int = 0
    sha256: str = ""
    note: str = ""
    step: str = ""


class AgentStepped(Event, frozen=True, kw_only=True):
    """One step of the agent. None means unknown, which is not zero. `tokens_in` includes what was read from the cache
    and written to it, `tokens_out` includes reasoning. `cost_source`: provider, prices or agent."""

    trial: str
    number: int
    what: str = ""
    tokens_in: int | None = None
    tokens_cached: int | None = None
    tokens_cache_written: int | None = None
    tokens_out: int | None = None
    tokens_reasoning: int | None = None
    cost_usd: float | None = None
    cost_source: str = ""


class ModelCalled(Event, frozen=True, kw_only=True):
    """One request to the trial's model that reached its end, as the engine saw it: the truth about tokens and money,
    where there is any of these. `code` is "" for an answer, else that of the failure (`engine.issues.Code`), `status`
    the HTTP status where one came. `hung_up`: who asked went away before it was over. `stop`: why the model stopped
    writing. `cost_source`: provider, or `prices` and their date. Tokens as in AgentStepped."""

    trial: str
    number: int
    seconds: float = 0
    model: str = ""
    tokens_in: int | None = None
    tokens_cached: int | None = None
    tokens_cache_written: int | None = None
    tokens_out: int | None = None
    tokens_reasoning: int | None = None
    cost_usd: float | None = None
    cost_source: str = ""
    stop: str = ""
    code: str = ""
    status: int | None = None
    hung_up: bool = False


class AgentFinished(Event, frozen=True, kw_only=True):
    """`seconds` None: nobody measured it."""

    trial: str
    exit_code: int | None
    seconds: float | None
    timed_out: bool = False
    killed_processes: int = 0
    step: str = ""


class FilesChanged(Event, frozen=True, kw_only=True):
    """How many files the agent added, changed and deleted in `main`; the list is the trial's `changes.json`. `unseen`:
    places of `main` (tmpfs, volumes) of which nobody knows what was changed there."""

    trial: str
    added: int
    changed: int
    deleted: int
    unseen: tuple[str, ...] = ()


class RewardRecorded(Event, frozen=True, kw_only=True):
    """`reward` is the primary one, None where missing or invalid. `source`: the file it was read from."""

    trial: str
    reward: float | None
    rewards: dict[str, float] = {}
    source: str = ""
    tests_passed: int | None = None
    tests_total: int | None = None
    step: str = ""


class ThresholdCrossed(Event, frozen=True, kw_only=True):
    """`what`: memory, cpu, pids, disk; `value` and `limit` in the unit of the sample."""

    trial: str
    service: str
    what: str
    value: float
    limit: float


class ResourcePeaked(Event, frozen=True, kw_only=True):
    """The peaks of one service over its life, written when it goes."""

    trial: str
    service: str
    environment: str = "agent"
    cpu_percent: float = 0
    memory_bytes: int = 0
    memory_limit: int = 0
    pids: int = 0
    network_bytes: int = 0
    block_bytes: int = 0


class TrialFinished(Event, frozen=True, kw_only=True):
    """`outcome`: scored, unscored, refused, cancelled. `passed` is None unless scored. `seconds` None: it
    never ran, or nobody measured it. Cost None: unknown; `cost_partial`: some of it is, so that `cost_usd` is a lower
    bound. `model_calls` None: the engine sees none of the agent's calls; `model_failures` of them were not answered,
    `model_retries` of these were followed by another."""

    trial: str
    outcome: str
    reward: float | None = None
    passed: bool | None = None
    seconds: float | None = None
    agent_seconds: float | None = None
    tokens_in: int | None = None
    tokens_cached: int | None = None
    tokens_out: int | None = None
    cost_usd: float | None = None
    timed_out: bool = False
    kept: bool = False
    tokens_cache_written: int | None = None
    tokens_reasoning: int | None = None
    cost_partial: bool = False
    cost_source: str = ""
    model_calls: int | None = None
    model_failures: int = 0
    model_retries: int = 0


class TrialInterrupted(Event, frozen=True, kw_only=True):
    """Its record was set aside, to `folder` (relative to the run folder), because it runs (again): it was cut off,
    ended without a verdict, or a person wanted it rerun."""

    trial: str
    run_number: int
    reason: str
    folder: str = ""
    cost_usd: float | None = None
    cost_partial: bool = False


class EnvironmentGone(Event, frozen=True, kw_only=True):
    """What was left up of a trial is up no more; `container` is one of it, as in ServiceChanged, since an earlier run
    of the trial may have left another up. A sweep tells this of runs that are over: it is no sign of life."""

    trial: str
    container: str
    reason: str = ""


class TrialWithdrawn(Event, frozen=True, kw_only=True):
    """Planned, and not part of the run any more: its owner took it back, or another trial stands in its place. Only
    readers of other systems' runs tell this."""

    trial: str
    reason: str = ""


# --- samples: never in events.jsonl, each in a file of its own --------------------------------------------------------


class ResourceSampled(Event, frozen=True, kw_only=True):
    """One container, once a second. CPU in percent of one core; limits 0 where there is none."""

    trial: str
    service: str
    environment: str = "agent"
    cpu_percent: float = 0
    cpu_limit: float = 0
    memory_bytes: int = 0
    memory_limit: int = 0
    pids: int = 0
    network_rx: int = 0
    network_tx: int = 0
    block_read: int = 0
    block_write: int = 0


class HostSampled(Event, frozen=True, kw_only=True):
    """The engine's host, once in a few seconds. CPU in percent of all cores; `networks_limit` is an estimate."""

    cpu_percent: float = 0
    memory_used: int = 0
    memory_total: int = 0
    disk_free: int = 0
    networks: int = 0
    networks_limit: int = 0


AnyEvent = (
    RunPlanned
    | TrialPlanned
    | EngineStarted
    | EngineStopped
    | RunIssue
    | RunPaused
    | RunContinued
    | ConcurrencyChanged
    | CancelRequested
    | RerunWanted
    | RunFinished
    | TrialWaiting
    | TrialStarted
    | PhaseStarted
    | PhaseFinished
    | ActivityChanged
    | ServiceChanged
    | IssueRaised
    | HookFinished
    | ArtifactRecorded
    | AgentStepped
    | ModelCalled
    | AgentFinished
    | FilesChanged
    | RewardRecorded
    | ThresholdCrossed
    | ResourcePeaked
    | TrialFinished
    | TrialInterrupted
    | EnvironmentGone
    | TrialWithdrawn
    | ResourceSampled
    | HostSampled
)

_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(AnyEvent)


def encode(event: Event) -> bytes:
    """One whole line, newline included. Lone surrogates (names that are not UTF-8) are written as `\\udcff`, so that
    they can be told from each other."""
    try:
        return _encoder.encode(event) + b"\n"
    except UnicodeEncodeError:
        plain = msgspec.to_builtins(event)
        return _encoder.encode(_valid_text(plain)) + b"\n"


def _valid_text(value: object) -> object:
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, dict):
        return {_valid_text(key): _valid_text(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_valid_text(item) for item in value]
    return value


def decode(line: bytes) -> AnyEvent | None:
    """None for a line that is no event we know: cut by a crash, or written by a newer version."""
    try:
        return _decoder.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def decode_lines(lines: Iterable[bytes]) -> Iterator[AnyEvent]:
    for line in lines:
        event = decode(line)
        if event is not None:
            yield event
