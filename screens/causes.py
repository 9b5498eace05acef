"""Who failed, as a list of trials shows it: what a person decided, else what the rules propose."""

from __future__ import annotations

from typing import Protocol

from engine import trial_state
from engine.triage.causes import Cause
from engine.triage.proposal import Proposal
from engine.trial_state import TrialState


class Causes(Protocol):
    """The triage of one run. Answers at once, from memory: it is asked for every row."""

    def cause(self, trial: str) -> Cause | None:
        """What was decided."""

    def proposal(self, trial: str) -> Proposal | None:
        """What the rules say; None where they haven't looked yet."""

    def decided(self, trial: str) -> bool: ...


UNDECIDABLE = frozenset({trial_state.FAILED, trial_state.UNSCORED})
"""States that are asked a cause for."""

SHORT = {Cause.INFRASTRUCTURE: "infra"}


def short_cause(cause: Cause) -> str:
    """As a narrow column names it."""
    return SHORT.get(cause, str(cause))


def proposed(causes: Causes | None, trial: TrialState) -> Cause | None:
    """A proposal that still waits for a decision; only of a trial that nobody knows the reason of."""
    if causes is None or trial.state not in UNDECIDABLE or causes.decided(trial.trial):
        return None
    found = causes.proposal(trial.trial)
    return found.cause if found is not None else None


def decided(causes: Causes | None, trial: TrialState) -> Cause | None:
    return causes.cause(trial.trial) if causes is not None else None


def cause_text(causes: Causes | None, trial: TrialState) -> str:
    """`infra` where it is decided, `model?` where it is proposed, "" where nobody knows."""
    if (cause := decided(causes, trial)) is not None:
        return short_cause(cause)
    cause = proposed(causes, trial)
    return f"{short_cause(cause)}?" if cause is not None else ""


def wants_decision(trial: TrialState, causes: Causes | None) -> bool:
    """Failed or without a verdict, and nobody has said why."""
    return trial.state in UNDECIDABLE and not (causes is not None and causes.decided(trial.trial))
