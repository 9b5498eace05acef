"""What a filter can ask a trial: its text, and its fields by name."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass
from datetime import datetime

from engine import trial_state
from engine.issues import Phase
from engine.triage.causes import Cause
from engine.trial_state import TrialState
from screens.causes import Causes, decided, proposed
from screens.format import state_word

TEXT_FIELDS = (
    "task",
    "arm",
    "state",
    "phase",
    "issue",
    "cause",
    "activity",
    "service",
    "step",
    "category",
    "difficulty",
    "id",
)
NUMBER_FIELDS = ("reward", "attempt", "time", "cpu", "mem", "steps", "tokens", "cost", "issues")
SWITCHES = ("marked", "decided")
FIELDS = TEXT_FIELDS + NUMBER_FIELDS + SWITCHES

_PHASES = tuple(str(phase) for phase in Phase)
WORDS: Mapping[str, tuple[str, ...]] = {
    "state": (*trial_state.STATES, *_PHASES, "timeout"),
    "phase": _PHASES,
    "cause": tuple(str(cause) for cause in Cause),
}
"""All that these fields can ever hold: what is part of none of them is a slip of the pen. A cause that is only proposed
ends in `?`."""

GROWING = frozenset({"time", "cpu", "mem"})
"""Fields whose value changes while nothing but time goes by."""


@dataclass(frozen=True)
class Looking:
    """What a filter may ask beside the trial itself."""

    letters: Mapping[str, str]
    now: datetime
    marked: Set[str] = frozenset()
    causes: Causes | None = None


def all_text(trial: TrialState) -> list[str]:
    """What a bare word is looked for in."""
    texts = [trial.task, trial.arm, trial.state, state_word(trial), trial.activity, trial.waiting_for]
    for issue in trial.issues:
        texts += (issue.code, issue.message)
    return texts


def field_texts(field: str, trial: TrialState, looking: Looking) -> list[str]:
    """The texts of a text field, any of which may match; empty where the trial has none."""
    match field:
        case "task":
            return [trial.task]
        case "arm":
            return [trial.arm]
        case "id":
            return [trial.trial]
        case "state":
            return [trial.state, state_word(trial), *(["timeout"] if trial.timed_out else [])]
        case "phase":
            phases = [str(issue.phase) for issue in trial.issues if issue.phase is not None]
            return [*phases, *([str(trial.phase)] if trial.phase is not None else [])]
        case "issue":
            return [text for issue in trial.issues for text in (str(issue.code), str(issue.severity), issue.message)]
        case "cause":
            known, guess = decided(looking.causes, trial), proposed(looking.causes, trial)
            return [*([str(known)] if known is not None else []), *([f"{guess}?"] if guess is not None else [])]
        case "activity":
            return [text for text in (trial.activity, trial.waiting_for) if text]
        case "service":
            return [use.service for use in trial.services.values()]
        case "step":
            return [text for text in (trial.step, *(span.step for span in trial.phases)) if text]
        case "category":
            return [trial.category] if trial.category else []
        case "difficulty":
            return [trial.difficulty] if trial.difficulty else []
    raise KeyError(field)


def field_number(field: str, trial: TrialState, looking: Looking) -> float | None:
    """Seconds, bytes, percent of a core, dollars; None where it isn't known."""
    match field:
        case "reward":
            return trial.reward
        case "attempt":
            return trial.attempt
        case "time":
            return trial.elapsed(looking.now)
        case "cpu":
            return trial.cpu_percent
        case "mem":
            return trial.memory_bytes
        case "steps":
            return trial.steps
        case "tokens":
            known = [tokens for tokens in (trial.tokens_in, trial.tokens_out) if tokens is not None]
            return sum(known) if known else None
        case "cost":
            return trial.cost_usd
        case "issues":
            return len(trial.issues)
    raise KeyError(field)


def is_on(switch: str, trial: TrialState, looking: Looking) -> bool:
    if switch == "marked":
        return trial.trial in looking.marked
    return looking.causes is not None and looking.causes.decided(trial.trial)


_TROUBLE = frozenset({trial_state.FAILED, trial_state.UNSCORED, trial_state.REFUSED, trial_state.INTERRUPTED})


def is_problem(trial: TrialState) -> bool:
    """Wants a look: no pass, or something went wrong on the way."""
    return trial.state in _TROUBLE or bool(trial.issues) or trial.out_of_memory
