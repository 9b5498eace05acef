"""What happens to a run as a whole: its engine's processes, what people ask of it, its end."""

from __future__ import annotations

from engine.event import Event
from engine.issues import Issue
from engine.json_numbers import Whole


class EngineStarted(Event, frozen=True, kw_only=True):
    """One per engine process; a resumed run has several."""

    pid: Whole
    host: str
    session: Whole
    resumed: bool = False


class EngineStopped(Event, frozen=True, kw_only=True):
    reason: str = ""


class RunIssue(Event, frozen=True, kw_only=True):
    issue: Issue


class RunPaused(Event, frozen=True, kw_only=True):
    by: str = ""


class RunContinued(Event, frozen=True, kw_only=True):
    by: str = ""


class ConcurrencyChanged(Event, frozen=True, kw_only=True):
    concurrency: Whole


class CancelRequested(Event, frozen=True, kw_only=True):
    """`trial` empty: the whole run."""

    trial: str = ""
    force: bool = False


class RerunWanted(Event, frozen=True, kw_only=True):
    """A trial that is over shall run again: a person decided its cause, and the card's policy lets that cause run
    again. Its record is set aside by a TrialInterrupted."""

    trial: str
    cause: str
    by: str = ""


class RunFinished(Event, frozen=True, kw_only=True):
    """`exit_code` as `trialdeck run` gives it: 0 every trial scored, 3 unscored trials, 130 interrupted.
    `seconds` None: nobody measured it."""

    exit_code: Whole
    seconds: float | None
    reason: str = ""
