"""Opening the console on a run's triage."""

from __future__ import annotations

import os
from pathlib import Path

from console.app import TrialDeckApp
from console.habits import Habits, read_habits
from console.open_app import run_app, say_farewell
from engine.triage.who import VARIABLE
from screens.run_screen import RunScreen
from screens.triage_desks import open_triage


class TriageApp(TrialDeckApp):
    """Opens on the run with its triage over it: Esc leads to the run."""

    def __init__(self, folder: Path, *, blind: bool = False, habits: Habits | None = None) -> None:
        super().__init__(folder, habits=habits)
        self._blind = blind

    def on_mount(self) -> None:
        super().on_mount()
        self.call_later(self._open)

    def _open(self) -> None:
        run = self.screen_stack[-1]
        if isinstance(run, RunScreen):
            open_triage(self, run.source, blind=self._blind)


def show_triage(folder: Path, *, who: str, blind: bool = False) -> int:
    """Until the person leaves; returns the exit code. `who` stands in the labels that they give."""
    os.environ[VARIABLE] = who
    app = TriageApp(folder, blind=blind, habits=read_habits())
    code = run_app(app)
    say_farewell(app, folder)
    return code
