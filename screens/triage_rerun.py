"""Running a trial again from its label, under the run card's policy: asked first, both arms alike."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from textual.message import Message
from textual.screen import Screen

from engine.runs.card import read_card
from engine.runs.rerun import Rerun, alike, left_out, request_rerun, why_not
from engine.text import clean_line
from engine.trial_state import TrialState
from screens import format as fmt
from screens.actions import key_called
from screens.question_screen import Answer, QuestionScreen
from screens.triage_actions import TRIAGE
from screens.triage_desk import TriageDesk
from screens.triage_names import TrialNames

MOST_NAMED = 8


@dataclass
class RerunWorkedOut(Message):
    """What would run again, from a thread. `why`: why nothing may; `left_out` counts trials that could go along."""

    trial: str
    chosen: Mapping[str, str]
    left_out: int
    why: str = ""


@dataclass
class RerunAsked(Message):
    """What the run's engine answered."""

    result: Rerun | None
    problem: str = ""


class Rerunning:
    """`tell` shows a line, `naming` asks before a trial's arm is named where it is hidden. The run's engine takes it up
    where it is alive; else the command that starts one is copied: an engine is never started behind a person's back."""

    def __init__(
        self,
        screen: Screen[Any],
        desk: TriageDesk,
        names: TrialNames,
        tell: Callable[[tuple[str, str]], None],
        naming: Callable[[Callable[[], None], str], None],
    ) -> None:
        self._naming = naming
        self._screen = screen
        self._desk = desk
        self._names = names
        self._tell = tell

    def begin(self, trial: TrialState) -> None:
        desk = self._desk
        cause = desk.book.cause(trial.trial)
        if not desk.source.run.ours:
            self._tell(("a run of another tool is run again by that tool", "deck--warn"))
        elif not desk.decided(trial.trial):
            self._tell(("decide its cause first: the run's card says which causes run again", "deck--warn"))
        elif cause is None:
            key = key_called(self._screen.app, TRIAGE, "disagreements")
            self._tell((f"people disagree about its cause: settle that first ({key})", "deck--warn"))
        else:
            causes = self._causes()
            self._screen.run_worker(partial(self._work_out, trial.trial, causes), thread=True, group="rerun")

    def _causes(self) -> dict[str, str]:
        book = self._desk.book
        found = {trial: book.cause(trial) for trial in book.trials}
        return {trial: str(cause) for trial, cause in found.items() if cause is not None}

    def _work_out(self, trial: str, causes: Mapping[str, str]) -> None:
        """In a thread: reads the run's card."""
        source = self._desk.source
        try:
            policy = read_card(source.folder).retries
            why = why_not(policy, source.state.trials[trial], causes[trial])
            chosen = alike(policy, source.state, causes, {trial: causes[trial]})
            more = sum(left_out(policy, source.state, causes, chosen).values())
        except Exception as error:  # whatever it is, it belongs on the screen
            self._screen.post_message(RerunWorkedOut(trial, {}, 0, clean_line(str(error) or type(error).__name__)))
        else:
            self._screen.post_message(RerunWorkedOut(trial, chosen, more, why))

    def worked_out(self, found: RerunWorkedOut) -> None:
        if found.why:
            self._tell((f"! it can't run again: {found.why}", "deck--warn"))
            return
        names = [self._names.of(trial) for trial in list(found.chosen)[:MOST_NAMED]]
        if len(found.chosen) > MOST_NAMED:
            names.append(f"… and {len(found.chosen) - MOST_NAMED} more")
        if found.left_out:
            names.append(f"! {found.left_out} more could run again under the card and are left out")
        live = self._desk.source.live
        does = "the run's engine takes them up; the records stay" if live else "copy the command that does it"
        title = f"Run {fmt.count(len(found.chosen), 'trial')} again, all arms alike?"
        question = QuestionScreen(title, "\n".join(names), Answer("y", does, "yes"))
        self._screen.app.push_screen(question, lambda answer: self._do(found) if answer else None)

    def _do(self, found: RerunWorkedOut) -> None:
        if self._desk.source.live:
            self._screen.run_worker(partial(self._ask, dict(found.chosen)), thread=True, group="rerun")
            return
        command = shlex.join(["trialdeck", "rerun", str(self._desk.source.folder.absolute()), found.trial])

        def copied() -> None:
            self._screen.app.copy_to_clipboard(clean_line(command))
            self._tell(("✓ copied: the command that runs it again; nothing has been started", "deck--good"))

        self._naming(copied, "The command")

    def _ask(self, chosen: dict[str, str]) -> None:
        try:
            result = request_rerun(self._desk.source.folder, chosen, by=self._desk.who)
        except Exception as error:  # whatever it is, it belongs on the screen
            self._screen.post_message(RerunAsked(None, clean_line(str(error) or type(error).__name__)))
        else:
            self._screen.post_message(RerunAsked(result))

    def answered(self, asked: RerunAsked) -> None:
        result = asked.result
        if result is None:
            self._tell((f"! {asked.problem}", "deck--bad"))
        elif result.wanted:
            self._tell((f"✓ the engine has taken up {fmt.count(len(result.wanted), 'trial')}", "deck--good"))
        else:
            why = next(iter(result.refused.values()), "the engine gives no reason")
            self._tell((f"! nothing runs again: {clean_line(why)}", "deck--warn"))
