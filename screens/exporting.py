"""What a screen shows, written to files: asks in which formats and where, writes in a thread, tells how it went."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from textual.message import Message
from textual.screen import Screen

from engine.text import clean_line
from screens.export_files import AlreadyThere, Render, Wanted, default_folder, write_files
from screens.question_screen import Answer, QuestionScreen
from screens.read_only import refused
from screens.source import RunSource


class Exported(Message):
    """`asked`: nothing was written, since there are files of that name; `text` names them."""

    def __init__(self, text: str, *, failed: bool, asked: Callable[[], None] | None = None) -> None:
        super().__init__()
        self.text = text
        self.failed = failed
        self.asked = asked


class Exporting:
    """`what` is "the comparison", `titles` are formats by their endings; `render` tells how the numbers that are shown
    now are written, None where there are none. The screen hands each Exported on to `tell`."""

    def __init__(
        self, screen: Screen[Any], what: str, titles: Mapping[str, str], render: Callable[[], Render | None]
    ) -> None:
        self._screen = screen
        self._what = what
        self._titles = titles
        self._render = render

    def ask(self, sources: Sequence[RunSource], name: str) -> None:
        screen = self._screen
        if refused(screen.app):
            return
        if self._render() is None:
            screen.notify("nothing is worked out yet", markup=False)
            return
        from screens.export_screen import ExportScreen

        folder = default_folder([source.run for source in sources])
        screen.app.push_screen(ExportScreen(self._what, self._titles, folder, name), partial(self._to, sources))

    def _to(self, sources: Sequence[RunSource], wanted: Wanted | None) -> None:
        render = self._render()
        if wanted is not None and render is not None:
            foreign = [source.folder for source in sources if not source.run.ours]
            job = partial(write_files, wanted, foreign, render)
            again = partial(self._to, sources, replace(wanted, replacing=True))
            self._screen.run_worker(partial(self._write, job, wanted.folder, again), thread=True, group="export")

    def _write(self, job: Callable[[], list[Path]], folder: Path, again: Callable[[], None]) -> None:
        try:
            names = ", ".join(path.name for path in job())
        except AlreadyThere as error:
            self._screen.post_message(Exported(str(error), failed=True, asked=again))
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) else str(error)
            self._screen.post_message(Exported(f"not written: {why} ({folder})", failed=True))
        else:
            self._screen.post_message(Exported(f"{names} written to {folder}", failed=False))

    def tell(self, event: Exported) -> None:
        if (again := event.asked) is not None:
            answer = Answer("y", "write anew over what is there", "yes")
            question = QuestionScreen("There are files of that name", clean_line(event.text), answer)
            self._screen.app.push_screen(question, lambda answer: again() if answer else None)
            return
        self._screen.notify(clean_line(event.text), severity="error" if event.failed else "information", markup=False)
