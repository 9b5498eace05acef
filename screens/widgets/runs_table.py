"""Runs of every system: filtered, in any order, marked. The cursor stays on its run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from textual.message import Message

from engine.readers.reader import Liveness
from screens import format as fmt
from screens.columns import Column
from screens.pieces import Pieces, cells, width_of
from screens.run_filter import RunFilter, parse, state_of
from screens.run_order import in_order
from screens.run_summary import RunSummary
from screens.widgets.marking_table import MarkingTable

_STATES = {
    "live": ("● live", "deck--accent"),
    "finished": ("✓ finished", "deck--good"),
    "interrupted": ("⊘ interrupted", "deck--warn"),
    "stale": ("✗ stale", "deck--warn"),
    "starting": ("◌ starting", "deck--dim"),
}
_DOWN_FIRST = frozenset({"done", "arms", "issues", "elapsed", "started", "last"})


class RunsTable(MarkingTable):
    """Keys are the folders' paths. `now` is the moment that ages and a live run's time are counted to."""

    COLUMNS = (
        Column("name", "run", 18, keep=100, widest=44),
        Column("kind", "kind", 12, keep=85, widest=14),
        Column("state", "state", 13, keep=95, widest=52),
        Column("done", "done", 7, keep=90, widest=11, right=True),
        Column("arms", "passed", 18, keep=80, widest=90, first=20),
        Column("issues", "issues", 6, keep=60, right=True),
        Column("elapsed", "elapsed", 8, keep=50, right=True),
        Column("started", "started", 16, keep=70),
        Column("last", "last sign", 16, keep=45, help="last sign of life"),
        Column("tasks", "tasks", 12, keep=40, widest=34),
        Column("folder", "folder", 12, keep=35, widest=60),
    )

    @dataclass
    class Pointed(Message):
        """The cursor stands on another run, or on the same one told anew; None where there is none."""

        run: RunSummary | None

    def __init__(self, now: datetime, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.now = now
        self._led = False
        self.runs: dict[str, RunSummary] = {}
        self.marks: dict[str, None] = {}
        self.nothing = ""
        self.sort = "last"
        self.down = True
        self.filter: RunFilter = parse("")
        self._keys: list[str] = []
        self._at_row: dict[str, int] = {}

    # --- rows ---

    def set_runs(self, runs: Iterable[RunSummary]) -> None:
        self.runs = {run.key: run for run in runs}
        self.marks = {key: None for key in self.marks if key in self.runs}
        self._arrange()

    def set_filter(self, text: str) -> None:
        """Raises FilterError; the one in force stays then."""
        self.filter = parse(text)
        self._arrange()

    def sort_by(self, column: str, down: bool | None = None) -> None:
        """The same column again turns the order round."""
        if down is None:
            down = not self.down if column == self.sort else column in _DOWN_FIRST
        self.sort, self.down = column, down
        self._arrange()

    def sort_step(self, step: int) -> None:
        """By the next of the columns that are shown."""
        names = [column.name for column, _ in self.shares()]
        at = names.index(self.sort) if self.sort in names else -1
        column = names[(at + step) % len(names)]
        self.sort_by(column, column in _DOWN_FIRST)

    def _arrange(self) -> None:
        shown = in_order((run for run in self.runs.values() if self.filter(run)), self.sort, self.down)
        self._keys = [run.key for run in shown]
        self._at_row = {key: row for row, key in enumerate(self._keys)}
        if not self._led:  # runs still come in: the cursor waits at the top until somebody moves it
            self.cursor, self._at = None, 0
        self.rows_changed()
        self.point()

    def point(self) -> None:
        """Tell where the cursor stands."""
        key = self.cursor_key
        self.post_message(self.Pointed(self.runs[key] if key is not None else None))

    def lead_to(self, key: str) -> None:
        """The cursor stays on this run from now on, or waits for it."""
        self._led = True
        self.cursor = key

    def move_to(self, row: int) -> None:
        self._led = True
        super().move_to(row)
        self.point()

    def mark(self) -> None:
        """Mark the run under the cursor, or take its mark away, and go on to the next."""
        key = self.cursor_key
        if key is None:
            return
        self.flip_mark(key)
        self.last_marked = key
        self.repaint([key])
        self.action_move(1)

    def set_marks(self, keys: Iterable[str], on: bool) -> None:
        """Marks keep the order in which they were made."""
        for key in keys:
            if on:
                self.marks.setdefault(key)
            else:
                self.marks.pop(key, None)

    def clear_marks(self) -> None:
        marks, self.marks = self.marks, {}
        self.repaint(marks)

    def folder(self, key: str) -> Path:
        return self.runs[key].folder

    # --- what LineTable asks ---

    @property
    def keys(self) -> Sequence[str]:
        return self._keys

    def find(self, key: str) -> int | None:
        return self._at_row.get(key)

    def marked(self, key: str) -> bool:
        return key in self.marks

    def sorted_by(self) -> tuple[str, bool]:
        return self.sort, self.down

    def empty_text(self) -> str:
        return "no run matches; esc shows all again" if self.runs else self.nothing

    def wanted_widths(self) -> dict[str, int]:
        runs = self.runs.values()
        return {
            "name": max((cells(run.name) for run in runs), default=0),
            "kind": max((cells(run.kind) for run in runs), default=0),
            "state": max((width_of(state_pieces(run, self.now, 99)) for run in runs), default=0),
            "done": max((len(f"{run.done}/{run.planned}") for run in runs), default=0),
            "tasks": max((cells(run.task_set) for run in runs), default=0),
            "folder": max((cells(str(run.folder)) for run in runs), default=0),
            "arms": max((cells(_arms_text(run)) for run in runs), default=0),
        }

    def cell(self, key: str, column: str) -> Pieces:
        run = self.runs[key]
        match column:
            case "name":
                return [(run.name, "")]
            case "kind":
                return [(run.kind, "deck--dim")]
            case "state":
                return state_pieces(run, self.now, self._width("state"))
            case "done":
                return [(f"{run.done}/{run.planned}", "" if run.done < run.planned else "deck--dim")]
            case "arms":
                return _arms(run, self._width("arms"))
            case "issues":
                if run.issues is None:
                    return [("…", "deck--faint")]
                return [(str(run.issues) if run.issues else fmt.DASH, "" if run.issues else "deck--faint")]
            case "elapsed":
                seconds = run.seconds
                if run.liveness is Liveness.LIVE and run.started_at is not None:
                    seconds = (self.now - run.started_at).total_seconds()
                return [(fmt.clock_time(seconds), "")]
            case "started":
                return [(fmt.wall_date(run.started_at), "deck--dim")]
            case "last":
                return [(fmt.wall_date(run.last_event_at), "deck--dim")]
            case "folder":
                return [(tail(str(run.folder), self._width("folder")), "deck--dim")]
        return [(run.task_set, "deck--dim")]

    def _width(self, name: str) -> int:
        return next((cells for column, cells in self.shares() if column.name == name), 0)


def state_pieces(run: RunSummary, now: datetime, width: int) -> Pieces:
    """A stale run's last sign of life stands with it, as far as there is room."""
    word, style = _STATES[state_of(run)]
    if run.liveness is Liveness.STALE and run.last_event_at is not None:
        age = fmt.ago((now - run.last_event_at).total_seconds())
        at = fmt.wall_time(run.last_event_at)
        for more in (f" · last sign of life {at} ({age})", f" · {age}"):
            if cells(word + more) <= width:
                return [(word, style), (more, "deck--dim")]
    return [(word, style)]


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


def tail(path: str, width: int) -> str:
    """The end of a path tells more than its beginning."""
    return path if cells(path) <= width or width < 2 else "…" + path[-(width - 1) :]
