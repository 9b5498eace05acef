"""Runs of every system, in one folder or in several; Enter opens one."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.message import Message

from engine.readers.reader import Liveness
from engine.text import clean_line
from screens import format as fmt
from screens.actions import MARKING, Action, place
from screens.deck_screen import DeckScreen
from screens.read_only import is_read_only
from screens.row_pattern import TOO_SLOW
from screens.run_filter import FIELDS, FilterError
from screens.run_summaries import summarise_all, unique
from screens.run_summary import RunSummary
from screens.summary_cache import SummaryCache
from screens.widgets.action_footer import ActionFooter
from screens.widgets.breadcrumbs import Breadcrumbs
from screens.widgets.filter_bar import FilterBar
from screens.widgets.line_table import LineTable
from screens.widgets.marking_table import MarkingTable
from screens.widgets.run_line import RunLine
from screens.widgets.runs_table import RunsTable

LOOK_SEC = 2.0
"""How often the folders are looked at again, where a look is cheap."""
_SHARE = 30
"""A look that took a second is repeated after so many at the earliest: an idle list costs next to nothing."""
_SHOW_SEC = 0.2
"""How often rows are shown while the first look goes on."""

HOME = place(
    "home",
    "Runs",
    Action(name="open", keys=("enter",), label="open", help="Open the run under the cursor", footer=85),
    Action(name="filter", keys=("slash",), label="filter", help="Filter the runs, or change the filter", footer=75),
    Action(name="mark", keys=("space",), label="mark", help="Mark the run, or take its mark away", footer=60),
    Action(
        name="compare",
        keys=("c",),
        label="compare",
        help="Compare the marked runs; without marks the arms of this one",
        footer=65,
    ),
    Action(
        name="analyse",
        keys=("a",),
        label="analyse",
        help="Numbers over the marked runs, or this one: ranks, index, difficulty, time, cost, steps, effort",
        footer=48,
    ),
    Action(name="sort(1)", keys=("s",), label="sort", help="Sort by the next column", footer=45),
    Action(name="sort(-1)", keys=("S",), label="sort back", help="Sort by the column before"),
    Action(name="turn", keys=("r",), label="reverse", help="Turn the order round"),
    Action(name="look", keys=("f5", "ctrl+r"), label="look again", help="Look for runs again", footer=20),
    Action(name="step_back", keys=("escape",), label="back", help="Off with the marks, then the filter", palette=False),
    mouse=MARKING,
)


class HomeScreen(DeckScreen[None]):
    """`RunChosen` asks the app to open a run, `CompareWanted` to compare some, `AnalysisWanted` for the
    numbers over some. `places`: runs, and folders with runs in
    or under them. `chosen`: the folder of the run that the cursor starts on."""

    CSS_PATH = "home_screen.tcss"
    PLACE = HOME
    BINDINGS: ClassVar[list[BindingType]] = [*HOME.bindings()]
    AUTO_FOCUS = "RunsTable"
    HELP = f"""\
The filter  /
  word           anywhere in name, kind, state, arms, tasks and folder
  /regex/        a regular expression
  !word          the other way round; terms are joined by "and"
  field:value    {", ".join(FIELDS)}

States
  ● live   ◌ starting   ✓ finished   ⊘ interrupted: cancelled
  ✗ stale: its owner is gone or gives no sign of life, and it never said its end

