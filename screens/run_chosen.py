"""Copying and saving the trials that are marked, or the one under the cursor."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from textual.message import Message
from textual.screen import Screen

from engine.trial_state import TrialState
from screens import chosen_trials as chosen
from screens import format as fmt
from screens.question_screen import Answer, QuestionScreen
from screens.read_only import refused
from screens.source import RunSource
from screens.trial_rows import TrialRows


class ListSaved(Message):
    """`problem` is empty where it was written."""

    def __init__(self, path: Path, problem: str) -> None:
        super().__init__()
        self.path = path
        self.problem = problem


class RunChosen:
    """Asks what is wanted, then does it."""

    def __init__(self, screen: Screen[Any], source: RunSource, rows: TrialRows) -> None:
        self._screen = screen
        self._source = source
        self._rows = rows

    def copy(self, cursor: str | None) -> None:
        trials = self._rows.chosen(cursor)
        if not trials:
            return
        asked = QuestionScreen(
            f"Copy of {_named(trials)}",
            "",
            Answer("i", "the id", "id"),
            Answer("p", "the path of the folder", "path"),
            Answer("c", "the command that replays it", "command"),
        )
        self._screen.app.push_screen(asked, partial(self._copy, trials))

    def _copy(self, trials: list[TrialState], wanted: str | None) -> None:
        if not wanted:
            return
        match wanted:
            case "id":
                whole = chosen.ids(trials)
            case "path":
                whole = chosen.paths(self._source, trials)
            case _:
                whole = chosen.command(self._source, trials)
        text, left = chosen.capped(whole)
        self._screen.app.copy_to_clipboard(text)
        rest = f"; {left} did not fit" if left else ""
        self._screen.notify(f"copied: {fmt.count(len(trials) - left, 'line')}{rest}", timeout=2, markup=False)

    def save(self, cursor: str | None) -> None:
        if refused(self._screen.app):
            return
        trials = self._rows.chosen(cursor)
        if not trials:
            return
        asked = QuestionScreen(
            f"Save a list of {_named(trials)}",
            "in the folder that the console was started in",
            Answer("c", "as CSV", "csv"),
            Answer("j", "as JSON", "json"),
        )
        self._screen.app.push_screen(asked, partial(self._save, trials))

    def _save(self, trials: list[TrialState], wanted: str | None) -> None:
        if not wanted:
            return
        make = chosen.as_csv if wanted == "csv" else chosen.as_json
        data = make(self._source, trials, self._rows.causes)
        at = fmt.in_zone(self._source.clock())
        path = Path(f"trialdeck-trials-{at:%Y%m%d-%H%M%S}.{wanted}")
        self._screen.run_worker(partial(self._write, path, data), thread=True, group="save")

    def tell(self, event: ListSaved) -> None:
        said = f"can't write {event.path}: {event.problem}" if event.problem else f"saved as {event.path}"
        self._screen.notify(said, severity="error" if event.problem else "information", markup=False)

    def _write(self, path: Path, data: bytes) -> None:
        problem = ""
        try:
            chosen.save(path, data)
        except OSError as error:
            problem = error.strerror or str(error)
        self._screen.post_message(ListSaved(path, problem))


def _named(trials: list[TrialState]) -> str:
    if len(trials) == 1:
        return f"{trials[0].task} {trials[0].arm} {trials[0].attempt}"
    return fmt.count(len(trials), "trial")
