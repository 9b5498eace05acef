"""Environments that a run left up for a shell: which still stand, and which somebody removed by hand since."""

from __future__ import annotations

from console.engine_check import containers_of
from engine.events import EnvironmentGone
from engine.state import RunState
from engine.text import clean_line
from engine.trial_state import TrialState

BY_HAND = "removed by hand"
MOST_LINES = 20


def note_removed_by_hand(state: RunState) -> None:
    """Asks the engine, in this state only: looking at a run writes nothing. As it was where no engine can be asked."""
    kept = [trial for trial in state.trials.values() if trial.kept]
    if not kept or state.plan is None:
        return
    there = containers_of(state.plan.run, state.plan.host.name)
    if there is None:
        return
    for trial in kept:
        made = list(_containers(trial).values())
        if made and there.isdisjoint(made):
            state.apply(EnvironmentGone(trial=trial.trial, container=made[0], reason=BY_HAND))


def kept_lines(state: RunState) -> list[str]:
    """One line a trial whose environment was left up."""
    lines = []
    for trial in state.trials.values():
        if trial.kept:
            names = ", ".join(f"{name} {container}" for name, container in _containers(trial).items())
            lines.append(f"kept     {clean_line(f'{trial.task} · {trial.arm} · {trial.attempt}: {names}')}")
        elif trial.kept_gone:
            said = f"{trial.task} · {trial.arm} · {trial.attempt}: gone, {trial.kept_gone}"
            lines.append(f"kept     {clean_line(said)}")
    more = len(lines) - MOST_LINES
    return lines if more <= 0 else [*lines[:MOST_LINES], f"         and {more} more"]


def _containers(trial: TrialState) -> dict[str, str]:
    uses = (use for use in trial.services.values() if use.environment == "agent" and use.container)
    return {use.service: use.container for use in uses}
