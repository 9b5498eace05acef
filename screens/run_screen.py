"""The run: its trials live, its head above them, its warnings below."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from time import perf_counter
from typing import ClassVar

from textual import events
from textual.actions import SkipAction
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.message import Message
from textual.screen import Screen

from engine.analysis.from_state import arm_outcomes
from engine.analysis.outcomes import TrialOutcome
from screens.app_protocols import RunControl
from screens.pieces import Pieces
from screens.run_actions import FILTER_HELP, RUN
from screens.run_commands import CommandAnswered, RunCommands
from screens.run_facts import arrangement, cost_unknown, crumbs
from screens.source import RunSource
from screens.standings import Standings, work_out
from screens.triage_desks import desk_of, open_triage
from screens.trial_columns import COLUMNS
from screens.trial_filter import FilterError, parse
from screens.trial_rows import TrialRows
from screens.widgets.action_footer import ActionFooter
from screens.widgets.breadcrumbs import Breadcrumbs
from screens.widgets.feed_rule import FeedRule
from screens.widgets.filter_bar import FilterBar
from screens.widgets.line_table import LineTable
from screens.widgets.run_header import RunHeader
from screens.widgets.trials_table import TrialsTable
from screens.widgets.warnings_feed import WarningsFeed

FACTS_SEC = 1.0
"""How often estimates and standings are worked out anew, at most."""
FEED_HEIGHT = 30
"""Lines of the terminal from which on the warnings have a place of their own."""


class RunScreen(Screen[None]):
    """`control` reaches the run's engine; None where there is nobody to reach."""

    CSS_PATH = "run_screen.tcss"
    PLACE = RUN
    HELP = FILTER_HELP
    BINDINGS: ClassVar[list[BindingType]] = [*RUN.bindings(priority=frozenset({"filter"}))]
    """The filter's key comes first, so that what is typed fast after it goes into the filter."""
    AUTO_FOCUS = "TrialsTable"

    @dataclass
    class StandingsWorkedOut(Message):
        standings: Standings
        stood: tuple[int, ...]

    def __init__(self, source: RunSource, control: RunControl | None = None) -> None:
        super().__init__()
        self.source = source
        self.commands = RunCommands(self, source, control)
        self.rows = TrialRows(source.state)
        self._facts_at = 0.0
        self._facts_due = False
        self._known = False
        self._over = False
        self._stood: tuple[int, ...] = ()

    def compose(self) -> ComposeResult:
        now = self.source.now()
        yield Breadcrumbs("runs", self.source.folder.name)
        yield RunHeader(self.source.state, now)
        yield FilterBar()
        yield TrialsTable(self.rows, now)
        yield FeedRule()
        yield WarningsFeed(self.source.state)
        yield ActionFooter(RUN)

    def on_mount(self) -> None:
        self._header = self.query_one(RunHeader)
        self._crumbs = self.query_one(Breadcrumbs)
        self._bar = self.query_one(FilterBar)
        self._table = self.query_one(TrialsTable)
        self._rule = self.query_one(FeedRule)
        self._feed = self.query_one(WarningsFeed)
        self._footer = self.query_one(ActionFooter)
        self._desk = desk_of(self.app, self.source)
        self._desk.listen(self._causes_changed)
        self.rows.set_causes(self._desk, self.source.now())
        self._show_all()

    def on_unmount(self) -> None:
        self._desk.unlisten(self._causes_changed)

    def on_screen_resume(self) -> None:
        if self.is_mounted:
            self._show_all()

    def on_resize(self) -> None:
        self._place_feed()
        self._header.show()
        self.call_after_refresh(self._show_state)

    # --- what the app calls ---

    def run_changed(self, dirty: set[str]) -> None:
        now = self.source.now()
        self._table.now = now
        over = self.source.state.finished is not None
        if not self._known:
            self._table.cursor = None  # it stays at the top while a run is read, not on a row that moves away
        if self.rows.update(dirty, now) or over != self._over:
            self._over = over
            self._table.rows_changed()
        else:
            self._table.repaint(dirty | self.rows.groups.keys())
        if "" in dirty:
            self._facts(now)
            self._show_state()
        self._show_feed()
        self._show_bar()

    def _causes_changed(self, trials: set[str]) -> None:
        """Decided, or proposed: a filter or an order may go by it."""
        if self.is_current and self.is_mounted:
            self.rows.set_causes(self._desk, self.source.now())
            self._table.rows_changed()
            self._show_bar()

    def clock_ticked(self, now: datetime) -> None:
        now = self.source.now()
        self._table.now = now
        if self.rows.tick(now):
            self._table.rows_changed()
        else:
            self._table.repaint(self._table.running_keys())
        self._facts(now)
        self._show_state()

    # --- showing ---

    def _show_all(self) -> None:
        now = self.source.now()
        self._table.now = now
        self.rows.rebuild(now)
        self._table.rows_changed()
        self._facts_at = 0.0
        self._facts(now)
        self._show_feed()
        self._show_bar()
        self._show_state()

    def _show_state(self) -> None:
        source = self.source
        state = source.state
        now = source.now()
        self._crumbs.set(
            ["runs", state.plan.name if state.plan else source.folder.name], crumbs(source, self.size.width)
        )
        self._header.now = now
        self._header.stale = source.stale
        self._header.ours = source.run.ours
        self._header.show()
        if self._table.stale != source.stale:
            self._table.stale = source.stale
            self._table.repaint(self._table.visible_keys())
        self._table.waiting_text = "" if source.caught_up else "reading the run …"
        if source.caught_up and not state.trials:
            self._table.waiting_text = "no trial is planned yet"
        self._footer.labels["pause"] = "go on" if state.paused else "pause"
        self._footer.labels["leave"] = "leave (run goes on)" if source.live and self.size.width >= 110 else "leave"
        self._footer.hidden = set() if self.commands.possible else {"cancel_trial", "pause"}
        self._footer.show()

    def _show_bar(self) -> None:
        self._bar.right = arrangement(self.rows)
        self._bar.problems = self.rows.problems
        self._bar.show()

    def _show_feed(self) -> None:
        self._feed.letters = self.rows.letters
        came = self._feed.update()
        if came and self._feed.has_focus:
            self._feed.mark_read()
        self._rule.set(len(self.source.state.feed), self._feed.unread)
        self._place_feed()

    def _place_feed(self) -> None:
        total = len(self.source.state.feed)
        room = self.size.height >= FEED_HEIGHT
        shown = bool(total) and (room or self._feed.has_focus)
        self._rule.display = self._feed.display = shown
        lines = max(3, min(8, self.size.height // 6)) if room else max(3, self.size.height // 3)
        self._feed.styles.height = max(1, min(lines, total))
        warnings: Pieces = []
        if total and not shown:
            warnings = [(f"w {self._rule.text()}", "deck--warn" if self._feed.unread else "deck--dim")]
        self._footer.say(warnings)

    def _facts(self, now: datetime) -> None:
        since = perf_counter() - self._facts_at
        if self.source.caught_up and not self._known:
            self._known = True
        elif since < FACTS_SEC:
            if not self._facts_due:
                self._facts_due = True
                self.set_timer(FACTS_SEC - since, self._late_facts)
            return
        self._facts_at = perf_counter()
        state = self.source.state
        goes_on = self.source.live and not state.cancelling and not state.paused
        self._header.eta = state.eta(now) if goes_on else None
        self._header.cost = (state.cost_usd, cost_unknown(state))
        stood = tuple(number for arm in state.arms.values() for number in (arm.passed, arm.scored, arm.finished))
        if stood != self._stood:
            self._stood = stood
            job = partial(self._work_out, arm_outcomes(state), stood)
            self.run_worker(job, thread=True, exclusive=True, group="standings")

    def _late_facts(self) -> None:
        self._facts_due = False
        self._facts(self.source.now())
        self._show_state()

    def _work_out(self, found: dict[str, list[TrialOutcome]], stood: tuple[int, ...]) -> None:
        self.post_message(self.StandingsWorkedOut(work_out(found), stood))

    def on_run_screen_standings_worked_out(self, event: StandingsWorkedOut) -> None:
        if event.stood == self._stood:
            self._header.standings = event.standings
            self._header.show()

    # --- filter, order, groups ---

    def action_filter(self) -> None:
        if self._bar.editing:
            raise SkipAction
        self._bar.edit()

    def on_filter_bar_changed(self, event: FilterBar.Changed) -> None:
        try:
            wanted = parse(event.text)
        except FilterError as error:
            self._bar.error = str(error)
            self._show_bar()
            return
        self._bar.error = ""
        self.rows.set_filter(wanted if wanted.test else None, self.source.now())
        self._table.rows_changed()
        self._show_bar()

    def on_filter_bar_kept(self, event: FilterBar.Kept) -> None:
        self.on_filter_bar_changed(FilterBar.Changed(event.text))
        if self.focused is None or not self.focused.display:
            self._table.focus()

    def action_problems(self) -> None:
        self.rows.set_problems(not self.rows.problems, self.source.now())
        self._table.rows_changed()
        self._show_bar()

    def action_sort(self, step: int) -> None:
        self._table.sort_step(step)
        self._show_bar()

    def action_turn(self) -> None:
        self.sort_by(self.rows.sort)

    def sort_by(self, column: str) -> None:
        self._table.sort_by(column)
        self._show_bar()

    def more_commands(self) -> list[tuple[str, Callable[[], None]]]:
        """For the palette."""
        return [(f"Sort by {column.help or column.title}", partial(self.sort_by, column.name)) for column in COLUMNS]

    def on_line_table_header_clicked(self, event: LineTable.HeaderClicked) -> None:
        if event.table is self._table:
            self.sort_by(event.column)

    def action_group(self) -> None:
        self._table.group_step()
        self._show_bar()

    def action_fold(self, folded: bool) -> None:
        self._table.fold(folded)

    def action_mark(self) -> None:
        self._table.mark()
        self._show_bar()

    def action_problem(self, step: int) -> None:
        if not self._table.to_problem(step):
            self.notify("no trial that is shown wants a look", markup=False)

    # --- going elsewhere ---

    def on_line_table_opened(self, event: LineTable.Opened) -> None:
        if event.table is self._feed:
            self._jump(self._feed.warned(event.key).trial)
        elif event.key in self.rows.groups:
            self._table.fold()
        else:
            from screens.trial_screen import TrialScreen

            self.app.push_screen(TrialScreen(self.source, event.key, order=self.rows.keys))

    def _jump(self, trial: str) -> None:
        """To a trial's row, out of the filter's way if need be."""
        if trial not in self.source.state.trials:
            return
        group = self.rows.group_of(trial)
        if group in self.rows.collapsed:
            self.rows.fold(group, False)
        if self.rows.index(trial) is None:
            self._clear_filter()
        self._table.rows_changed()
        self._table.move_to_key(trial)
        self._table.focus()

    def action_compare(self) -> None:
        if len(self.source.state.arms) < 2:
            self.notify("one arm alone has nothing to be compared with", markup=False)
            return
        from screens.compare_screen import CompareScreen

        self.app.push_screen(CompareScreen(self.source))

    def action_triage(self) -> None:
        open_triage(self.app, self.source, marked=self.rows.marked)

    def action_warnings(self) -> None:
        if self._feed.has_focus:
            self._table.focus()
        elif self.source.state.feed:
            self._rule.display = self._feed.display = True
            self._feed.focus()
        else:
            self.notify("no issues so far", markup=False)

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        if event.widget is self._feed:
            self._place_feed()

    def on_descendant_blur(self, event: events.DescendantBlur) -> None:
        if event.widget is self._feed:
            self._feed.mark_read()
            self._show_feed()

    async def action_step_back(self) -> None:
        """Out of the feed, off with the marks, out of the filter, then out of the screen."""
        if self._feed.has_focus:
            self._table.focus()
        elif self.rows.marked:
            self.rows.marked.clear()
            self._table.repaint(self._table.visible_keys())
            self._show_bar()
        elif self._bar.text or self.rows.problems:
            self._clear_filter()
            self._table.rows_changed()
        else:
            await self.app.run_action("back")

    def _clear_filter(self) -> None:
        self._bar.text = self._bar.error = ""
        self.rows.problems = False
        self.rows.set_filter(None, self.source.now())
        self._show_bar()

    # --- commands to the engine ---

    def action_cancel_trial(self) -> None:
        keys = self.rows.marked or {self._table.cursor_key or ""}
        trials = [trial for trial in self.source.state.trials.values() if trial.trial in keys]
        if trials:
            self.commands.cancel_trials(trials)

    def action_pause(self) -> None:
        self.commands.pause_or_go_on()

    def action_concurrency(self, step: int) -> None:
        self.commands.change_concurrency(step)

    def on_command_answered(self, event: CommandAnswered) -> None:
        if event.problem:
            self.notify(f"{event.what}: {event.problem}", severity="error", markup=False)
        elif event.said:
            self.notify(event.said, timeout=2, markup=False)
