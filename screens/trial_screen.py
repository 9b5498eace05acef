"""One trial: its phases in time, what went wrong and where, what is known, and its tabs: steps, logs, files; live."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.widget import Widget
from textual.widgets import Input

from engine.issues import Evidence
from engine.layout import LogFile
from engine.text import clean_line
from engine.trial_state import TrialState
from screens.container_shell import open_shell
from screens.page_keys import PageKeys
from screens.source import RunSource
from screens.triage_desks import open_triage
from screens.triage_places import file_of, place_words
from screens.trial_actions import TRIAL, TRIAL_HELP
from screens.trial_finds import Finds
from screens.trial_head import TrialHead
from screens.trial_looking import TrialLooking
from screens.trial_pages import (
    MERGED,
    STEPS,
    TrialPages,
    keys_without_use,
    open_for_step,
    pages_of,
)
from screens.when_filled import when_filled
from screens.widgets.action_footer import ActionFooter
from screens.widgets.facts_pane import FactsPane
from screens.widgets.files_view import FilesView
from screens.widgets.issue_list import IssueList
from screens.widgets.log_finding import LogFinding
from screens.widgets.log_tabs import LogTabs, Tab
from screens.widgets.log_view import LogView
from screens.widgets.steps_view import StepsView

FACTS = "facts"
WIDE = 150
"""Columns from which on the facts have a place beside the logs."""
LOW = 30
"""Rows below which nothing is spent on air."""


class TrialScreen(PageKeys[None]):
    """`order` are the trials that `[` and `]` go through; without it those of the plan."""

    CSS_PATH = "trial_screen.tcss"
    PLACE = TRIAL
    HELP = TRIAL_HELP
    BINDINGS: ClassVar[list[BindingType]] = [
        *TRIAL.bindings(priority=frozenset({"search"})),
        *(Binding(str(number), f"tab({number})", show=False) for number in range(2, 10)),
    ]
    AUTO_FOCUS = ""

    def __init__(self, source: RunSource, trial_id: str, order: Sequence[str] = ()) -> None:
        super().__init__()
        self.source = source
        self.trial_id = trial_id
        self.order = list(order)
        self.logs: list[LogFile] = []
        self.finds: Finds | None = None
        self._extra: list[LogFile] = []
        self._looking = TrialLooking(self)
        self._steps: int | None = None
        self._wanted_step: int | None = None
        self._from_steps = False
        self._step_at: datetime | None = None  # of the step that led to a log

    def compose(self) -> ComposeResult:
        yield TrialHead()
        yield IssueList(self._place_of)
        yield LogTabs()
        with Horizontal(id="body"):
            yield TrialPages(id="logs")
            yield FactsPane()
        yield ActionFooter(TRIAL)

    def on_mount(self) -> None:
        self._size_classes()
        self._catch_up()

    def on_screen_resume(self) -> None:
        if self.is_mounted:
            self._catch_up()

    def on_resize(self) -> None:
        self._size_classes()
        self._show_body()
        self.call_after_refresh(self._show_all)

    def run_changed(self, dirty: set[str]) -> None:
        if self.query(TrialHead) and (self.trial_id in dirty or "" in dirty):
            self._find_logs()
            self._show_all()

    def clock_ticked(self, now: datetime) -> None:
        trial = self.trial
        if trial is not None and not trial.done and self.query(TrialHead):
            self._catch_up()

    @property
    def trial(self) -> TrialState | None:
        return self.source.state.trials.get(self.trial_id)

    @property
    def folder(self) -> Path:
        return self.source.trial_folder(self.trial_id)

    @property
    def pages(self) -> TrialPages:
        return self.query_one(TrialPages)

    @property
    def view(self) -> Widget | None:
        """What the open tab shows."""
        return self.pages.view

    @property
    def live(self) -> bool:
        trial = self.trial
        return trial is not None and not trial.done

    @property
    def wide(self) -> bool:
        return self.size.width >= WIDE

    def _show_all(self) -> None:
        trial = self.trial
        self.query_one(TrialHead).show(self.source, self.trial_id, self.size.width)
        if trial is None:
            return
        self.query_one(IssueList).set_issues(trial.issues)
        self._size_issues()
        self.query_one(FactsPane).set_trial(trial, self.source.state.arms[trial.arm].info)
        self._show_tabs()
        footer = self.query_one(ActionFooter)
        footer.hidden = keys_without_use(self.view) | (set() if trial.issues else {"issues"})
        footer.part = self.view
        if self.wide:
            footer.hidden |= {"tab(0)"}
        footer.show()

    def _size_classes(self) -> None:
        self.set_class(self.wide, "-wide")
        self.set_class(self.size.height < LOW, "-low")

    def _size_issues(self) -> None:
        issues = self.query_one(IssueList)
        rows = len(issues.keys)
        issues.display = rows > 0
        issues.styles.height = min(rows, max(3, self.size.height // 4))

    def on_issue_list_unfolded(self) -> None:
        self._size_issues()

    def _catch_up(self) -> None:
        self._find_logs()
        self._show_all()
        self._look()

    def _look(self) -> None:
        self._looking.look(self.trial_id, self.source.folder, self.folder)

    def on_trial_looking_found(self, event: TrialLooking.Found) -> None:
        event.stop()
        self._looking.came()
        if event.trial != self.trial_id:
            self._look()
            return
        self.finds = event.finds
        self.pages.set_sessions(event.finds.sessions, self.live)
        self._find_logs()
        self._show_all()
        if self._wanted_step is not None:
            self.open_step(self._wanted_step)

    def _find_logs(self) -> None:
        """What tabs there are now; the first one opens by itself as long as nobody has chosen."""
        pages, finds = self.pages, self.finds or Finds()
        self.logs = finds.without_casts(self.source.logs(self.trial_id) + self._extra)
        pages.pages = pages_of(self.logs, finds, self.folder, self.source.state.plan, self._steps)
        if self.finds is not None and not pages.chosen:
            first = pages.pages[0].key if self.finds.sessions or self.logs or self.finds.casts else FACTS
            if pages.current != first:
                pages.current = first
                self._show_body()

    def _show_tabs(self) -> None:
        tabs = self.query_one(LogTabs)
        shown = [page.tab for page in self.pages.pages]
        tabs.first_number = 1 if self.wide else 0
        tabs.tabs = shown if self.wide else [Tab(FACTS, "facts"), *shown]
        tabs.current = self.pages.current
        tabs.show()

    def _show_body(self) -> None:
        pages = self.pages
        if self.wide and pages.current == FACTS and (self.logs or pages.chosen):
            pages.current = pages.pages[0].key
        facts = pages.current == FACTS
        self.query_one(FactsPane).display = facts or self.wide
        pages.display = not facts or self.wide
        view = pages.open(pages.current, self.live)
        if facts:
            pages.show()
            self.query_one(FactsPane).focus()
        elif view is not None:
            when_filled(view, self._focus_view, view)

    def _focus_view(self, view: Widget) -> None:
        if view is self.view and view.is_mounted and not isinstance(self.focused, IssueList | Input):
            self.pages.focus_view(view)

    def open_page(self, key: str) -> Widget | None:
        self.pages.chosen = True
        self.pages.current = key
        if isinstance(self.focused, IssueList):
            self.set_focus(None)
        self._show_body()
        self._show_all()
        return self.view

    def on_log_tabs_chosen(self, event: LogTabs.Chosen) -> None:
        self._from_steps = False
        self.open_page(event.key)

    def action_tab(self, number: int) -> None:
        keys = [FACTS, *self.pages.keys]
        if number == 0 and self.wide:
            self.query_one(FactsPane).focus()
        elif number < len(keys):
            self._from_steps = False
            self.open_page(keys[number])

    def action_next_tab(self, step: int) -> None:
        keys = [tab.key for tab in self.query_one(LogTabs).tabs]
        at = keys.index(self.pages.current) if self.pages.current in keys else 0
        self._from_steps = False
        self.open_page(keys[(at + step) % len(keys)])

    def open_step(self, number: int) -> None:
        """The step of that number of the trial's session; at once, or when the session is found and read."""
        self._wanted_step = number
        if self.finds is None:
            return
        self._wanted_step = None
        if not self.finds.sessions:
            self.notify("this trial has no session with steps", timeout=3, markup=False)
            return
        view = self.open_page(STEPS)
        if isinstance(view, StepsView):
            when_filled(view, view.open_step, number)

    def on_steps_view_counted(self, event: StepsView.Counted) -> None:
        event.stop()
        self._steps = event.steps
        self._find_logs()
        self._show_tabs()

    def on_steps_view_log_wanted(self, event: StepsView.LogWanted) -> None:
        event.stop()
        self._step_at = event.at
        self._from_steps = open_for_step(self.logs, event.at, self.open_page)
        if not self._from_steps:
            self.notify("this trial has no log", timeout=2, markup=False)

    def on_log_finding_untimed(self, event: LogFinding.Untimed) -> None:
        """Where the agent's own log tells no time, another of the trial may."""
        event.stop()
        at = self._step_at
        if self._from_steps and at is not None and self.pages.current != MERGED and MERGED in self.pages.keys:
            view = self.open_page(MERGED)
            self._step_at = None
            if isinstance(view, LogView):
                when_filled(view, view.go_to_time, at)

    def action_merged(self) -> None:
        if MERGED in self.pages.keys:
            self.open_page(MERGED)

    def action_back_to_steps(self) -> None:
        if STEPS in self.pages.keys:
            self._from_steps = False
            self.open_page(STEPS)

    def on_files_view_chosen(self, event: FilesView.Chosen) -> None:
        event.stop()
        self.open_log_at(event.path, 0)

    def action_copy_path(self) -> None:
        path = getattr(self.view, "path", self.folder)
        self.app.copy_to_clipboard(clean_line(str(path)))
        self.notify("path copied", timeout=2, markup=False)

    # --- issues and their evidence ---

    def action_issues(self) -> None:
        issues = self.query_one(IssueList)
        if issues.has_focus or not issues.display:
            self._show_body()
            self.set_focus(None)
            self._show_body()
        else:
            issues.focus()

    def _target(self, evidence: Evidence) -> Path | None:
        return file_of(evidence, self.folder, self.source.folder)

    def _place_of(self, evidence: Evidence) -> str:
        return place_words(evidence, self._target(evidence), self.logs)

    def on_issue_list_jump(self, event: IssueList.Jump) -> None:
        path = self._target(event.evidence)
        if path is not None:
            self.open_log_at(path, event.evidence.line)

    def open_log_at(self, file: Path, line: int) -> None:
        """A file of the trial in a tab of its own; `line` counts from 1, 0 is wherever it opens. A session that is no
        log opens as steps."""
        path = self._target(Evidence("", "", str(file)))
        if path is None:
            self.notify("no such file in this run", severity="warning", timeout=3, markup=False)
            return
        if all(log.path != path for log in self.logs):
            if self.finds is not None and path in self.finds.sessions and STEPS in self.pages.keys:
                view = self.open_page(STEPS)
                if isinstance(view, StepsView):
                    when_filled(view, view.open_line, path, line)
                return
            self._extra.append(LogFile("other", path.name, path))
            self._find_logs()
        view = self.open_page(str(path))
        if line and isinstance(view, LogView):
            when_filled(view, view.go_to_line, line)

    def action_shell(self) -> None:
        open_shell(self.app, self.source, self.trial)

    def action_triage(self) -> None:
        open_triage(self.app, self.source, self.trial_id)

    def action_next_trial(self, step: int) -> None:
        trials = self.source.state.trials
        order = [trial for trial in self.order if trial in trials] or list(trials)
        if self.trial_id in order and len(order) > 1:
            self.show_trial(order[(order.index(self.trial_id) + step) % len(order)])

    def show_trial(self, trial_id: str) -> None:
        self.trial_id = trial_id
        self.pages.forget()
        self._extra.clear()
        self.finds, self._steps, self._wanted_step, self._from_steps = None, None, None, False
        self.query_one(FactsPane).scroll_home(animate=False)
        self._catch_up()

    async def action_step_back(self) -> None:
        if await self.stop_search():
            return
        if self._from_steps:
            self.action_back_to_steps()
        else:
            await self.app.run_action("back")
