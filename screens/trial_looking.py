"""A trial's folder looked through in a thread, one look at a time; each look ends in a message."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from textual.message import Message
from textual.widget import Widget
from textual.worker import get_current_worker

from screens.trial_finds import Finds, find


class TrialLooking:
    """`view` gets the messages; it says with `came` that it has one."""

    @dataclass
    class Found(Message):
        trial: str
        finds: Finds

    def __init__(self, view: Widget) -> None:
        self._view = view
        self._busy = False

    def look(self, trial: str, run_folder: Path, trial_folder: Path) -> None:
        """Nothing where a look is under way."""
        if not self._busy:
            self._busy = True
            looking = partial(self._find, trial, run_folder, trial_folder)
            self._view.run_worker(looking, thread=True, group="finds", exit_on_error=False)

    def came(self) -> None:
        self._busy = False

    def _find(self, trial: str, run_folder: Path, trial_folder: Path) -> None:
        worker = get_current_worker()
        finds = find(run_folder, trial_folder)
        if not worker.is_cancelled:
            self._view.post_message(self.Found(trial, finds))
