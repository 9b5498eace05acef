"""Before a run's first trial: can the models of its arms be reached? Once for each arm and session (case 65)."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Iterable, Mapping

import anyio
import msgspec

from engine import events as ev
from engine.agents.agent import AgentConfigInvalid
from engine.agents.registry import traits_of
from engine.events import ArmInfo
from engine.issues import Evidence, Issue, Severity
from engine.models.model_call import ModelFailure
from engine.models.reach import reach
from engine.models.resolve import settings_of
from engine.models.settings import ModelInvalid
from engine.runs.card import RunCard
from engine.runs.event_log import EventLog
from engine.runs.resume import Remaining
from engine.trial_state import INTERRUPTED, QUEUED, WAITING

Reach = Callable[[str], Awaitable[ModelFailure | None]]


class OutOfReach(msgspec.Struct, frozen=True, kw_only=True):
    """An arm whose model can't be reached; `address` is where it should be."""

    arm: str
    address: str
    failure: ModelFailure


async def out_of_reach(
    arms: Iterable[ArmInfo], *, environ: Mapping[str, str] = os.environ, reach: Reach = reach
) -> dict[str, OutOfReach]:
    """By the arms' names; each address is tried once. An arm that calls no model, or whose settings are not there,
    is no matter of this."""
    addresses: dict[str, list[str]] = {}
    for arm in arms:
        if (address := _address(arm, environ)) is not None:
            addresses.setdefault(address, []).append(arm.name)
    found: dict[str, OutOfReach] = {}

    async def look(address: str) -> None:
        failure = await reach(address)
        if failure is not None:
            found.update({name: OutOfReach(arm=name, address=address, failure=failure) for name in addresses[address]})

    async with anyio.create_task_group() as group:
        for address in addresses:
            group.start_soon(look, address)
    return found


def _address(arm: ArmInfo, environ: Mapping[str, str]) -> str | None:
    try:
        traits = traits_of(arm)
        return settings_of(arm, traits.wires, environ).base_url if traits.calls_model else None
    except (AgentConfigInvalid, ModelInvalid):
        return None


async def without_unreachable(log: EventLog, card: RunCard, left: Remaining, *, reach: Reach = reach) -> Remaining:
    """What is left to run but for the arms whose models can't be reached: that is said once for each of them, and their
    trials are not started. Nothing of theirs is made; `trialdeck resume` goes on with them."""
    wanted = {planned.arm.name for planned in left.todo}
    found = await out_of_reach([arm for arm in card.arms if arm.name in wanted], reach=reach)
    for missing in found.values():
        trials = [planned.trial for planned in left.todo if planned.arm.name == missing.arm]
        code, words = missing.failure.code, missing.failure.words
        message = f"arm {missing.arm}: its model at {missing.address} can't be reached: {words}"
        way_out = "`trialdeck resume` goes on once it can be reached (--model-base-url, if it has moved)"
        waiting = "1 trial is" if len(trials) == 1 else f"{len(trials)} trials are"
        issue = Issue(
            Severity.ERROR,
            None,
            code,
            f"{message}; {waiting} not started",
            (Evidence("way out", way_out),),
        )
        log.append(ev.RunIssue(issue=issue))
        for trial in trials:
            if log.state.trials[trial].state in (QUEUED, WAITING, INTERRUPTED):
                log.append(
                    ev.IssueRaised(trial=trial, issue=Issue(Severity.ERROR, None, code, f"not started: {message}"))
                )
                log.append(ev.TrialFinished(trial=trial, outcome="cancelled"))
    return Remaining(
        decided=left.decided,
        again=tuple(planned for planned in left.again if planned.arm.name not in found),
        fresh=tuple(planned for planned in left.fresh if planned.arm.name not in found),
    )
