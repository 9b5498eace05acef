"""Running a trial again that is over: under the card's policy, both arms alike, the original record kept."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from engine import events as ev
from engine.owner import engine_alive
from engine.runs.card import RetryPolicy, read_card
from engine.runs.control import send_command
from engine.runs.event_log import EventLog
from engine.state import RunState
from engine.trial_state import FAILED, INTERRUPTED, PASSED, REFUSED, TrialState


class Rerun(msgspec.Struct, frozen=True, kw_only=True):
    """`wanted`: trials that run again; `refused`: why others don't. `live`: the run's engine has taken them up, else an
    engine has yet to be started for them."""

    wanted: tuple[str, ...]
    refused: dict[str, str]
    live: bool


def why_not(policy: RetryPolicy, trial: TrialState, cause: str) -> str:
    """Why this trial may not run again for this cause, "" where it may."""
    allowed = ", ".join(policy.causes) or "none"
    if cause not in tuple(policy.causes):
        return f"its cause is {cause or 'not decided'}; the card lets these run again: {allowed}"
    if trial.state == REFUSED:
        return "it was refused when the run was planned"
    if not trial.done and trial.state != INTERRUPTED:
        return f"it is not over ({trial.state})"
    if trial.rerun is not None:
        return "it is about to run again already"
    if trial.reruns >= policy.most:
        return f"it has been run again {trial.reruns} times; the card allows {policy.most}"
    if trial.state in (PASSED, FAILED) and cause not in tuple(policy.redo_verdicts):
        redone = ", ".join(policy.redo_verdicts) or "none"
        return f"it has a verdict; causes for which the card redoes a verdict: {redone}"
    return ""


def alike(policy: RetryPolicy, state: RunState, causes: Mapping[str, str], chosen: Mapping[str, str]) -> dict[str, str]:
    """`chosen` and the trials of other arms on the same tasks that bear the same cause and may run again: what is done
    for one arm is done for the other. `causes` are all decided ones, by trial."""
    found = dict(chosen)
    wanted = {(state.trials[name].task, cause) for name, cause in chosen.items() if name in state.trials}
    for name, cause in causes.items():
        trial = state.trials.get(name)
        if trial is not None and (trial.task, cause) in wanted and not why_not(policy, trial, cause):
            found.setdefault(name, cause)
    return found


def left_out(
    policy: RetryPolicy, state: RunState, causes: Mapping[str, str], chosen: Mapping[str, str]
) -> dict[str, int]:
    """How many trials of each arm could run again under the policy and are not among the chosen."""
    counts: dict[str, int] = {}
    for name, cause in causes.items():
        trial = state.trials.get(name)
        if trial is not None and name not in chosen and not why_not(policy, trial, cause):
            counts[trial.arm] = counts.get(trial.arm, 0) + 1
    return counts


def want_again(
    log: EventLog, policy: RetryPolicy, chosen: Mapping[str, str], by: str
) -> tuple[list[str], dict[str, str]]:
    """Record what may run again; returns it, and why the rest may not."""
    wanted, refused = [], {}
    for name, cause in chosen.items():
        trial = log.state.trials.get(name)
        reason = why_not(policy, trial, cause) if trial is not None else "no such trial"
        if reason:
            refused[name] = reason
            continue
        log.append(ev.RerunWanted(trial=name, cause=cause, by=by))
        wanted.append(name)
    return wanted, refused


def request_rerun(folder: Path, chosen: Mapping[str, str], *, by: str) -> Rerun:
    """Ask for trials (with the cause decided for each) to run again: the run's engine where it is alive, else in the
    run's events, for the engine that is then to be launched with `only_reruns`.

    Raises CardInvalid, NotReachable, LogTaken, OSError.
    """
    policy = read_card(folder).retries
    if engine_alive(folder):
        answer: dict[str, Any] = send_command(folder, {"command": "rerun", "trials": dict(chosen), "by": by})
        if not answer.get("ok"):
            why = str(answer.get("error", "the engine gives no reason"))
            return Rerun(wanted=(), refused=dict.fromkeys(chosen, why), live=True)
        return Rerun(wanted=tuple(answer.get("wanted", ())), refused=dict(answer.get("refused", {})), live=True)
    log = EventLog(folder)
    try:
        wanted, refused = want_again(log, policy, chosen, by)
    finally:
        log.close()
    return Rerun(wanted=tuple(wanted), refused=refused, live=False)
