"""Both trials of a task that the arms disagree on, in two columns; where it is narrow, one at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from textual.actions import SkipAction
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.events import DescendantFocus
from textual.widgets import Input

from engine.text import clean_line
from screens.page_keys import PageKeys
from screens.side_by_side_actions import SIDES, SIDES_HELP
from screens.side_by_side_column import TrialColumn
from screens.source import RunSource
from screens.triage_desk import TriageDesk
from screens.triage_desks import desk_of
from screens.trial_pages import STEPS, TrialPages, keys_without_use
from screens.when_filled import when_filled
from screens.widgets.action_footer import ActionFooter
from screens.widgets.breadcrumbs import Breadcrumbs
from screens.widgets.steps_view import StepsView

NARROW = 100
"""Columns below which one side is shown at a time."""


@dataclass(frozen=True)
class PairOfTrials:
    """A task, and where each side's trial is: its run and its id."""

    task: str
    a: tuple[RunSource, str]
    b: tuple[RunSource, str]


class SideBySide(PageKeys[str]):
    """`pairs` in the order that `[` and `]` go through; `task` is the one to begin with. Returns the task seen last."""

    CSS_PATH = "side_by_side.tcss"
    PLACE = SIDES
    HELP = SIDES_HELP
    BINDINGS: ClassVar[list[BindingType]] = [
        *SIDES.bindings(priority=frozenset({"open_side", "search"})),
        *(Binding(str(number), f"tab({number})", show=False) for number in range(2, 10)),
    ]
    AUTO_FOCUS = ""

    def __init__(self, pairs: Sequence[PairOfTrials], task: str, names: tuple[str, str]) -> None:
        super().__init__()
        self.pairs = list(pairs)
        self.at = next(place for place, pair in enumerate(self.pairs) if pair.task == task)
        self.names = names
        self.side = 0
        self._desks: dict[RunSource, TriageDesk] = {}

    def compose(self) -> ComposeResult:
        pair = self.pair
        yield Breadcrumbs("compare")
        with Horizontal(id="sides"):
            yield TrialColumn("A", self.names[0], *pair.a, id="side-a")
            yield TrialColumn("B", self.names[1], *pair.b, id="side-b")
        yield ActionFooter(SIDES)

    def on_mount(self) -> None:
        a, b = self.columns
        a.other, b.other = b, a
        for source in self.sources:
            desk = self._desks[source] = desk_of(self.app, source)
            desk.listen(self._causes_changed)
        self._ask_for_causes()
        self._go_to(0)

    def on_unmount(self) -> None:
        for desk in self._desks.values():
            desk.unlisten(self._causes_changed)

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
        changed = [one for one in self.columns if one.source is source and (one.trial_id in dirty or "" in dirty)]
        for column in changed:
            column.catch_up()
        if changed:
            self._show()

    def clock_ticked(self, now: datetime) -> None:
        for column in self.columns:
            if column.live:
                column.catch_up()
                self._show_heads()

    # --- who failed ---

    def _ask_for_causes(self) -> None:
        """What people decided, and what the rules say of these two."""
        for column in self.columns:
            desk = self._desks[column.source]
            column.causes = desk
            if column.trial is not None and column.trial.done:
                desk.want([column.trial_id])

    def _causes_changed(self, trials: set[str]) -> None:
        if any(column.trial_id in trials or "" in trials for column in self.columns):
            self._show_heads()

    def _show_heads(self) -> None:
        """Both: each has its difference to the other."""
        for column in self.columns:
            column.show_head()

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
        self._show_footer()

    def _show_footer(self) -> None:
        footer = self.query_one(ActionFooter)
        footer.part = view = self.pages.view
        footer.hidden = keys_without_use(view) | ({"task(1)"} if len(self.pairs) < 2 else set())
        if len(self.pages.keys) < 2:
            footer.hidden |= {"log(1)"}
        footer.show()

    def on_trial_column_clicked(self, event: TrialColumn.Clicked) -> None:
        event.stop()
        if event.column is not self.column:
            self._go_to(1 - self.side)

    def on_trial_column_turned(self, event: TrialColumn.Turned) -> None:
        event.stop()
        self._show_footer()

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
        self._ask_for_causes()
        self._show()

    def action_open_side(self) -> None:
        """Before the log, which has a use of its own for the key, but after a line that is typed into."""
        if isinstance(self.focused, Input):
            raise SkipAction
        from screens.trial_screen import TrialScreen

        source, trial = self.pair.b if self.side else self.pair.a
        order = [side[1] for pair in self.pairs if (side := pair.b if self.side else pair.a)[0] is source]
        self.app.push_screen(TrialScreen(source, trial, order))

    # --- what this side shows ---

    @property
    def pages(self) -> TrialPages:
        return self.column.pages

    def action_log(self, step: int) -> None:
        self.column.step_page(step)

    def action_tab(self, number: int) -> None:
        self.column.open_number(number)

    async def action_same_log(self) -> None:
        """Of steps the step of the same number, too."""
        column, other = self.column, self.columns[1 - self.side]
        sight = column.sight
        if sight is None:
            return
        kind, label = sight
        if not other.open_sight(sight):
            what = "no session with steps" if kind == STEPS else f"no log {clean_line(label)}"
            self.notify(f"the other side has {what}", markup=False)
            return
        view, others = await column.pages.filled(), other.pages.view
        said = "steps" if kind == STEPS else clean_line(label)
        if isinstance(view, StepsView) and isinstance(others, StepsView) and view.step is not None:
            when_filled(others, others.open_step, view.step.number)
            said = f"step {view.step.number}"
        if self.size.width < NARROW:
            self.notify(f"side {other.letter} shows {said}", timeout=2, markup=False)

    def action_back_to_steps(self) -> None:
        self.column.back_to_steps()

    async def action_back_to_list(self) -> None:
        if await self.stop_search():
            return
        if not self.column.back_to_steps():
            self.dismiss(self.pair.task)
