"""Everything that can happen in a run, typed. One JSON object a line; `type` names the struct in snake case.

The engine appends events to `events.jsonl` of the run folder, resource samples to `samples.jsonl` of a trial and to
`host.jsonl` of the run. `RunState` folds all of them. Times are UTC with an offset; durations are seconds measured by a
monotonic clock, never differences of wall-clock times. Unknown fields are ignored, an unknown type decodes to None, so
that a newer run folder still opens.

Everybody imports events from here. Their fields are told in `plan_events`, `run_events`, `trial_events` and
`sample_events`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from engine.event import Event, now
from engine.plan_events import ArmInfo, Endpoint, HostInfo, RunPlanned, TaskSetInfo, TrialPlanned
from engine.run_events import (
    CancelRequested,
    ConcurrencyChanged,
    EngineStarted,
    EngineStopped,
    RerunWanted,
    RunContinued,
    RunFinished,
    RunIssue,
    RunPaused,
)
from engine.sample_events import HostSampled, ResourceSampled
from engine.trial_events import (
    ActivityChanged,
    AgentFinished,
    AgentStepped,
    ArtifactRecorded,
    EnvironmentGone,
    FilesChanged,
    HookFinished,
    IssueRaised,
    ModelCalled,
    PhaseFinished,
    PhaseStarted,
    ResourcePeaked,
    RewardRecorded,
    ServiceChanged,
    ThresholdCrossed,
    TrialFinished,
    TrialInterrupted,
    TrialStarted,
    TrialWaiting,
    TrialWithdrawn,
)

__all__ = [
    "ActivityChanged",
    "AgentFinished",
    "AgentStepped",
    "AnyEvent",
    "ArmInfo",
    "ArtifactRecorded",
    "CancelRequested",
    "ConcurrencyChanged",
    "Endpoint",
    "EngineStarted",
    "EngineStopped",
    "EnvironmentGone",
    "Event",
    "FilesChanged",
    "HookFinished",
    "HostInfo",
    "HostSampled",
    "IssueRaised",
    "ModelCalled",
    "PhaseFinished",
    "PhaseStarted",
    "RerunWanted",
    "ResourcePeaked",
    "ResourceSampled",
    "RewardRecorded",
    "RunContinued",
    "RunFinished",
    "RunIssue",
    "RunPaused",
    "RunPlanned",
    "ServiceChanged",
    "TaskSetInfo",
    "ThresholdCrossed",
    "TrialFinished",
    "TrialInterrupted",
    "TrialPlanned",
    "TrialStarted",
    "TrialWaiting",
    "TrialWithdrawn",
    "decode",
    "decode_lines",
    "encode",
    "now",
]

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
