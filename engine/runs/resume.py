"""Going on with a run after any end: what has a verdict stays, everything else runs (again), its record kept."""

from __future__ import annotations

from pathlib import Path

import msgspec

from engine import events as ev
from engine.runs.event_log import EventLog
from engine.runs.plan import Plan, PlannedTrial
from engine.state import CANCELLED, FAILED, INTERRUPTED, PASSED, QUEUED, REFUSED, UNSCORED, WAITING, RunState


class Remaining(msgspec.Struct, frozen=True, kw_only=True):
    """The three lists: trials with a verdict, trials that ended or were cut off without one, trials never started."""

    decided: tuple[PlannedTrial, ...]
    again: tuple[PlannedTrial, ...]
    fresh: tuple[PlannedTrial, ...]

    @property
    def todo(self) -> list[PlannedTrial]:
        return sorted((*self.again, *self.fresh), key=lambda trial: trial.position)


def remaining(plan: Plan, state: RunState) -> Remaining:
    """Refused trials are in none of the lists."""
    decided, again, fresh = [], [], []
    for planned in plan.trials:
        trial = state.trials.get(planned.trial)
        if not planned.runnable or (trial is not None and trial.state == REFUSED):
            continue
        if trial is not None and trial.state in (PASSED, FAILED):
            decided.append(planned)
        elif trial is None or (trial.state in (QUEUED, WAITING, INTERRUPTED, CANCELLED) and trial.started_at is None):
            fresh.append(planned)
        else:
            again.append(planned)
    return Remaining(decided=tuple(decided), again=tuple(again), fresh=tuple(fresh))


def set_aside(log: EventLog, left: Remaining) -> None:
    """Move the record of each trial that runs again into its `interrupted-<n>` folder, and say so."""
    for planned in (*left.again, *left.fresh):
        trial = log.state.trials.get(planned.trial)
        if trial is None or trial.state in (QUEUED, WAITING):
            continue
        number = max(1, trial.run_number)
        kept = ""
        if trial.started_at is not None:
            kept = _move_aside(log.folder / planned.trial, number)
        reason = {UNSCORED: "ended without a verdict", CANCELLED: "was cancelled"}.get(trial.state, "was cut off")
        log.append(
            ev.TrialInterrupted(
                trial=planned.trial, run_number=number, reason=reason, folder=kept, cost_usd=trial.cost_usd
            )
        )


def _move_aside(folder: Path, number: int) -> str:
    """Everything of a trial's folder into `interrupted-<number>`; goes on where a crash left it half moved."""
    if not folder.is_dir():
        return ""
    place = folder / f"interrupted-{number}"
    place.mkdir(exist_ok=True)
    for child in folder.iterdir():
        if not child.name.startswith("interrupted-"):
            child.rename(place / child.name)
    return f"{folder.name}/{place.name}"
