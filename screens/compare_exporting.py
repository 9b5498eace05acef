"""The comparison that is shown, written to files: asks in which formats and where, writes in a thread."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from textual.message import Message

from engine.text import clean_line
from screens import compare_export
from screens.read_only import refused

if TYPE_CHECKING:
    from screens.compare_screen import CompareScreen


class Exported(Message):
    def __init__(self, text: str, *, failed: bool) -> None:
        super().__init__()
        self.text = text
        self.failed = failed


class CompareExporting:
    def __init__(self, screen: CompareScreen) -> None:
        self._screen = screen

    def ask(self) -> None:
        screen = self._screen
        if refused(screen.app):
            return
        if screen.worked is None or screen.worked.compared is None:
            screen.notify("nothing is worked out yet", markup=False)
            return
        from screens.export_screen import ExportScreen

        folder = compare_export.default_folder([source.run for source in screen.sources])
        name = compare_export.name_of(screen.comparing)
        screen.app.push_screen(ExportScreen("the comparison", compare_export.TITLES, folder, name), self._to)

    def _to(self, wanted: compare_export.Wanted | None) -> None:
        screen = self._screen
        if wanted is not None and screen.worked is not None and screen.worked.compared is not None:
            states = {label: source.state for source, label in screen.comparing.labels.items()}
            foreign = [source.folder for source in screen.sources if not source.run.ours]
            job = partial(compare_export.export, screen.worked, states, wanted, foreign, screen.sources[0].clock())
            screen.run_worker(partial(self._write, job, wanted.folder), thread=True, group="export")

    def _write(self, job: partial[list[Path]], folder: Path) -> None:
        try:
            paths = job()
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) else str(error)
            self._screen.post_message(Exported(f"not written: {why} ({folder})", failed=True))
        else:
            names = ", ".join(path.name for path in paths)
            self._screen.post_message(Exported(f"{names} written to {folder}", failed=False))

    def tell(self, event: Exported) -> None:
        severity = "error" if event.failed else "information"
        self._screen.notify(clean_line(event.text), severity=severity, markup=False)  # type: ignore[arg-type]
