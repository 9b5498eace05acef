"""The runs of a folder; Enter opens one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.message import Message
from textual.screen import Screen

from engine.readers.reader import Liveness
from screens import format as fmt
from screens.actions import Action, place
from screens.run_summaries import RunSummary, summarise_all
from screens.widgets.action_footer import ActionFooter
from screens.widgets.breadcrumbs import Breadcrumbs
from screens.widgets.line_table import LineTable
from screens.widgets.runs_table import RunsTable

LOOK_SEC = 2.0
"""How often the folder is looked at again."""
_BATCH = 50

HOME = place(
    "home",
    "Runs",
    Action(name="open", keys=("enter",), label="open", help="Open the run under the cursor", footer=85),
    Action(name="look", keys=("f5", "ctrl+r"), label="look again", help="Look for runs again", footer=20),
)


class HomeScreen(Screen[None]):
    """`RunChosen` asks the app to open a run. `chosen`: the folder's name that the cursor starts on."""

    CSS_PATH = "home_screen.tcss"
    PLACE = HOME
    BINDINGS: ClassVar[list[BindingType]] = [*HOME.bindings()]
    AUTO_FOCUS = "RunsTable"

    @dataclass
    class RunChosen(Message):
        folder: Path

    @dataclass
    class RunsRead(Message):
        runs: list[RunSummary]
        whole: bool

    def __init__(self, runs_dir: Path, clock: Callable[[], datetime], chosen: str = "") -> None:
        super().__init__()
        self.runs_dir = runs_dir
        self.clock = clock
        self.chosen = chosen
        self._known: dict[Path, RunSummary] = {}
        self._reading = False

    def compose(self) -> ComposeResult:
        yield Breadcrumbs("runs")
        yield RunsTable(self.clock())
        yield ActionFooter(HOME)

    def on_mount(self) -> None:
        table = self.query_one(RunsTable)
        table.nothing = f"looking into {self.runs_dir} …"
        if self.chosen:
            table.cursor = self.chosen
        self.set_interval(LOOK_SEC, self.action_look)
        self.action_look()

    def on_screen_resume(self) -> None:
        self.action_look()

    def action_look(self) -> None:
        if self._reading or not self.is_current:
            return
        self._reading = True
        self.run_worker(self._read, thread=True, group="runs")

    def _read(self) -> None:
        """In a thread. The first look shows runs as they are read; later ones only when all are."""
        first = not self._known
        runs: list[RunSummary] = []
        try:
            for run in summarise_all(self.runs_dir, dict(self._known)):
                runs.append(run)
                if first and len(runs) % _BATCH == 0:
                    self.post_message(self.RunsRead(list(runs), whole=False))
        except OSError:
            pass
        self.post_message(self.RunsRead(runs, whole=True))

    def on_home_screen_runs_read(self, event: RunsRead) -> None:
        table = self.query_one(RunsTable)
        table.now = self.clock()
        if event.whole:
            self._reading = False
            self._known = {run.folder: run for run in event.runs}
            table.nothing = "no runs here; `trialdeck run` starts one"
        if list(table.runs.values()) != event.runs or not event.runs:
            table.set_runs(event.runs)
        else:
            table.repaint([run.folder.name for run in event.runs if run.liveness is Liveness.LIVE])
        live = sum(run.liveness is Liveness.LIVE for run in event.runs)
        self.query_one(Breadcrumbs).set(
            ["runs"],
            [
                (f"{live} live · " if live else "", "deck--accent"),
                (f"{fmt.count(len(event.runs), 'run')} in {self.runs_dir.name or self.runs_dir}", "deck--dim"),
            ],
        )

    def on_line_table_opened(self, event: LineTable.Opened) -> None:
        table = self.query_one(RunsTable)
        if event.key in table.runs:
            self.post_message(self.RunChosen(table.folder(event.key)))
