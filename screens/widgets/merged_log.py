"""Several logs of a trial as one, by time; each line says whose it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from textual.message import Message
from textual.worker import get_current_worker

from engine.layout import LogFile
from engine.text import clean_line
from screens import format as fmt
from screens.log_file import GrowingFile
from screens.log_lines import Line, LineReader
from screens.log_times import LogTimes
from screens.merged_log_file import Merged, MergedFile
from screens.pieces import Piece, cells, cut
from screens.widgets.log_view import LogView

_GLYPHS = "●◆■▲○◇□△"
_INKS = ("deck--accent", "deck--good", "deck--warn", "deck--bad", "deck--strong", "deck--dim")
_WIDEST = 14
_NARROW = 60
"""Columns below which a line's log is told by its glyph alone."""


class MergedTimes(LogTimes):
    """Every line has a time: its own, or that of the line it stands behind."""

    def __init__(self, file: MergedFile) -> None:
        super().__init__()
        self._file = file

    def of_line(self, reader: LineReader, line: Line) -> float | None:
        return self._file.at(line.start)


class MergedLogView(LogView):
    """As a `LogView`; logs that tell no time are named as left out, as are the beginnings of very long ones."""

    @dataclass
    class Gathered(Message):
        merged: Merged | None

    def __init__(self, logs: Sequence[LogFile], *, follow: bool = False, id: str | None = None) -> None:
        self._logs = list(logs)
        self._merged = MergedFile([GrowingFile(log.path) for log in self._logs])
        folder = _common_folder([log.path for log in self._logs])
        super().__init__(folder, "all logs by time", follow=follow, id=id, file=self._merged)
        self._gathering = False
        self._gathered = False  # not even once so far
        self._wanted: datetime | None = None  # a moment to go to once there are lines
        self._names = [clean_line(log.label, 40) for log in self._logs]

    def on_mount(self) -> None:
        self._page.tags = self._tag
        self._size_tags()

    def on_resize(self) -> None:
        self._size_tags()

    def _size_tags(self) -> None:
        widest = max((cells(name) for name in self._names), default=0)
        narrow = self.size.width < _NARROW
        self._page.tags_width = 2 if narrow else min(_WIDEST, widest) + 3

    @property
    def title_text(self) -> str:
        return f"{fmt.count(len(self._logs) - len(self._merged.untimed), 'log')} by time"

    @property
    def left_out(self) -> str:
        """Which logs, or which parts of them, are not shown."""
        skipped = self._merged.skipped.items()
        said = [f"{self._names[number]}: the first {lines:,} lines left out" for number, lines in skipped]
        if self._merged.untimed:
            said.append("without times: " + ", ".join(self._names[number] for number in self._merged.untimed))
        return "; ".join(said)

    @property
    def doing(self) -> str:
        return super().doing or ("merging" if self._gathering and not self._gathered else "")

    def _tag(self, offset: int) -> Piece:
        number = self._merged.whose(offset)
        glyph = _GLYPHS[number % len(_GLYPHS)]
        width = self._page.tags_width
        name = cut(self._names[number], width - 3) if width > 3 else ""
        return f"{glyph} {name}", _INKS[number % len(_INKS)]

    def times(self) -> LogTimes:
        return MergedTimes(self._merged)

    def go_to_time(self, at: datetime) -> None:
        if self._gathering and not self._merged.size:
            self._wanted = at
        else:
            super().go_to_time(at)

    # --- keeping up ---

    def poll(self) -> None:
        """Looks at the logs, in a thread: merging what came takes its time."""
        if not self._gathering and not self._indexing.running and not self._searches_run:
            self._gathering = True

            def work() -> None:
                worker = get_current_worker()
                merged = self._merged.gather(lambda: worker.is_cancelled)
                self.post_message(self.Gathered(merged))

            self.run_worker(work, thread=True, exclusive=True, group="merging")
        if not self._gathered:
            self._page.empty_text = "merging"
        self.show_state()

    @property
    def _searches_run(self) -> bool:
        return self._searching.running or self._filtering.running

    def on_merged_log_view_gathered(self, event: Gathered) -> None:
        event.stop()
        self._gathering, self._gathered = False, True
        self._page.empty_text = "no log tells the time of its lines"
        merged = event.merged
        if merged is not None:
            marked = self._page.marked
            old_size = self._merged.size
            self._merged.take(merged)
            if merged.changed_from < old_size:
                self._index.cut_back(merged.changed_from)
                for search in (self.search, self.filtering):
                    if search is not None:
                        search.cut_back(merged.changed_from)
                self._window.forget_texts()
                if marked is not None and marked >= merged.changed_from:
                    self._page.marked = None
            self.grew()
            if self._wanted is not None:
                super().go_to_time(self._wanted)
                self._wanted = None
        elif not self._merged.size:
            self._page.repaint()
        self.show_state()


def _common_folder(paths: Sequence[Path]) -> Path:
    folder = paths[0].parent if paths else Path()
    while not all(path.is_relative_to(folder) for path in paths):
        folder = folder.parent
    return folder
