"""An agent's session as steps: a list, the chosen one in full, what it all cost; followed while it is written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container, Vertical
from textual.message import Message
from textual.worker import get_current_worker

from engine.trajectories.steps import Step, Trajectory
from screens.log_pattern import BadPattern, Pattern
from screens.steps_actions import STEPS
from screens.steps_search import StepsSearch
from screens.steps_text import as_text, commands, full, has_failed
from screens.widgets.line_table import LineTable
from screens.widgets.steps_bar import StepsBar
from screens.widgets.steps_page import StepsPage
from screens.widgets.steps_prompt import Prompt
from screens.widgets.steps_reading import StepsReading
from screens.widgets.steps_table import StepsTable

LOOK_SEC = 1.0
"""How often a session that is still written is looked at."""
BESIDE = 110
"""Columns from which on list and text stand side by side."""
STACKED = 22
"""Rows from which on they stand one above the other; below, one at a time."""


class StepsView(Vertical):
    """`paths` are the trial's sessions, the first one is opened. `live`: they may still grow."""

    PLACE = STEPS
    BINDINGS: ClassVar[list[BindingType]] = [*STEPS.bindings()]
    DEFAULT_CSS = """
    StepsView { height: 1fr; width: 1fr; }
    StepsView > .steps-panes { height: 1fr; layout: vertical; }
    StepsView StepsTable { height: 2fr; }
    StepsView StepsPage { height: 3fr; border-top: hkey $foreground 15%; }
    StepsView.-beside > .steps-panes { layout: horizontal; }
    StepsView.-beside StepsTable { width: 2fr; height: 1fr; }
    StepsView.-beside StepsPage { width: 3fr; height: 1fr; border-top: none; border-left: vkey $foreground 15%; }
    StepsView.-one StepsPage { display: none; border-top: none; }
    StepsView.-one.-text StepsTable { display: none; }
    StepsView.-one.-text StepsPage { display: block; height: 1fr; }
    """

    @dataclass
    class Counted(Message):
        """There is another number of steps."""

        steps: int

    @dataclass
    class LogWanted(Message):
        """The log at a step's time; None where the session tells none."""

        at: datetime | None

    @dataclass
    class Searched(Message):
        search: StepsSearch

    def __init__(self, paths: Sequence[Path], *, live: bool = False, id: str | None = None) -> None:
        super().__init__(id=id)
        self.paths = list(paths)
        self.chosen = 0
        self.live = live
        self.following = live
        self.trajectory: Trajectory | None = None
        self.search: StepsSearch | None = None
        self.searching = False
        self.waiting_text = "reading the session"
        self.table = StepsTable()
        self.text = StepsPage()
        self._prompt = Prompt()
        self._bar = StepsBar(self)
        self._reading = StepsReading(self, self.paths[0])
        self._wanted: int | None = None
        self._wanted_line: int | None = None
        self._errors: dict[int, list[str]] = {}
        self._shown: tuple[Path, int] | None = None

    def compose(self) -> ComposeResult:
        with Container(classes="steps-panes"):
            yield self.table
            yield self.text
        yield self._prompt
        yield self._bar

    def on_mount(self) -> None:
        self.set_interval(LOOK_SEC, self._look)
        self._reading.look(self.live)
        self.call_after_refresh(self._arrange)

    def on_unmount(self) -> None:
        self.workers.cancel_node(self)

    # --- what others ask ---

    @property
    def path(self) -> Path:
        return self.paths[self.chosen]

    @property
    def row(self) -> int:
        return self.table.cursor_row

    @property
    def step(self) -> Step | None:
        steps = self.table.steps
        return steps[self.row] if self.row < len(steps) else None

    def take_focus(self) -> None:
        (self.text if self.has_class("-one") and self.has_class("-text") else self.table).focus()

    def open_step(self, number: int) -> None:
        """Show a step by its number; at once, or when it is read."""
        self._wanted = number
        self.following = False
        self._go_to_wanted()

    def open_line(self, path: Path, line: int) -> None:
        """Show the step that a line of a session's file belongs to; 0 is the first one."""
        if path in self.paths and path != self.path:
            self._choose(self.paths.index(path))
        self._wanted_line = line
        self.following = False
        self._go_to_wanted()

    def set_paths(self, paths: Sequence[Path], live: bool) -> None:
        """What sessions there are now; the open one stays open."""
        self.live = live
        if list(paths) != self.paths and paths:
            path = self.path
            self.paths = list(paths)
            if path in self.paths:
                self.chosen = self.paths.index(path)
            else:
                self._choose(0)
        self._show_bar()

    # --- reading ---

    def _look(self) -> None:
        if self.is_on_screen and self.screen.is_current:
            self._reading.look(self.live)

    def on_steps_reading_read(self, event: StepsReading.Read) -> None:
        event.stop()
        if not self._reading.came(event, self.live):
            return
        self._arrange()  # a view that is made while the screen is laid out may hear of no resize
        if event.trajectory is None:
            if self.trajectory is None:
                self.waiting_text = self.table.waiting_text = "no steps yet" if self.live else "no session in this file"
                self._show_bar()
                self.table.refresh()
            return
        before = len(self.trajectory.steps) if self.trajectory is not None else -1
        self.trajectory = event.trajectory
        self._errors = {}
        for number, error in event.trajectory.errors:
            self._errors.setdefault(number, []).append(error)
        self.table.waiting_text = "no steps yet"
        self.table.set_trajectory(event.trajectory, frozenset(self._errors))
        if self.following:
            self.table.move_to(len(self.table.keys) - 1)
        self._go_to_wanted()
        self._show_step()
        self._show_bar()
        if len(event.trajectory.steps) != before:
            self.post_message(self.Counted(len(event.trajectory.steps)))
        if self.search is not None:
            self._search_on(self.search)

    def _go_to_wanted(self) -> None:
        steps = self.table.steps
        if not steps:
            return
        row: int | None = None
        if self._wanted_line is not None:
            row = max((row for row, step in enumerate(steps) if 0 < step.line <= self._wanted_line), default=0)
        elif self._wanted is not None:
            row = next((row for row, step in enumerate(steps) if step.number >= self._wanted), None)
            if row is None and not self.live:
                row = len(steps) - 1
        if row is not None:
            self._wanted = self._wanted_line = None
            self.table.move_to(row)
            self.add_class("-text")
            self._show_step()
            self.call_after_refresh(self._show_step)

    def _choose(self, session: int) -> None:
        self.chosen = session
        self._reading.open(self.path)
        self.trajectory, self.search, self._shown = None, None, None
        self.following = self.live
        self.waiting_text = self.table.waiting_text = "reading the session"
        self.table.cursor = None
        self.table.hits = frozenset()
        self.table.set_trajectory(None, frozenset())
        self.text.show(None, top=True)
        self._show_bar()
        self._reading.look(self.live)

    # --- what is shown ---

    def _show_step(self) -> None:
        step, trajectory = self.step, self.trajectory
        if step is None or trajectory is None:
            return
        shown = (self.path, self.row)
        errors = self._errors.get(step.number, [])
        self.text.pattern = self.search.pattern.in_text if self.search is not None else None
        self.text.show(lambda width: full(step, trajectory, errors, width), top=shown != self._shown)
        self._shown = shown

    def _show_bar(self) -> None:
        self._bar.show()

    def _moved(self) -> None:
        self._show_step()
        self._show_bar()

    def on_resize(self) -> None:
        self._arrange()
        self.call_after_refresh(self._resized)

    def _arrange(self) -> None:
        """How list and text share the room there is."""
        if self.size:
            self.set_class(self.size.width >= BESIDE, "-beside")
            self.set_class(self.size.width < BESIDE and self.size.height < STACKED, "-one")

    def _resized(self) -> None:
        if self.has_focus_within and not self._prompt.display:
            self.take_focus()
        self._moved()

    def on_steps_table_moved(self, event: StepsTable.Moved) -> None:
        event.stop()
        if self.following and self.row < len(self.table.keys) - 1:
            self.following = False
        self._moved()

    def on_line_table_opened(self, event: LineTable.Opened) -> None:
        event.stop()
        self.add_class("-text")
        self.take_focus()
        self.call_after_refresh(self._show_step)

    # --- keys ---

    def action_follow(self) -> None:
        if self.live:
            self.following = not self.following
            if self.following:
                self.table.move_to(len(self.table.keys) - 1)
            self._moved()

    def action_step(self, step: int) -> None:
        if self.search is not None:
            self.action_hit(step)
        else:
            self.table.move_to(self.row + step)

    def action_failure(self, step: int) -> None:
        errors = frozenset(self._errors)
        self._to_next(step, "no step failed there", lambda each: has_failed(each, errors))

    def action_user(self, step: int) -> None:
        self._to_next(step, "no message of a user there", lambda each: each.source == "user")

    def _to_next(self, step: int, otherwise: str, wanted: Callable[[Step], bool]) -> None:
        rows = range(self.row + step, len(self.table.steps) if step > 0 else -1, step)
        row = next((row for row in rows if wanted(self.table.steps[row])), None)
        if row is None:
            self.notify(otherwise, timeout=2, markup=False)
        else:
            self.table.move_to(row)

    def action_text(self, pages: int) -> None:
        self.text.page(pages)

    def action_log(self) -> None:
        if (step := self.step) is not None:
            self.post_message(self.LogWanted(step.at))

    def action_copy_command(self) -> None:
        step = self.step
        if step is None:
            return
        said = commands(step)
        if said:
            self.app.copy_to_clipboard(said)
        self.notify("command copied" if said else "this step ran no command", timeout=2, markup=False)

    def action_copy_step(self) -> None:
        if (step := self.step) is not None:
            self.app.copy_to_clipboard(as_text(step))
            self.notify("step copied", timeout=2, markup=False)

    def action_session(self) -> None:
        if len(self.paths) > 1:
            self._choose((self.chosen + 1) % len(self.paths))

    # --- asking and searching ---

    def action_go_to(self) -> None:
        self._prompt.ask("step", "step")

    def action_search(self) -> None:
        self._prompt.ask("search", "/", self.search.pattern.text if self.search is not None else "")

    def on_prompt_left(self, event: Prompt.Left) -> None:
        event.stop()
        self.take_focus()

    def on_prompt_given(self, event: Prompt.Given) -> None:
        event.stop()
        self.take_focus()
        if event.kind == "search":
            self.search_for(event.text)
        elif event.text.strip().isdecimal():
            self.open_step(int(event.text))

    def search_for(self, text: str) -> None:
        try:
            pattern = Pattern(text)
        except BadPattern as error:
            self.notify(str(error), severity="warning", markup=False)
            return
        self.search = None if pattern.empty else StepsSearch(pattern)
        self.table.hits = frozenset()
        if self.search is not None:
            self._search_on(self.search)
        self._moved()

    def _search_on(self, search: StepsSearch) -> None:
        if not self.searching:
            self.searching = True
            looking = partial(self._look_through, search, self.table.steps)
            self.run_worker(looking, thread=True, group="steps search", exclusive=True, exit_on_error=False)

    def _look_through(self, search: StepsSearch, steps: Sequence[Step]) -> None:
        worker = get_current_worker()
        search.go_on(steps, lambda: worker.is_cancelled)
        if not worker.is_cancelled:
            self.post_message(self.Searched(search))

    def on_steps_view_searched(self, event: Searched) -> None:
        event.stop()
        self.searching = False
        search = self.search
        if search is not event.search:
            if search is not None:
                self._search_on(search)
            return
        first = not self.table.hits
        self.table.hits = frozenset(search.hits)
        self.table.refresh()
        if first and search.hits and not search.rank(self.row):
            self.action_hit(1)
        self._shown = None
        self._moved()

    def action_hit(self, step: int) -> None:
        if self.search is None:
            self.action_search()
        elif (row := self.search.next(self.row, step)) is not None:
            self.table.move_to(row)

    def stop_search(self) -> bool:
        """Forgets the search, or else closes the text where it hides the list. False where there was neither."""
        if self.search is not None:
            self.search = None
            self.table.hits = frozenset()
            self.table.refresh()
            self._moved()
            return True
        if self.has_class("-one") and self.has_class("-text"):
            self.remove_class("-text")
            self.table.focus()
            return True
        return False
