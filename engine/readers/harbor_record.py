"""What the result.json of one Harbor trial says, as far as it can be believed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from engine.issues import Phase
from engine.readers import json_values as values
from engine.readers.foreign_times import in_utc

PRIMARY = "reward"
CANCELLED = "CancelledError"
_REWARD_INVALID = frozenset(
    {
        "EnvironmentStartTimeoutError", "SandboxBuildFailedError", "AgentSetupTimeoutError", "HealthcheckError",
        "SandboxLikelyOutOfMemoryError", "MemoryLimitExceededError", "AddTestsDirError", "DownloadVerifierDirError",
        "ApiError", "ApiRateLimitError", "ApiInternalServerError", "ApiOverloadedError", "ApiConnectionClosedError",
        "ApiResponseStalledError", "UnknownApiError", "NetworkConnectionError", "ApiConnectionError",
        "ApiUsageLimitError", "RateLimitError", "InternalServerError", "ServiceUnavailableError", "APIConnectionError",
        "APIError", "Timeout", "BadRequestError", "BudgetExceededError", "VerifierTimeoutError",
        "RewardFileNotFoundError", "RewardFileEmptyError", "VerifierOutputParseError", "AgentAuthenticationError",
        "ModelNotFoundError", "AuthenticationError", "PermissionDeniedError", "NotFoundError", CANCELLED,
    }
)  # fmt: skip
"""Exceptions whose trial Harbor counts without its reward, for records that don't say so themselves."""


@dataclass(frozen=True)
class Timed:
    """One phase (of one step), in UTC. `end` None: it was begun and never ended."""

    phase: Phase
    start: datetime
    end: datetime | None
    step: str = ""


@dataclass(frozen=True)
class Raised:
    """An exception that Harbor recorded. `phase` is where the trial was then, as its times tell."""

    type: str
    message: str
    traceback: str
    at: datetime | None
    phase: Phase
    step: str = ""


@dataclass(frozen=True)
class Usage:
    """`tokens_in` includes `tokens_cached`. None means unknown."""

    tokens_in: int | None = None
    tokens_cached: int | None = None
    tokens_out: int | None = None
    cost_usd: float | None = None


@dataclass(frozen=True)
class Verdict:
    """`rewards` empty: none was given. `reward` is the primary one; None with rewards: none is named for it, or
    Harbor does not let it count."""

    reward: float | None
    rewards: dict[str, float]
    step: str = ""


@dataclass(frozen=True)
class HarborRecord:
    id: str
    agent_version: str
    started: datetime | None
    finished: datetime | None
    phases: tuple[Timed, ...]
    raised: tuple[Raised, ...]
    verdict: Verdict
    step_verdicts: tuple[Verdict, ...]
    usage: Usage

    @property
    def cancelled(self) -> bool:
        return any(raised.type == CANCELLED for raised in self.raised)

    @property
    def reached_agent(self) -> bool:
        return any(timed.phase is Phase.AGENT for timed in self.phases)


def harbor_record(value: object) -> HarborRecord:
    said = values.mapping(value)
    steps = values.rows(said.get("step_results"))
    phases = _phases(said, steps)
    started, finished = in_utc(said.get("started_at")), in_utc(said.get("finished_at"))
    contradictory = started is not None and finished is not None and finished < started
    if phases and (started is None or contradictory):
        started, finished = phases[0].start, phases[-1].end or finished
    raised = tuple(_raised(said, steps, phases))
    valid = _valid(said, raised)
    return HarborRecord(
        id=values.text(said.get("id")),
        agent_version=values.text(values.within(said, "agent_info", "version")),
        started=started,
        finished=finished,
        phases=phases,
        raised=raised,
        verdict=_verdict(said, valid=valid),
        step_verdicts=tuple(
            _verdict(step, valid=True, name=values.text(step.get("step_name")))
            for step in steps
            if isinstance(step.get("verifier_result"), dict)
        ),
        usage=_usage([said, *steps]),
    )


