"""Commands to the engine of a run, given from a screen: sent in a thread, answered by a message."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from textual.message import Message
from textual.screen import Screen

from engine.state import TrialState
from screens.app_protocols import RunControl
from screens.question_screen import Answer, QuestionScreen
from screens.source import RunSource


@dataclass
class CommandAnswered(Message):
    """`problem` is empty where the engine took the command; what came of it is then seen in the run's events."""

    what: str
    problem: str


class RunCommands:
    """`control` reaches the run's engine; None where there is nobody to reach. `screen` asks, and gets the answers."""

    def __init__(self, screen: Screen[Any], source: RunSource, control: RunControl | None) -> None:
        self._screen = screen
        self._source = source
        self._control = control

    @property
    def possible(self) -> bool:
        return self._control is not None and self._source.live

    def cancel_trial(self, trial: TrialState) -> None:
        """Asks first."""
        if not self._reachable():
            return
        if trial.done:
            self._screen.notify("this trial is over", markup=False)
            return
        name = f"{trial.task} · {trial.arm} · attempt {trial.attempt}"
        asked = QuestionScreen("Cancel this trial?", name, Answer("y", "cancel it; it will have no verdict", "yes"))
        command = {"command": "cancel", "trial": trial.trial, "force": False}
        self._screen.app.push_screen(asked, lambda answer: self._give("cancel", command) if answer else None)

    def pause_or_go_on(self) -> None:
        what = "continue" if self._source.state.paused else "pause"
        self._give(what, {"command": what})

    def change_concurrency(self, step: int) -> None:
        wanted = max(1, self._source.state.concurrency + step)
        self._give("concurrency", {"command": "concurrency", "value": wanted})

    def _reachable(self) -> bool:
        if not self.possible:
            self._screen.notify("no engine runs this run now", severity="warning", markup=False)
        return self.possible

    def _give(self, what: str, command: Mapping[str, Any]) -> None:
        if self._reachable():
            self._screen.run_worker(partial(self._send, what, command), thread=True, group="commands")

    def _send(self, what: str, command: Mapping[str, Any]) -> None:
        assert self._control is not None
        try:
            answer = self._control.send(command)
            problem = "" if answer.get("ok", True) else str(answer.get("error", "refused"))
        except Exception as error:  # whatever it is, it belongs on the screen
            problem = str(error) or type(error).__name__
        self._screen.post_message(CommandAnswered(what, problem))
