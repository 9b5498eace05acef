"""The run: its trials live, its head above them, its warnings below."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import ClassVar

from textual import events
from textual.actions import SkipAction
from textual.app import ComposeResult
from textual.binding import BindingType

from screens.app_protocols import RunControl
from screens.arranging import Arranging
from screens.deck_screen import DeckScreen
from screens.feed_place import FeedPlace
from screens.open_analysis import open_analysis
from screens.run_actions import FILTER_HELP, RUN
from screens.run_chosen import ListSaved, RunChosen
from screens.run_columns import RunColumns
from screens.run_commands import CommandAnswered, RunCommands
from screens.run_facts import arrangement, beware, crumbs, hold_badge, read_only_badge
from screens.run_footer import show_footer
from screens.run_numbers import RunNumbers, StandingsWorkedOut
from screens.run_recall import RunRecall
from screens.run_replay import RunReplay
from screens.source import RunSource
from screens.triage_desks import desk_of, open_triage
from screens.trial_fields import FIELDS
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


class RunScreen(DeckScreen[None]):
    """`control` reaches the run's engine; None where there is nobody to reach."""

    CSS_PATH = "run_screen.tcss"
    PLACE = RUN
    HELP = FILTER_HELP
    BINDINGS: ClassVar[list[BindingType]] = [*RUN.bindings(priority=frozenset({"filter"}))]
    """The filter's key comes first, so that what is typed fast after it goes into the filter."""
    AUTO_FOCUS = "TrialsTable"

    def __init__(self, source: RunSource, control: RunControl | None = None) -> None:
        super().__init__()
        self.source = source
        self.commands = RunCommands(self, source, control)
        self.rows = TrialRows(source.state)
        self.numbers = RunNumbers(self, source, self._late_facts)
        self.arranging = Arranging(self, self.rows, self._rows_there)
        self.chosen = RunChosen(self, source, self.rows)
        self.replay = RunReplay(self)
        self._over = False

    def compose(self) -> ComposeResult:
        now = self.source.now()
        yield Breadcrumbs("runs", self.source.folder.name)
        yield RunHeader(self.source.state, now)
        yield FilterBar(fields=FIELDS)
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
        self._recall = RunRecall(self.app, self.source, self.rows, self._table, self._bar, self._feed)
        self._recall.recall()
        self._columns = RunColumns(self.app, self._table)
        self._warnings = FeedPlace(self._feed, self._rule, self._footer)
        self._show_all()

    def on_unmount(self) -> None:
        self._desk.unlisten(self._causes_changed)
        if self.numbers.known:
            self._recall.remember()
        if self.source.held:
            self.source.go_on()

    def on_screen_resume(self) -> None:
        if self.is_mounted:
            self._show_all()

    def on_resize(self) -> None:
        self._warnings.place()
        self._header.show()
        self.call_after_refresh(self._show_state)

    # --- what the app calls ---

    def run_changed(self, dirty: set[str]) -> None:
        self._table.now = now = self.source.now()
        over = self.source.state.finished is not None
        self.numbers.changed(dirty)
        if not self.numbers.known and not self._recall.found:
            self._table.cursor = None  # it stays at the top while a run is read, not on a row that moves away
        if self.rows.update(dirty, now) or over != self._over:
            self._over = over
            self._table.rows_changed()
        else:
            self._table.repaint(dirty | self.rows.groups.keys())
        self.arranging.go_on()
        if "" in dirty:
            self.numbers.show(self._header)
            self._show_state()
        self._warnings.show(self.rows.letters)
        self._show_bar()

    def _causes_changed(self, trials: set[str]) -> None:
        """Decided, or proposed: a filter or an order may go by it."""
        if self.is_current and self.is_mounted:
            self.rows.set_causes(self._desk, self.source.now())
            self._arranged()

    def clock_ticked(self, now: datetime) -> None:
        self._table.now = now = self.source.now()
        if self.rows.tick(now):
            self._table.rows_changed()
        else:
            self._table.sample_load()
            self._table.repaint(self._table.running_keys())
        self.arranging.go_on()
        self.numbers.show(self._header)
        self._show_state()

    # --- showing ---

    def _show_all(self) -> None:
        self._table.now = now = self.source.now()
        self.rows.arrange(now)
        self.numbers.show(self._header, now=True)
        self._warnings.show(self.rows.letters)
        self._arranged()
        self._show_state()

    def _show_state(self) -> None:
        source, state = self.source, self.source.state
        badges = [*self.replay.badge(), *hold_badge(source), *read_only_badge(self.app)]
        name = state.plan.name if state.plan else source.folder.name
        self._crumbs.set(["runs", name], crumbs(source, self.size.width, badges, name))
        self._header.now = source.now()
        self._header.stale = source.stale
        self._header.ours = source.run.ours
        self._header.show()
        if self._table.stale != source.stale:
            self._table.stale = source.stale
            self._table.repaint(self._table.visible_keys())
        self._table.waiting_text = "" if source.caught_up else "reading the run …"
        if source.caught_up and not state.trials:
            self._table.waiting_text = "no trial is planned yet"
        show_footer(self._footer, source, self.replay, commands=self.commands.possible, width=self.size.width)

    def _show_bar(self) -> None:
        self._recall.settle()
        self._bar.right, self._bar.problems = arrangement(self.rows), self.rows.problems
        self._bar.warning = beware(self.rows)
        self._bar.show()

    def _late_facts(self) -> None:
        self.numbers.show(self._header)
        self._show_state()

    def on_standings_worked_out(self, event: StandingsWorkedOut) -> None:
        self.numbers.take(event, self._header)
        self._header.show()

    def _arranged(self) -> None:
        """After the rows were told to be others: they are, or will be in a moment."""
        self._table.rows_changed()
        self.arranging.go_on()
        self._show_bar()

    def _rows_there(self) -> None:
        if self.is_attached:
            self._table.rows_changed()
            self._show_bar()

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
        self._arranged()

    def on_filter_bar_kept(self, event: FilterBar.Kept) -> None:
        if self.rows.filter is None or event.text != self.rows.filter.text or self._bar.error:
            self.on_filter_bar_changed(FilterBar.Changed(event.text))
        if self.focused is None or not self.focused.display:
            self._table.focus()

    def action_problems(self) -> None:
        self.rows.set_problems(not self.rows.problems, self.source.now())
        self._arranged()

    def action_sort(self, step: int) -> None:
        self._table.sort_step(step)
        self._arranged()

    def action_turn(self) -> None:
        self.sort_by(self.rows.sort)

    def sort_by(self, column: str) -> None:
        self._table.sort_by(column)
        self._arranged()

    def more_commands(self) -> list[tuple[str, Callable[[], None]]]:
        """For the palette."""
        return self._columns.commands(self.sort_by)

    def on_line_table_header_clicked(self, event: LineTable.HeaderClicked) -> None:
        if event.table is self._table:
            self.sort_by(event.column)

    def action_group(self) -> None:
        self._table.group_step()
        self._arranged()

    def action_fold(self, folded: bool) -> None:
        self._table.fold(folded)
        self.arranging.go_on()

    def action_mark(self) -> None:
        self._table.mark()
        self._marked()

    def action_mark_on(self, step: int) -> None:
        """Mark the row under the cursor and go on, the way that ranges are marked."""
        self._table.mark_on(step)
        self._marked()

    def action_mark_range(self) -> None:
        self._table.mark_range()
        self._marked()

    def action_mark_all(self, invert: bool) -> None:
        (self.rows.invert_marks if invert else self.rows.mark_shown)()
        self._marked()

    def on_marking_table_marks_changed(self) -> None:
        self._marked()

    def _marked(self) -> None:
        if self.rows.marks_changed(self.source.now()):
            self._arranged()
        self._table.repaint(self._table.visible_keys())
        self._show_bar()

    def action_undecided(self, step: int) -> None:
        row = self.rows.next_undecided(self._table.cursor_row, step)
        if row is None:
            self.notify("no failure that is shown waits for a decision", markup=False)
        else:
            self._table.move_to(row)

    def action_problem(self, step: int) -> None:
        if not self._table.to_problem(step):
            self.notify("no trial that is shown wants a look", markup=False)

    # --- going elsewhere ---

    def on_line_table_opened(self, event: LineTable.Opened) -> None:
        if not self.on_top:
            return  # the first of two Enters in one batch has opened it
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
        if (group := self.rows.group_of(trial)) in self.rows.collapsed:
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

    def action_analyse(self) -> None:
        open_analysis(self.app, [self.source])

    def action_triage(self) -> None:
        open_triage(self.app, self.source, marked=self.rows.marked)

    def action_warnings(self) -> None:
        if self._feed.has_focus:
            self._table.focus()
        elif self.source.state.feed:
            self._warnings.give_room()
            self._feed.focus()
        else:
            self.notify("no issues so far", markup=False)

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        if event.widget is self._feed:
            self._warnings.place()

    def on_descendant_blur(self, event: events.DescendantBlur) -> None:
        if event.widget is self._feed:
            self._feed.mark_read()
            self._warnings.show(self.rows.letters)

    async def action_step_back(self) -> None:
        """Out of the feed, off with the marks, out of the filter, then out of the screen."""
        if self._feed.has_focus:
            self._table.focus()
        elif self.rows.marked:
            self.rows.marked.clear()
            self._marked()
        elif self._bar.text or self.rows.problems:
            self._clear_filter()
            self._arranged()
        else:
            await self.app.run_action("back")

    def _clear_filter(self) -> None:
        self._bar.text = self._bar.error = ""
        self.rows.problems = False
        self.rows.set_filter(None, self.source.now())
        self._show_bar()

    # --- commands to the engine ---

    def action_cancel_trial(self) -> None:
        trials = self.rows.chosen(self._table.cursor_key)
        if trials:
            self.commands.cancel_trials(trials)

    def action_pause(self) -> None:
        if not self.replay.pause_or_go_on():
            self.commands.pause_or_go_on()
        self._show_state()

    def action_concurrency(self, step: int) -> None:
        if not self.replay.faster(step):
            self.commands.change_concurrency(step)
        self._show_state()

    def action_to_end(self) -> None:
        self.replay.to_end()

    def action_hold(self) -> None:
        """The screen stands still while data goes on, or takes in what has come."""
        (self.source.go_on if self.source.held else self.source.hold)()
        self._show_state()

    def action_copy(self) -> None:
        self.chosen.copy(self._table.cursor_key)

    def action_save_list(self) -> None:
        self.chosen.save(self._table.cursor_key)

    def on_list_saved(self, event: ListSaved) -> None:
        self.chosen.tell(event)

    def on_command_answered(self, event: CommandAnswered) -> None:
        self.commands.tell(event)
