"""Going on with a run after any end: what has a verdict stays, everything else runs (again), its record kept."""

from __future__ import annotations

from pathlib import Path

import msgspec

from engine import events as ev
from engine.runs.event_log import EventLog
from engine.runs.plan import Plan, PlannedTrial
from engine.state import RunState
from engine.trial_state import CANCELLED, FAILED, INTERRUPTED, PASSED, QUEUED, REFUSED, UNSCORED, WAITING

_REASONS = {
    UNSCORED: "ended without a verdict",
    CANCELLED: "was cancelled",
    REFUSED: "was refused and no longer is",
}
_LOST = "its events were lost"
_CUT_OFF = "interrupted-"
_RERUN = "rerun-"


class Remaining(msgspec.Struct, frozen=True, kw_only=True):
    """The three lists: trials with a verdict, trials that ended or were cut off without one, trials never started."""

    decided: tuple[PlannedTrial, ...]
    again: tuple[PlannedTrial, ...]
    fresh: tuple[PlannedTrial, ...]

    @property
    def todo(self) -> list[PlannedTrial]:
        return sorted((*self.again, *self.fresh), key=lambda trial: trial.position)


def remaining(plan: Plan, state: RunState) -> Remaining:
    """Of trials that the plan refuses only verdicts stay; those it refused before, and no longer does, are fresh."""
    decided, again, fresh = [], [], []
    for planned in plan.trials:
        trial = state.trials.get(planned.trial)
        if trial is not None and trial.state in (PASSED, FAILED) and (trial.rerun is None or not planned.runnable):
            decided.append(planned)
        elif not planned.runnable:
            continue
        elif trial is None or (trial.started_at is None and not trial.run_number):
            fresh.append(planned)
        else:
            again.append(planned)
    return Remaining(decided=tuple(decided), again=tuple(again), fresh=tuple(fresh))


def only_reruns(left: Remaining, state: RunState) -> Remaining:
    """What was asked for and nothing else, so that a rerun leaves every other trial as it is."""
    again = tuple(planned for planned in left.again if state.trials[planned.trial].rerun is not None)
    return Remaining(decided=left.decided, again=again, fresh=())


def set_aside(log: EventLog, left: Remaining) -> None:
    """Move the record of each trial that runs again into its `interrupted-<n>` or `rerun-<n>` folder, and say so."""
    for planned in (*left.again, *left.fresh):
        set_one_aside(log, planned.trial)


def set_one_aside(log: EventLog, name: str) -> None:
    """As `set_aside`, for one trial; nothing happens where it has no record yet."""
    trial = log.state.trials.get(name)
    if trial is None:
        return
    kept = _move_aside(log.folder / name, max(1, trial.run_number), _RERUN if trial.rerun is not None else _CUT_OFF)
    if trial.started_at is None and trial.state in (QUEUED, WAITING, INTERRUPTED) and not kept:
        return
    reason = _REASONS.get(trial.state, "was cut off" if trial.started_at is not None else _LOST)
    if trial.rerun is not None:
        reason = f"rerun for {trial.rerun.cause}" + (f", decided by {trial.rerun.by}" if trial.rerun.by else "")
    log.append(
        ev.TrialInterrupted(
            trial=name,
            run_number=trial.run_number,
            reason=reason,
            folder=kept,
            cost_usd=trial.cost_usd,
            cost_partial=trial.cost_partial,
        )
    )


def _move_aside(folder: Path, number: int, prefix: str) -> str:
    """Everything of a trial's folder into `<prefix><number>` (or the next that is free for it); "" where there is
    nothing. Goes on where a crash left it half moved."""
    children = (
        [child for child in folder.iterdir() if not child.name.startswith((_CUT_OFF, _RERUN))]
        if folder.is_dir()
        else []
    )
    if not children:
        return ""
    place = folder / f"{prefix}{number}"
    while any((place / child.name).exists() for child in children):
        number += 1
        place = folder / f"{prefix}{number}"
    place.mkdir(exist_ok=True)
    for child in children:
        child.rename(place / child.name)
    return f"{folder.name}/{place.name}"
