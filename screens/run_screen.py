"""The run: its trials live, its head above them, its warnings below."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from importlib import import_module
from time import perf_counter
from typing import Any, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.message import Message
from textual.screen import Screen

from engine.analysis.rates import Rate
from screens import format as fmt
from screens.app_protocols import RunControl
from screens.pieces import Pieces
from screens.run_actions import FILTER_HELP, RUN
from screens.run_commands import CommandAnswered, RunCommands
from screens.run_facts import badge, cost_unknown, outcomes, rates
from screens.source import RunSource
from screens.trial_columns import BY_NAME, COLUMNS
from screens.trial_filter import FilterError, parse
from screens.trial_rows import GROUPINGS, TrialRows
from screens.widgets.action_footer import ActionFooter
from screens.widgets.breadcrumbs import Breadcrumbs
from screens.widgets.feed_rule import FeedRule
from screens.widgets.filter_bar import FilterBar
from screens.widgets.line_table import LineTable
from screens.widgets.run_header import RunHeader
from screens.widgets.trials_table import TrialsTable
from screens.widgets.warnings_feed import WarningsFeed

FACTS_SEC = 1.0
"""How often estimates and rates are worked out anew, at most."""
QUICK_TRIALS = 2_000
"""Up to so many trials with one attempt each the rates are worked out at once, else in a thread."""
FEED_HEIGHT = 30
"""Lines of the terminal from which on the warnings have a place of their own."""


class RunScreen(Screen[None]):
    """`control` reaches the run's engine; None where there is nobody to reach."""

    CSS_PATH = "run_screen.tcss"
    PLACE = RUN
    HELP = FILTER_HELP
    BINDINGS: ClassVar[list[BindingType]] = [*RUN.bindings()]
    AUTO_FOCUS = "TrialsTable"

    @dataclass
    class RatesWorkedOut(Message):
        rates: dict[str, Rate]

    def __init__(self, source: RunSource, control: RunControl | None = None) -> None:
        super().__init__()
        self.source = source
        self.commands = RunCommands(self, source, control)
        self.rows = TrialRows(source.state)
        self._facts_at = 0.0
        self._facts_due = False
        self._known = False

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
        self._show_all()

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
        if self.rows.update(dirty, now):
            self._table.rows_changed()
        else:
            self._table.repaint(dirty | self.rows.groups.keys())
        if "" in dirty:
            self._facts(now)
            self._show_state()
        self._show_feed()
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
        right: Pieces = []
        if state.plan is not None:
            tasks = state.plan.task_set
            named = " ".join(part for part in (tasks.name, tasks.version[:12]) if part)
            right.append((named, "deck--dim"))
            digest = (state.plan.card_digest or tasks.digest).removeprefix("sha256:")[:7]
            if digest and self.size.width >= 100:
                right.append((f" · card {digest}", "deck--dim"))
            right.append((" · ", "deck--faint"))
        right += badge(source, source.clock())
        if source.live and self.size.width >= 100:
            right.append((f" · {fmt.wall_time(now)}", "deck--dim"))
        self._crumbs.set(["runs", state.plan.name if state.plan else source.folder.name], right)
        self._header.now = now
        self._header.show()
        self._table.waiting_text = "" if source.caught_up else "reading the run …"
        if source.caught_up and not state.trials:
            self._table.waiting_text = "no trial is planned yet"
        self._footer.labels["pause"] = "go on" if state.paused else "pause"
        self._footer.labels["leave"] = "leave (run goes on)" if source.live and self.size.width >= 110 else "leave"
        self._footer.hidden = set() if self.commands.possible else {"cancel_trial", "pause"}
        self._footer.show()

    def _show_bar(self) -> None:
        rows = self.rows
        column = BY_NAME[rows.sort]
        right: Pieces = [
            (f"{rows.shown} of {len(rows.state.trials)}", "deck--dim"),
            (f"   sort: {column.title} {'↓' if rows.down else '↑'}", "deck--dim"),
        ]
        if rows.grouping:
            right.append((f"   group: {rows.grouping}", "deck--dim"))
        self._bar.right = right
        self._bar.problems = rows.problems
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
        self._header.eta = state.eta(now) if self.source.live and not state.cancelling else None
        self._header.cost = (state.cost_usd, cost_unknown(state))
        found = {arm: outcomes(state, arm) for arm in state.arms}
        attempts = state.plan.attempts if state.plan else 1
        if attempts <= 1 and len(state.trials) <= QUICK_TRIALS:
            self._header.rates = rates(found)
        else:
            self.run_worker(partial(self._work_out, found), thread=True, exclusive=True, group="rates")

    def _late_facts(self) -> None:
        self._facts_due = False
        self._facts(self.source.now())
        self._show_state()

    def _work_out(self, found: dict[str, list[Any]]) -> None:
        import_module("engine.analysis.bootstrap")  # NumPy takes 0.1 s: loaded while nothing has finished yet
        self.post_message(self.RatesWorkedOut(rates(found)))

    def on_run_screen_rates_worked_out(self, event: RatesWorkedOut) -> None:
        self._header.rates = event.rates
        self._header.show()

    # --- filter, order, groups ---

    def action_filter(self) -> None:
        self._bar.edit()

    def on_filter_bar_changed(self, event: FilterBar.Changed) -> None:
        try:
            wanted = parse(event.text)
        except FilterError as error:
            self._bar.error = str(error)
            self._show_bar()
            return
        self._bar.error = ""
        self.rows.set_filter(wanted if wanted.tests else None, self.source.now())
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
        names = [column.name for column, _ in self._table.shares()] or [column.name for column in COLUMNS]
        at = names.index(self.rows.sort) if self.rows.sort in names else 0
        self.sort_by(names[(at + step) % len(names)])

    def action_turn(self) -> None:
        self.sort_by(self.rows.sort)

    def sort_by(self, column: str) -> None:
        """The same column again turns the direction round."""
        self.rows.set_sort(column, self.source.now())
        self._table.rows_changed()
        self._show_bar()

    def more_commands(self) -> list[tuple[str, Callable[[], None]]]:
        """For the palette."""
        return [(f"Sort by {column.title}", partial(self.sort_by, column.name)) for column in COLUMNS]

    def on_line_table_header_clicked(self, event: LineTable.HeaderClicked) -> None:
        if event.table is self._table:
            self.sort_by(event.column)

    def action_group(self) -> None:
        at = GROUPINGS.index(self.rows.grouping)
        self.rows.set_grouping(GROUPINGS[(at + 1) % len(GROUPINGS)], self.source.now())
        self._table.rows_changed()
        self._show_bar()

    def action_fold(self, folded: bool) -> None:
        key = self._table.cursor_key
        if key is None or not self.rows.grouping:
            return
        group = key if key in self.rows.groups else self.rows.group_of(key)
        if group is not None:
            self._fold(group, folded)

    def _fold(self, group: str, folded: bool | None = None) -> None:
        self.rows.fold(group, folded)
        self._table.cursor = group
        self._table.rows_changed()

    # --- going elsewhere ---

    def on_line_table_opened(self, event: LineTable.Opened) -> None:
        if event.table is self._feed:
            self._jump(self._feed.warned(event.key).trial)
        elif event.key in self.rows.groups:
            self._fold(event.key)
        else:
            from screens.trial_screen import TrialScreen

            self.app.push_screen(TrialScreen(self.source, event.key))

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
        """Out of the feed, out of the filter, then out of the screen."""
        if self._feed.has_focus:
            self._table.focus()
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
        trial = self.rows.trial(self._table.cursor_key or "")
        if trial is not None:
            self.commands.cancel_trial(trial)

    def action_pause(self) -> None:
        self.commands.pause_or_go_on()

    def action_concurrency(self, step: int) -> None:
        self.commands.change_concurrency(step)

    def on_command_answered(self, event: CommandAnswered) -> None:
        if event.problem:
            self.notify(f"{event.what}: {event.problem}", severity="error", markup=False)
