"""The stream of issues, newest first; each jumps to its trial."""

from __future__ import annotations

import re
from collections.abc import Sequence

from engine.issues import Issue, Severity
from engine.state import RunState, Warned
from screens import format as fmt
from screens.columns import Column
from screens.pieces import Pieces, cells
from screens.widgets.line_table import LineTable

_STYLES = {Severity.FATAL: "deck--bad", Severity.ERROR: "deck--warn", Severity.WARNING: "deck--dim"}


def told(issue: Issue) -> str:
    """The message, after the service where it doesn't name it itself."""
    if not issue.service or re.search(rf"(?<![\w./-]){re.escape(issue.service)}(?![\w-]|\.\w)", issue.message):
        return issue.message
    return f"{issue.service}: {issue.message}"


class WarningsFeed(LineTable):
    """Keys are numbers of the feed. `unread` counts what came since the feed was last looked at."""

    HEAD = 0
    IDLE_CURSOR = False
    COLUMNS = (
        Column("time", "time", 8, keep=60),
        Column("arm", "arm", 3, keep=50),
        Column("task", "task", 14, keep=100, widest=32),
        Column("phase", "phase", 7, keep=40),
        Column("code", "issue", 16, keep=90, widest=28),
        Column("message", "message", 20, keep=95, widest=400),
    )

    def __init__(self, state: RunState, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.state = state
        self.letters: dict[str, str] = {}
        self._read = 0
        self._keys: list[str] = []

    @property
    def unread(self) -> int:
        return max(0, len(self.state.feed) - self._read)

    @property
    def keys(self) -> Sequence[str]:
        return self._keys

    def find(self, key: str) -> int | None:
        row = len(self._keys) - 1 - int(key)
        return row if 0 <= row < len(self._keys) else None

    def warned(self, key: str) -> Warned:
        return self.state.feed[int(key)]

    def update(self) -> bool:
        """True if something new came. The newest stays in sight unless somebody reads here."""
        if len(self.state.feed) == len(self._keys):
            return False
        self._keys = [str(number) for number in reversed(range(len(self.state.feed)))]
        if not self.has_focus and self._keys:
            self.cursor = self._keys[0]
        self.rows_changed()
        return True

    @property
    def read(self) -> int:
        """Issues of the feed that somebody has looked at."""
        return self._read

    def seen(self, many: int) -> None:
        """So many had been looked at before this screen was opened."""
        self._read = max(0, many)

    def mark_read(self) -> None:
        self._read = len(self.state.feed)
        self.refresh()

    def cell(self, key: str, column: str) -> Pieces:
        warned = self.warned(key)
        new = int(key) >= self._read
        issue = warned.issue
        trial = self.state.trials.get(warned.trial)
        match column:
            case "time":
                return [(fmt.wall_time(warned.at), "" if new else "deck--dim")]
            case "arm":
                return [(self.letters.get(trial.arm, "") if trial else "", "deck--dim")]
            case "task":
                return [(trial.task if trial else "the run", "" if new else "deck--dim")]
            case "phase":
                return [(str(issue.phase or ""), "deck--dim")]
            case "code":
                return [(f"{fmt.SEVERITY_GLYPHS[issue.severity]} {issue.code}", _STYLES[issue.severity])]
        return [(told(issue), "" if new else "deck--dim")]

    def empty_text(self) -> str:
        return "no issues so far"

    def wanted_widths(self) -> dict[str, int]:
        recent = self.state.feed[-200:]
        tasks = (self.state.trials[warned.trial].task for warned in recent if warned.trial in self.state.trials)
        return {
            "task": max((cells(task) for task in tasks), default=0),
            "code": max((len(warned.issue.code) + 2 for warned in recent), default=0),
        }
