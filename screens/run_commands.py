"""Commands to the engine of a run, given from a screen: sent in a thread, answered by a message."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from textual.message import Message
from textual.screen import Screen

from engine.trial_state import TrialState
from screens import format as fmt
from screens.app_protocols import RunControl
from screens.question_screen import Answer, QuestionScreen
from screens.read_only import is_read_only
from screens.source import RunSource

MOST_NAMED = 6
"""Trials that a question names one by one."""


@dataclass
class CommandAnswered(Message):
    """`problem` is empty where the engine took the command; `said` is then what a person is told, if the screen
    doesn't show it by itself."""

    what: str
    problem: str
    said: str = ""


class RunCommands:
    """`control` reaches the run's engine; None where there is nobody to reach. `screen` asks, and gets the answers."""

    def __init__(self, screen: Screen[Any], source: RunSource, control: RunControl | None) -> None:
        self._screen = screen
        self._source = source
        self._control = control

    @property
    def possible(self) -> bool:
        return self._control is not None and self._source.live

    def cancel_trials(self, trials: Sequence[TrialState]) -> None:
        """Those that are not over; asks first."""
        if not self._reachable():
            return
        going = [trial for trial in trials if not trial.done]
        if not going:
            self._screen.notify("this trial is over" if len(trials) == 1 else "these trials are over", markup=False)
            return
        one = len(going) == 1
        names = "\n".join(f"{trial.task} · {trial.arm} · attempt {trial.attempt}" for trial in going[:MOST_NAMED])
        if len(going) > MOST_NAMED:
            names += f"\n… and {len(going) - MOST_NAMED} more"
        asked = QuestionScreen(
            "Cancel this trial?" if one else f"Cancel these {len(going)} trials?",
            names,
            Answer("y", f"cancel {'it; it' if one else 'them; they'} will have no verdict", "yes"),
        )
        commands = [{"command": "cancel", "trial": trial.trial, "force": False} for trial in going]
        self._screen.app.push_screen(asked, lambda answer: self._give("cancel", *commands) if answer else None)

    def pause_or_go_on(self) -> None:
        what = "continue" if self._source.state.paused else "pause"
        self._give(what, {"command": what})

    def change_concurrency(self, step: int) -> None:
        wanted = max(1, self._source.state.concurrency + step)
        said = f"at most {fmt.count(wanted, 'trial')} at the same time"
        self._give("concurrency", {"command": "concurrency", "value": wanted}, said=said)

    def tell(self, answered: CommandAnswered) -> None:
        """What the engine said, if it isn't seen anyway."""
        if answered.problem:
            self._screen.notify(f"{answered.what}: {answered.problem}", severity="error", markup=False)
        elif answered.said:
            self._screen.notify(answered.said, timeout=2, markup=False)

    def _reachable(self) -> bool:
        if not self.possible:
            looks_only = is_read_only(self._screen.app)
            why = "read-only: no command is given" if looks_only else "no engine runs this run now"
            self._screen.notify(why, severity="warning", markup=False)
        return self.possible

    def _give(self, what: str, *commands: Mapping[str, Any], said: str = "") -> None:
        if self._reachable():
            self._screen.run_worker(partial(self._send, what, commands, said), thread=True, group="commands")

    def _send(self, what: str, commands: Sequence[Mapping[str, Any]], said: str) -> None:
        assert self._control is not None
        problem = ""
        for command in commands:
            try:
                answer = self._control.send(command)
                problem = problem or ("" if answer.get("ok", True) else str(answer.get("error", "refused")))
            except Exception as error:  # whatever it is, it belongs on the screen
                problem = problem or str(error) or type(error).__name__
        self._screen.post_message(CommandAnswered(what, problem, said))
