"""What a screen shows, written to files: asks in which formats and where, writes in a thread, tells how it went."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from textual.message import Message
from textual.screen import Screen

from engine.text import clean_line
from screens.export_files import Render, Wanted, default_folder, write_files
from screens.read_only import refused
from screens.source import RunSource


class Exported(Message):
    def __init__(self, text: str, *, failed: bool) -> None:
        super().__init__()
        self.text = text
        self.failed = failed


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
            self._screen.run_worker(partial(self._write, job, wanted.folder), thread=True, group="export")

    def _write(self, job: Callable[[], list[Path]], folder: Path) -> None:
        try:
            names = ", ".join(path.name for path in job())
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) else str(error)
            self._screen.post_message(Exported(f"not written: {why} ({folder})", failed=True))
        else:
            self._screen.post_message(Exported(f"{names} written to {folder}", failed=False))

    def tell(self, event: Exported) -> None:
        self._screen.notify(clean_line(event.text), severity="error" if event.failed else "information", markup=False)
