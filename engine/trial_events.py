"""What happens to one trial, from waiting in line to its verdict, and what becomes of it later."""

from __future__ import annotations

import msgspec

from engine.event import Event
from engine.issues import Issue, Phase
from engine.json_numbers import Whole


class TrialWaiting(Event, frozen=True, kw_only=True):
    """Next in line, held back; `reason` such as "memory (needs 16 G)"."""

    trial: str
    reason: str


class TrialStarted(Event, frozen=True, kw_only=True):
    """`run_number` is 1 unless an interrupted trial runs again."""

    trial: str
    run_number: Whole = 1
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
    exit_code: Whole | None = None
    detail: str = ""


class IssueRaised(Event, frozen=True, kw_only=True):
    trial: str
    issue: Issue


class HookFinished(Event, frozen=True, kw_only=True):
    """`seconds` None: nobody measured it."""

    trial: str
    number: Whole
    of: Whole
    service: str
    command: str
    exit_code: Whole | None
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
    bytes: Whole = 0
    sha256: str = ""
    note: str = ""
    step: str = ""


class AgentStepped(Event, frozen=True, kw_only=True):
    """One step of the agent. None means unknown, which is not zero. `tokens_in` includes what was read from the cache
    and written to it, `tokens_out` includes reasoning. `cost_source`: provider, prices or agent."""

    trial: str
    number: Whole
    what: str = ""
    tokens_in: Whole | None = None
    tokens_cached: Whole | None = None
    tokens_cache_written: Whole | None = None
    tokens_out: Whole | None = None
    tokens_reasoning: Whole | None = None
    cost_usd: float | None = None
    cost_source: str = ""


class ModelCalled(Event, frozen=True, kw_only=True):
    """One request to the trial's model that reached its end, as the engine saw it: the truth about tokens and money,
    where there is any of these. `code` is "" for an answer, else that of the failure (`engine.issues.Code`), `status`
    the HTTP status where one came. `hung_up`: who asked went away before it was over. `stop`: why the model stopped
    writing. `cost_source`: provider, or `prices` and their date. Tokens as in AgentStepped."""

    trial: str
    number: Whole
    seconds: float = 0
    model: str = ""
    tokens_in: Whole | None = None
    tokens_cached: Whole | None = None
    tokens_cache_written: Whole | None = None
    tokens_out: Whole | None = None
    tokens_reasoning: Whole | None = None
    cost_usd: float | None = None
    cost_source: str = ""
    stop: str = ""
    code: str = ""
    status: Whole | None = None
    hung_up: bool = False


class AgentFinished(Event, frozen=True, kw_only=True):
    """`seconds` None: nobody measured it."""

    trial: str
    exit_code: Whole | None
    seconds: float | None
    timed_out: bool = False
    killed_processes: Whole = 0
    step: str = ""


class FilesChanged(Event, frozen=True, kw_only=True):
    """How many files the agent added, changed and deleted in `main`; the list is the trial's `changes.json`. `unseen`:
    places of `main` (tmpfs, volumes) of which nobody knows what was changed there."""

    trial: str
    added: Whole
    changed: Whole
    deleted: Whole
    unseen: tuple[str, ...] = ()


class RewardRecorded(Event, frozen=True, kw_only=True):
    """`reward` is the primary one, None where missing or invalid. `source`: the file it was read from."""

    trial: str
    reward: float | None
    rewards: dict[str, float] = msgspec.field(default_factory=dict)
    source: str = ""
    tests_passed: Whole | None = None
    tests_total: Whole | None = None
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
    memory_bytes: Whole = 0
    memory_limit: Whole = 0
    pids: Whole = 0
    network_bytes: Whole = 0
    block_bytes: Whole = 0


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
    tokens_in: Whole | None = None
    tokens_cached: Whole | None = None
    tokens_out: Whole | None = None
    cost_usd: float | None = None
    timed_out: bool = False
    kept: bool = False
    tokens_cache_written: Whole | None = None
    tokens_reasoning: Whole | None = None
    cost_partial: bool = False
    cost_source: str = ""
    model_calls: Whole | None = None
    model_failures: Whole = 0
    model_retries: Whole = 0


class TrialInterrupted(Event, frozen=True, kw_only=True):
    """Its record was set aside, to `folder` (relative to the run folder), because it runs (again): it was cut off,
    ended without a verdict, or a person wanted it rerun."""

    trial: str
    run_number: Whole
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