def _phases(said: dict[str, Any], steps: list[dict[str, Any]]) -> tuple[Timed, ...]:
    """In their order. What lies between the agent's end and the verifier's start is the collection; what follows the
    last phase is the clean-up."""
    found = []
    setup = [_span(said.get("environment_setup")), _span(said.get("agent_setup"))]
    begun = [span for span in setup if span is not None]
    if begun:
        ends = [end for _, end in begun]
        found.append(Timed(Phase.PREPARE, begun[0][0], None if None in ends else ends[-1]))
    for part, step in [(said, ""), *((step, values.text(step.get("step_name"))) for step in steps)]:
        agent, verifier = _span(part.get("agent_execution")), _span(part.get("verifier"))
        if agent is not None:
            found.append(Timed(Phase.AGENT, *agent, step))
        if agent is not None and agent[1] is not None and verifier is not None and verifier[0] > agent[1]:
            found.append(Timed(Phase.COLLECT, agent[1], verifier[0], step))
        if verifier is not None:
            found.append(Timed(Phase.VERIFY, *verifier, step))
    finished = in_utc(said.get("finished_at"))
    last = found[-1].end if found else None
    if finished is not None and last is not None and finished > last:
        found.append(Timed(Phase.CLEANUP, last, finished))
    return tuple(found)


def _span(value: object) -> tuple[datetime, datetime | None] | None:
    start, end = in_utc(values.within(value, "started_at")), in_utc(values.within(value, "finished_at"))
    if start is None:
        return None
    return start, None if end is None else max(start, end)


def _raised(said: dict[str, Any], steps: list[dict[str, Any]], phases: tuple[Timed, ...]) -> list[Raised]:
    found = []
    for part, step in [(said, ""), *((step, values.text(step.get("step_name"))) for step in steps)]:
        info = values.mapping(part.get("exception_info"))
        if not info:
            continue
        at = in_utc(info.get("occurred_at"))
        found.append(
            Raised(
                type=values.text(info.get("exception_type")) or "an exception without a name",
                message=values.text(info.get("exception_message")),
                traceback=values.text(info.get("exception_traceback")),
                at=at,
                phase=_phase_at(at, [timed for timed in phases if not step or timed.step == step]),
                step=step,
            )
        )
    return found


def _phase_at(at: datetime | None, phases: list[Timed]) -> Phase:
    """The phase that had begun last by then; the moments after its end belong to it: it is recorded a little later."""
    begun = [timed for timed in phases if timed.phase not in (Phase.COLLECT, Phase.CLEANUP)]
    if at is not None:
        begun = [timed for timed in begun if timed.start <= at] or begun[:1]
    return begun[-1].phase if begun else Phase.PREPARE


def _valid(said: dict[str, Any], raised: tuple[Raised, ...]) -> bool:
    told = said.get("reward_valid")
    return told if isinstance(told, bool) else not any(one.type in _REWARD_INVALID for one in raised)


def _verdict(part: dict[str, Any], *, valid: bool, name: str = "") -> Verdict:
    rewards = {}
    for key, value in values.mapping(values.within(part, "verifier_result", "rewards")).items():
        reward = float(value) if isinstance(value, bool) else values.number(value)
        if reward is not None:
            rewards[key] = reward
    primary = PRIMARY if PRIMARY in rewards else next(iter(rewards)) if len(rewards) == 1 else None
    return Verdict(rewards[primary] if valid and primary is not None else None, rewards, name)


def _usage(parts: list[dict[str, Any]]) -> Usage:
    """The trial's own, else the sum of what its steps tell."""
    told = [used for part in parts if (used := values.mapping(part.get("agent_result")))]
    trial = values.mapping(parts[0].get("agent_result"))
    if any(values.number(trial.get(name)) is not None for name in ("n_input_tokens", "n_output_tokens", "cost_usd")):
        told = [trial]
    counts = {
        name: [found for used in told if (found := values.count(used.get(name))) is not None]
        for name in ("n_input_tokens", "n_cache_tokens", "n_output_tokens")
    }
    costs = [cost for used in told if (cost := values.number(used.get("cost_usd"))) is not None and cost >= 0]
    return Usage(
        tokens_in=sum(counts["n_input_tokens"]) if counts["n_input_tokens"] else None,
        tokens_cached=sum(counts["n_cache_tokens"]) if counts["n_cache_tokens"] else None,
        tokens_out=sum(counts["n_output_tokens"]) if counts["n_output_tokens"] else None,
        cost_usd=sum(costs) if costs else None,
    )
