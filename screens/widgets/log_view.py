"""The lines of one log on the screen: opened at once whatever its size, followed, searched, filtered."""

from __future__ import annotations

from pathlib import Path

from textual.app import ComposeResult

from screens.log_file import GrowingFile
from screens.log_lines import LineReader
from screens.log_streams import LogStreams
from screens.log_times import LogTimes
from screens.widgets.log_moving import Growing
from screens.widgets.log_status import LogStatus
from screens.widgets.log_taking import LogTaking


class LogView(LogTaking):
    """Opens `path` when mounted; a file that isn't there yet is waited for. `file`: other bytes than the file's."""

    def __init__(
        self, path: Path, label: str, *, follow: bool = False, id: str | None = None, file: Growing | None = None
    ) -> None:
        super().__init__(file or GrowingFile(path), follow=follow, id=id)
        self.label = label
        self._path = path

    def compose(self) -> ComposeResult:
        yield from super().compose()
        yield LogStatus(self)

    @property
    def path(self) -> Path:
        return self._path

    def find_streams(self) -> LogStreams | None:
        return LogStreams(self._path) if isinstance(self._file, GrowingFile) else None

    @property
    def title_text(self) -> str:
        """What the line below calls it."""
        return self._path.name

    @property
    def left_out(self) -> str:
        """What of it is not shown, and why."""
        return ""

    def times(self) -> LogTimes:
        return LogTimes.of(self._path, LineReader(self._file, self._index))

    def show_state(self) -> None:
        super().show_state()
        for line in self.query(LogStatus):
            line.show()
