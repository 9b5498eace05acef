"""The runs of a folder, the newest first."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from engine.readers.reader import Liveness
from screens import format as fmt
from screens.columns import Column
from screens.pieces import Pieces, cells, width_of
from screens.run_summaries import RunSummary
from screens.widgets.line_table import LineTable

_STATES = {
    Liveness.LIVE: ("● live", "deck--accent"),
    Liveness.FINISHED: ("✓ finished", "deck--good"),
    Liveness.STALE: ("✗ stale", "deck--warn"),
    Liveness.STARTING: ("◌ starting", "deck--dim"),
}


class RunsTable(LineTable):
    """Keys are the folders' names."""

    COLUMNS = (
        Column("name", "run", 18, keep=100, widest=44),
        Column("state", "state", 13, keep=95),
        Column("done", "done", 9, keep=90, right=True),
        Column("arms", "passed", 20, keep=80, widest=90),
        Column("issues", "issues", 6, keep=60, right=True),
        Column("elapsed", "elapsed", 8, keep=50, right=True),
        Column("started", "started", 16, keep=70),
        Column("tasks", "tasks", 12, keep=40, widest=34),
        Column("folder", "folder", 12, keep=35, widest=40),
    )

    def __init__(self, now: datetime, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.now = now
        self.runs: dict[str, RunSummary] = {}
        self._keys: list[str] = []
        self.nothing = ""

    def set_runs(self, runs: Sequence[RunSummary]) -> None:
        self.runs = {run.folder.name: run for run in runs}
        self._keys = list(self.runs)
        self.rows_changed()

    def folder(self, key: str) -> Path:
        return self.runs[key].folder

    @property
    def keys(self) -> Sequence[str]:
        return self._keys

    def find(self, key: str) -> int | None:
        return self._keys.index(key) if key in self.runs else None

    def empty_text(self) -> str:
        return self.nothing

    def wanted_widths(self) -> dict[str, int]:
        runs = self.runs.values()
        return {
            "name": max((cells(run.name) for run in runs), default=0),
            "tasks": max((cells(run.task_set) for run in runs), default=0),
            "folder": max((cells(run.folder.name) for run in runs), default=0),
            "arms": max((cells(_arms_text(run)) for run in runs), default=0),
        }

    def cell(self, key: str, column: str) -> Pieces:
        run = self.runs[key]
        match column:
            case "name":
                return [(run.name, "")]
            case "state":
                if run.liveness is Liveness.FINISHED and run.exit_code == 130:
                    return [("⊘ interrupted", "deck--warn")]
                return [_STATES[run.liveness]]
            case "done":
                return [(f"{run.done}/{run.planned}", "" if run.done < run.planned else "deck--dim")]
            case "arms":
                return _arms(run, self._width("arms"))
            case "issues":
                return [(str(run.issues) if run.issues else fmt.DASH, "" if run.issues else "deck--faint")]
            case "elapsed":
                seconds = run.seconds
                if run.liveness is Liveness.LIVE and run.started_at is not None:
                    seconds = (self.now - run.started_at).total_seconds()
                return [(fmt.clock_time(seconds), "")]
            case "started":
                return [(fmt.wall_date(run.started_at), "deck--dim")]
            case "folder":
                return [(run.folder.name, "deck--dim")]
        return [(run.task_set, "deck--dim")]

    def _width(self, name: str) -> int:
        return next((cells for column, cells in self.shares() if column.name == name), 0)


def _arms(run: RunSummary, width: int) -> Pieces:
    """With the arms' names where all of it fits, else their letters alone."""
    named = _arms_pieces(run, named=True)
    return named if width_of(named) <= width else _arms_pieces(run, named=False)


def _arms_pieces(run: RunSummary, named: bool) -> Pieces:
    pieces: Pieces = []
    for number, arm in enumerate(run.arms):
        pieces += [
            ("   " if number else "", ""),
            (f"{fmt.arm_letter(number)} ", "deck--accent"),
            (f"{arm.name} " if named else "", "deck--dim"),
            (fmt.rate(arm.passed, arm.finished), ""),
        ]
    return pieces


def _arms_text(run: RunSummary) -> str:
    return "".join(text for text, _ in _arms_pieces(run, named=True))
