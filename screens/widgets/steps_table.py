"""The steps of a session, a line each."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import ClassVar

from textual.binding import BindingType
from textual.message import Message

from engine.trajectories.steps import Step, Trajectory
from screens import format as fmt
from screens.columns import Column
from screens.pieces import Pieces
from screens.steps_actions import STEPS
from screens.steps_text import ended, has_failed, offset, start_of, what
from screens.trial_facts import tokens
from screens.widgets.line_table import LineTable

COLUMNS = (
    Column("number", "#", 4, keep=99, right=True),
    Column("time", "time", 6, keep=70, right=True),
    Column("ended", "", 8, keep=90),
    Column("what", "what", 18, keep=100, widest=500),
    Column("in", "in", 6, keep=40, right=True),
    Column("out", "out", 6, keep=35, right=True),
    Column("cost", "cost", 7, keep=45, right=True),
    Column("took", "took", 6, keep=50, right=True),
)


class StepsTable(LineTable):
    COLUMNS = COLUMNS
    PLACE = STEPS
    BINDINGS: ClassVar[list[BindingType]] = [*STEPS.bindings()]

    class Moved(Message):
        """The cursor stands on another step."""

    def __init__(self) -> None:
        super().__init__()
        self.steps: Sequence[Step] = ()
        self.errors: frozenset[int] = frozenset()
        self.hits: frozenset[int] = frozenset()
        self.waiting_text = "reading"
        self._keys: list[str] = []
        self._start: datetime | None = None
        self._told = {"number", "what"}

    def set_trajectory(self, trajectory: Trajectory | None, errors: frozenset[int]) -> None:
        self.steps = trajectory.steps if trajectory is not None else ()
        self.errors = errors
        self._start = start_of(trajectory) if trajectory is not None else None
        if len(self._keys) > len(self.steps):
            self._keys.clear()
        self._told = self._what_is_told()
        self._keys += [str(row) for row in range(len(self._keys), len(self.steps))]
        self.rows_changed()

    def move_to(self, row: int) -> None:
        before = self.cursor_row
        super().move_to(row)
        if self.cursor_row != before:
            self.post_message(self.Moved())

    @property
    def keys(self) -> Sequence[str]:
        return self._keys

    def find(self, key: str) -> int | None:
        row = int(key)
        return row if row < len(self._keys) else None

    def marked(self, key: str) -> bool:
        return int(key) in self.hits

    def empty_text(self) -> str:
        return self.waiting_text

    def wanted_widths(self) -> dict[str, int]:
        return {"what": 500}

    def columns(self) -> Sequence[Column]:
        """What no step tells is left out."""
        return [column for column in COLUMNS if column.name in self._told]

    def _what_is_told(self) -> set[str]:
        steps = self.steps
        told = {"number", "what"}
        if any(has_failed(step, self.errors) for step in steps):
            told.add("ended")
        if any(step.at is not None for step in steps):
            told.add("time")
        if any(step.tokens_in is not None for step in steps):
            told |= {"in", "out"}
        if any(step.cost_usd is not None for step in steps):
            told.add("cost")
        if any(step.seconds is not None for step in steps) or "time" in told:
            told.add("took")
        return told

    def cell(self, key: str, column: str) -> Pieces:
        row = int(key)
        step = self.steps[row]
        match column:
            case "number":
                return [(str(step.number), "deck--dim")]
            case "time":
                return [(fmt.short_time(offset(step, self._start)), "deck--dim")]
            case "ended":
                return ended(step, step.number in self.errors)
            case "what":
                return what(step)
            case "in":
                return [(_known(step, tokens(step.tokens_in)), "")]
            case "out":
                return [(_known(step, tokens(step.tokens_out)), "")]
            case "cost":
                return [(_known(step, fmt.usd(step.cost_usd)), "")]
        return self._took(row, step)

    def _took(self, row: int, step: Step) -> Pieces:
        """What the session says, else the time until the next step, a little paler."""
        if step.seconds is not None:
            return [(fmt.short_time(step.seconds), "")]
        after = self.steps[row + 1].at if row + 1 < len(self.steps) else None
        if step.at is None or after is None or after < step.at:
            return [(fmt.DASH, "deck--faint")]
        return [(fmt.short_time((after - step.at).total_seconds()), "deck--dim")]


def _known(step: Step, said: str) -> str:
    """A user's step costs nothing: nothing is said, not even that it is unknown."""
    return said if step.source == "agent" else ""