Rates are of what is finished. Runs of other systems are only read."""

    @dataclass
    class RunChosen(Message):
        folder: Path

    @dataclass
    class CompareWanted(Message):
        """In the order in which they were marked; one alone: its own arms."""

        folders: list[Path]

    @dataclass
    class AnalysisWanted(Message):
        """Of the arms of all these runs; runs over one task set are attempts of it."""

        folders: list[Path]

    @dataclass
    class RunsRead(Message):
        runs: list[RunSummary]
        whole: bool

    def __init__(
        self,
        places: Sequence[Path],
        clock: Callable[[], datetime],
        chosen: Path | None = None,
        cache: SummaryCache | None = None,
    ) -> None:
        super().__init__()
        self.places = list(places)
        self.clock = clock
        self.chosen = chosen
        self._cache = cache if cache is not None else SummaryCache()
        self._known: dict[str, RunSummary] = {}
        self._reading = False
        self._look_at = 0.0

    @property
    def _table(self) -> RunsTable:
        return self.query_one(RunsTable)

    @property
    def _bar(self) -> FilterBar:
        return self.query_one(FilterBar)

    def compose(self) -> ComposeResult:
        yield Breadcrumbs("runs")
        yield FilterBar(hint="text  /regex/  !not  kind:harbor  state:stale", everything="all runs")
        yield RunsTable(self.clock())
        yield RunLine()
        yield ActionFooter(HOME)

    def on_mount(self) -> None:
        self._table.nothing = f"looking into {self._where()} …"
        if self.chosen is not None:
            self._table.lead_to(str(self.chosen))
        self.set_interval(LOOK_SEC, self._look_now_and_then)
        self.action_look()
        self._show_bar()

    def on_screen_resume(self) -> None:
        self.action_look()

    def _where(self) -> str:
        if len(self.places) == 1:
            return clean_line(self.places[0].name or str(self.places[0]))
        return f"{len(self.places)} places"

    # --- reading ---

    def _look_now_and_then(self) -> None:
        if time.monotonic() >= self._look_at:
            self.action_look()

    def action_look(self) -> None:
        if self._reading or not self.is_current:
            return
        self._reading = True
        self.run_worker(self._read, thread=True, group="runs")

    def _read(self) -> None:
        """In a thread. The first look shows runs as they are read; later ones only when all are."""
        first = not self._known
        began = shown = time.monotonic()
        runs: list[RunSummary] = []
        try:
            for run in summarise_all(self.places, dict(self._known), cache=self._cache, glances=True):
                runs.append(run)
                if first and time.monotonic() - shown > _SHOW_SEC:
                    shown = time.monotonic()
                    self.post_message(self.RunsRead(unique(runs), whole=False))
            if not is_read_only(self.app):
                self._cache.save()
        except OSError:
            pass
        self._look_at = time.monotonic() + _SHARE * (time.monotonic() - began)
        self.post_message(self.RunsRead(unique(runs), whole=True))

    def on_home_screen_runs_read(self, event: RunsRead) -> None:
        table = self._table
        table.now = self.clock()
        if event.whole:
            self._reading = False
            self._known = {run.key: run for run in event.runs}
            table.nothing = "no runs here; `trialdeck run` starts one"
            self._find_chosen(event.runs)
        if list(table.runs.values()) != event.runs or not event.runs:
            table.set_runs(event.runs)
        else:
            table.repaint([run.key for run in event.runs if run.liveness in (Liveness.LIVE, Liveness.STALE)])
            table.point()
        self._show_bar()

    def _find_chosen(self, runs: Sequence[RunSummary]) -> None:
        """The run that one came from may have been named in another way."""
        if self.chosen is not None and str(self.chosen) not in self._known:
            chosen = self.chosen.resolve()
            if key := next((run.key for run in runs if run.folder.resolve() == chosen), ""):
                self._table.lead_to(key)
        self.chosen = None

    def _show_bar(self) -> None:
        table, bar = self._table, self._bar
        runs = list(table.runs.values())
        live = sum(run.liveness is Liveness.LIVE for run in runs)
        stale = sum(run.liveness is Liveness.STALE for run in runs)
        self.query_one(Breadcrumbs).set(
            ["runs"],
            [
                (f"{live} live · " if live else "", "deck--accent"),
                (f"{stale} stale · " if stale else "", "deck--warn"),
                (f"{fmt.count(len(runs), 'run')} in {self._where()}", "deck--dim"),
            ],
        )
        column = next(column for column in table.COLUMNS if column.name == table.sort)
        shown = f"{len(table.keys)} of {len(runs)}   " if len(table.keys) != len(runs) else ""
        bar.warning = TOO_SLOW if table.filter.too_slow else ""
        bar.right = [
            (f"{len(table.marks)} marked   " if table.marks else "", "deck--accent"),
            (shown, "deck--strong"),
            (f"sort: {column.help or column.title} {'↓' if table.down else '↑'}", "deck--dim"),
        ]
        bar.show()

    def on_runs_table_pointed(self, event: RunsTable.Pointed) -> None:
        self.query_one(RunLine).set(event.run, self.clock())

    # --- what a person does ---

    def on_line_table_opened(self, event: LineTable.Opened) -> None:
        if event.key in self._table.runs:
            self.post_message(self.RunChosen(self._table.folder(event.key)))

    def action_open(self) -> None:
        self._table.action_open()

    def action_filter(self) -> None:
        self._bar.edit()

    def on_filter_bar_changed(self, event: FilterBar.Changed) -> None:
        self._filter(event.text)

    def on_filter_bar_kept(self, event: FilterBar.Kept) -> None:
        self._filter(event.text)
        self._table.focus()

    def _filter(self, text: str) -> None:
        try:
            self._table.set_filter(text)
            self._bar.error = ""
        except FilterError as error:
            self._bar.error = str(error)
        self._show_bar()

    def action_mark(self) -> None:
        self._table.mark()
        self._show_bar()

    def action_compare(self) -> None:
        table = self._table
        keys = list(table.marks) or ([table.cursor_key] if table.cursor_key is not None else [])
        if len(keys) == 1 and len(table.runs[keys[0]].arms) < 2:
            self.notify("mark two runs or more with space: one arm alone has nothing to be compared with", markup=False)
        elif keys:
            self.post_message(self.CompareWanted([table.folder(key) for key in keys]))

    def action_analyse(self) -> None:
        table = self._table
        keys = list(table.marks) or ([table.cursor_key] if table.cursor_key is not None else [])
        if keys:
            self.post_message(self.AnalysisWanted([table.folder(key) for key in keys]))

    def action_sort(self, step: int) -> None:
        self._table.sort_step(step)
        self._show_bar()

    def action_turn(self) -> None:
        self._table.sort_by(self._table.sort)
        self._show_bar()

    def _sort_by(self, column: str) -> None:
        self._table.sort_by(column)
        self._show_bar()

    def on_marking_table_marks_changed(self, event: MarkingTable.MarksChanged) -> None:
        event.stop()
        self._show_bar()

    def on_line_table_header_clicked(self, event: LineTable.HeaderClicked) -> None:
        self._sort_by(event.column)

    def more_commands(self) -> list[tuple[str, Callable[[], None]]]:
        """For the palette."""
        columns = self._table.COLUMNS
        return [(f"Sort by {column.help or column.title}", partial(self._sort_by, column.name)) for column in columns]

    async def action_step_back(self) -> None:
        """Off with the marks, out of the filter, then out of the screen."""
        if self._table.marks:
            self._table.clear_marks()
        elif self._bar.text:
            self._bar.text = ""
            self._filter("")
            return
        else:
            await self.app.run_action("app.back")
        self._show_bar()
