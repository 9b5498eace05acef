"""Where triage leads to a place that names a trial's arm: where that is hidden, it is asked first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from textual.screen import Screen

from engine.trial_state import TrialState
from screens.question_screen import Answer, QuestionScreen
from screens.triage_blindfold import Cover
from screens.triage_desk import TriageDesk
from screens.triage_places import LogPlace
from screens.triage_walk import Walk
from screens.trial_screen import TrialScreen


class Opening:
    """Whoever agrees has seen the trial by name: a label of it is not blind any more."""

    def __init__(self, screen: Screen[Any], desk: TriageDesk, walk: Walk, cover: Cover) -> None:
        self._screen = screen
        self._desk = desk
        self._walk = walk
        self._cover = cover

    def trial(self, trial: TrialState, place: LogPlace | None, step: int) -> None:
        """The trial's own screen, at a line of a log or at a step of the session."""

        def opened() -> None:
            order = [trial.trial] if self._cover.on else self._walk.order  # no other trial's name is seen in passing
            screen = TrialScreen(self._desk.source, trial.trial, order=order)
            self._screen.app.push_screen(screen)
            if place is not None:
                screen.call_after_refresh(screen.open_log_at, place.log.path, place.line)
            elif step:
                screen.call_after_refresh(screen.open_step, step)

        self._ask_first("The trial's own screen names its arm", "open it", trial.trial, opened)

    def naming(self, then: Callable[[], None], what: str = "The path of this log") -> None:
        """Before something that names the arm of the trial that is looked at."""
        self._ask_first(f"{what} names the trial's arm", "go on", self._walk.current, then)

    def _ask_first(self, title: str, what: str, trial: str | None, then: Callable[[], None]) -> None:
        def agreed() -> None:
            if trial is not None:
                self._desk.seen_by_name.add(trial)
            then()

        if not self._cover.on or trial in self._desk.seen_by_name:
            agreed()
            return
        answer = Answer("y", f"{what} all the same", "yes")
        question = QuestionScreen(title, "Your label of this trial will not count as blind.", answer)
        self._screen.app.push_screen(question, lambda answer: agreed() if answer else None)
