"""Both trials of a task that the arms disagree on, in two columns; where it is narrow, one at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from textual.actions import SkipAction
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.events import DescendantFocus
from textual.widgets import Input

from engine.text import clean_line
from screens.deck_screen import DeckScreen
from screens.side_by_side_actions import SIDES
from screens.side_by_side_column import TrialColumn
from screens.source import RunSource
from screens.widgets.action_footer import ActionFooter
from screens.widgets.breadcrumbs import Breadcrumbs

NARROW = 100
"""Columns below which one side is shown at a time."""


@dataclass(frozen=True)
class PairOfTrials:
    """A task, and where each side's trial is: its run and its id."""

    task: str
    a: tuple[RunSource, str]
    b: tuple[RunSource, str]


class SideBySide(DeckScreen[str]):
    """`pairs` in the order that `[` and `]` go through; `task` is the one to begin with. Returns the task seen last."""

    CSS_PATH = "side_by_side.tcss"
    PLACE = SIDES
    BINDINGS: ClassVar[list[BindingType]] = [*SIDES.bindings(priority=frozenset({"open_side"}))]
    AUTO_FOCUS = ""

    def __init__(self, pairs: Sequence[PairOfTrials], task: str, names: tuple[str, str]) -> None:
        super().__init__()
        self.pairs = list(pairs)
        self.at = next(place for place, pair in enumerate(self.pairs) if pair.task == task)
        self.names = names
        self.side = 0

    def compose(self) -> ComposeResult:
        pair = self.pair
        yield Breadcrumbs("compare")
        with Horizontal(id="sides"):
            yield TrialColumn("A", self.names[0], *pair.a, id="side-a")
            yield TrialColumn("B", self.names[1], *pair.b, id="side-b")
        yield ActionFooter(SIDES)

    def on_mount(self) -> None:
        self._go_to(0)

    def on_resize(self) -> None:
        self._show_sides()
        self.call_after_refresh(self._show)

    def on_screen_resume(self) -> None:
        if self.is_mounted:
            self._show()

    # --- what the app calls ---

    @property
    def pair(self) -> PairOfTrials:
        return self.pairs[self.at]

    @property
    def sources(self) -> Sequence[RunSource]:
        """Those of every pair: one may be stepped to."""
        return list(dict.fromkeys(source for pair in self.pairs for source, _ in (pair.a, pair.b)))

    def source_changed(self, source: RunSource, dirty: set[str]) -> None:
        for column in self.columns:
            if column.source is source and (column.trial_id in dirty or "" in dirty):
                column.show()

    def clock_ticked(self, now: datetime) -> None:
        for column in self.columns:
            if column.trial is not None and not column.trial.done:
                column.show()

    # --- sides ---

    @property
    def columns(self) -> list[TrialColumn]:
        return list(self.query(TrialColumn))

    @property
    def column(self) -> TrialColumn:
        return self.query_one("#side-b" if self.side else "#side-a", TrialColumn)

    def _go_to(self, side: int) -> None:
        self.side = side
        for number, column in enumerate(self.columns):
            column.here = number == side
        self._show_sides()
        self._show()
        self.column.call_after_refresh(self.column.take_focus)

    def _show_sides(self) -> None:
        narrow = self.size.width < NARROW
        for number, column in enumerate(self.columns):
            column.display = not narrow or number == self.side
        self.set_class(narrow, "-narrow")

    def _show(self) -> None:
        for column in self.columns:
            column.show()
        place = f"task {self.at + 1} of {len(self.pairs)}"
        if self.size.width < NARROW:
            place += f" · side {'B' if self.side else 'A'}, tab for the other"
        self.query_one(Breadcrumbs).set(["compare", clean_line(self.pair.task, 60)], [(place, "deck--dim")])
        footer = self.query_one(ActionFooter)
        footer.hidden = {"task(1)"} if len(self.pairs) < 2 else set()
        footer.show()

    def action_other_side(self) -> None:
        self._go_to(1 - self.side)

    def on_descendant_focus(self, event: DescendantFocus) -> None:
        """A click into a side makes it the one that keys go to."""
        for number, column in enumerate(self.columns):
            if column in event.widget.ancestors and number != self.side:
                self._go_to(number)

    def action_task(self, step: int) -> None:
        self.at = (self.at + step) % len(self.pairs)
        for column, (source, trial) in zip(self.columns, (self.pair.a, self.pair.b), strict=True):
            column.set_trial(source, trial)
        self._show()

    def action_open_side(self) -> None:
        """Before the log, which has a use of its own for the key, but after a line that is typed into."""
        if isinstance(self.focused, Input):
            raise SkipAction
        from screens.trial_screen import TrialScreen

        source, trial = self.pair.b if self.side else self.pair.a
        order = [side[1] for pair in self.pairs if (side := pair.b if self.side else pair.a)[0] is source]
        self.app.push_screen(TrialScreen(source, trial, order))

    # --- the log of this side ---

    def action_log(self, step: int) -> None:
        self.column.step_log(step)

    def action_same_log(self) -> None:
        other = self.columns[1 - self.side]
        if not other.open_label(self.column.label):
            self.notify(f"the other side has no log {clean_line(self.column.label)}", markup=False)

    def action_follow(self) -> None:
        if self.column.view is not None:
            self.column.view.action_follow()

    def action_wrap(self) -> None:
        if self.column.view is not None:
            self.column.view.action_wrap()

    def action_search(self) -> None:
        if self.column.view is not None:
            self.column.view.action_search()

    def action_hit(self, step: int) -> None:
        if self.column.view is not None:
            self.column.view.action_hit(step)

    def action_back_to_list(self) -> None:
        if self.column.view is None or not self.column.view.stop_search():
            self.dismiss(self.pair.task)
