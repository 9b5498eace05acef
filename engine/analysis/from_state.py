"""A run's state as the outcomes that numbers are made of. Pure; costs a few microseconds a trial."""

from __future__ import annotations

from collections.abc import Iterable

from engine import trial_state
from engine.analysis.outcomes import TrialOutcome
from engine.issues import Phase, Severity
from engine.state import RunState
from engine.trial_state import TrialState

_NEVER_RAN = frozenset({trial_state.REFUSED, trial_state.CANCELLED})
"""Where nothing says when they began, they didn't. A verdict without a start is a table's, which tells no times."""


def outcomes_of(state: RunState, arm: str) -> list[TrialOutcome]:
    """Every trial of one arm, as `arm_outcomes` gives them."""
    return _of_arm(trial for trial in list(state.trials.values()) if trial.arm == arm)


def arm_outcomes(state: RunState) -> dict[str, list[TrialOutcome]]:
    """Every trial of every arm, arms in the order of the plan; running and waiting ones are not finished.

    What an interrupted run of a trial cost comes as a discarded record of its own.
    """
    by_arm: dict[str, list[TrialState]] = {arm: [] for arm in state.arms}
    for trial in state.trials.values():
        by_arm.setdefault(trial.arm, []).append(trial)
    return {arm: _of_arm(trials) for arm, trials in by_arm.items()}


def _of_arm(trials: Iterable[TrialState]) -> list[TrialOutcome]:
    trials = list(trials)
    priced = any(trial.cost_usd is not None for trial in trials)
    outcomes = []
    for trial in trials:
        outcomes.append(outcome_of(trial, priced=priced))
        if trial.run_number > 1 or trial.state == trial_state.INTERRUPTED:
            outcomes.append(_discarded(trial))
    return outcomes


def outcome_of(trial: TrialState, *, priced: bool = False) -> TrialOutcome:
    """`priced`: something in this arm has a known cost, so that a trial which never started cost a known 0."""
    scored = trial.state in (trial_state.PASSED, trial_state.FAILED)
    never_ran = trial.state in _NEVER_RAN and not trial.ran and trial.cost_usd is None
    return TrialOutcome(
        task=trial.task,
        arm=trial.arm,
        attempt=trial.attempt,
        reward=trial.reward if trial.done else None,
        passed=(trial.state == trial_state.PASSED) if scored else None,
        completed=scored or _ended_by_its_budget(trial),
        scored=scored,
        excluded=False,
        cost_usd=0.0 if never_ran and priced else trial.cost_usd,
        cost_partial=trial.cost_partial,
        refused=trial.state == trial_state.REFUSED,
        seconds=trial.seconds,
        finished=trial.done,
    )


def _ended_by_its_budget(trial: TrialState) -> bool:
    """No verdict, yet it had all the time it was given; a fault after that is not its own end."""
    return (
        trial.state == trial_state.UNSCORED
        and trial.timed_out
        and all(issue.severity is not Severity.FATAL or issue.phase is Phase.AGENT for issue in trial.issues)
    )


def _discarded(trial: TrialState) -> TrialOutcome:
    return TrialOutcome(
        task=trial.task,
        arm=trial.arm,
        attempt=trial.attempt,
        reward=None,
        passed=None,
        completed=False,
        scored=False,
        excluded=False,
        cost_usd=trial.discarded_cost_usd,
        cost_partial=trial.discarded_cost_partial,
        seconds=None,
        discarded=True,
    )
