"""The ways out of the app: keys, Ctrl-C, signals; and what becomes of a run that was started here."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.text import Text

from console.engine_end import DEAD, last_words
from engine.layout import ENGINE_LOG
from screens.question_screen import Answer, QuestionScreen

if TYPE_CHECKING:
    from console.app import TrialDeckApp


class AppLeaving:
    """One of an app. `when_over`: the console leaves by itself once the run is over; `begun`: it is on its way out."""

    def __init__(self, app: TrialDeckApp) -> None:
        self.app = app
        self.when_over = False
        self.begun = False

    def listen(self, loop: asyncio.AbstractEventLoop) -> None:
        """TERM, HUP, QUIT: the terminal is given back in order, the run goes on. INT is Ctrl-C."""
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
            loop.add_signal_handler(number, partial(self._signalled, number))
        loop.add_signal_handler(signal.SIGINT, partial(self.app.call_later, self.interrupt))

    def _signalled(self, number: int) -> None:
        self.app.exit(return_code=128 + number)

    def leave(self) -> None:
        """Give the terminal back. A run that lives goes on; `farewell` tells how to come back to it."""
        source = self.app.source
        code = 0
        message = None
        if self.app.started_here and source is not None:
            if source.state.finished is not None:
                code = source.state.finished.exit_code
            elif source.stale:
                code = DEAD
                words = last_words(source.folder / ENGINE_LOG)
                said = f"its last words: {words}" if words else "it left no word"
                message = Text(f"The engine is gone; {said}.")
        self.app.exit(return_code=code, message=message)

    def interrupt(self) -> None:
        """Ctrl-C copies a selection; leaves where one only watches; else asks, then cancels, then forces."""
        app = self.app
        if isinstance(app.screen, QuestionScreen):
            app.screen.dismiss(app.screen.repeat)
            return
        if selected := app.screen.get_selected_text():
            app.copy_to_clipboard(selected)
            app.screen.clear_selection()
            return
        source = app.source
        if not app.started_here or source is None or not source.live:
            app.leave()
        elif source.state.cancelling:
            self.when_over = True
            self._cancel_run(force=True)
        else:
            app.push_screen(
                QuestionScreen(
                    "The run is still going",
                    f"{source.state.done} of {len(source.state.trials)} trials are done.",
                    Answer("c", "cancel the run: stop its trials, clean up", "cancel"),
                    Answer("l", "leave it running and close the console", "leave"),
                    repeat="again",
                ),
                self._answered,
            )

    def _answered(self, answer: str | None) -> None:
        match answer:
            case "cancel":
                self._cancel_run(force=False)
            case "again":
                self.when_over = True
                self._cancel_run(force=False)
            case "leave":
                self.app.leave()

    def _cancel_run(self, force: bool) -> None:
        if self.app.source is not None:
            command = {"command": "cancel", "trial": "", "force": force}
            job = partial(self._send, self.app.source.folder, command)
            self.app.run_worker(job, thread=True, group="commands")

    def _send(self, folder: Path, command: Mapping[str, Any]) -> None:
        """In a thread."""
        try:
            answer = self.app.control_for(folder).send(command)
            problem = "" if answer.get("ok", True) else str(answer.get("error", "refused"))
        except Exception as error:  # whatever it is, it belongs on the screen
            problem = str(error) or type(error).__name__
        if problem:
            self.app.notify(f"cancel: {problem}", severity="error", markup=False)
