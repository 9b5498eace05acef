"""One trial: its phases in time, what went wrong and where, what is known, and its logs, live."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import ClassVar

from textual.actions import SkipAction
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Horizontal
from textual.css.query import NoMatches
from textual.screen import Screen
from textual.widgets import Input

from engine.issues import Evidence
from engine.layout import LogFile
from engine.text import clean_line
from engine.trial_state import TrialState
from screens import format as fmt
from screens.pieces import Piece
from screens.source import RunSource
from screens.trial_actions import TRIAL, TRIAL_HELP
from screens.trial_facts import state_pieces, summary
from screens.trial_timeline import timeline
from screens.widgets.action_footer import ActionFooter
from screens.widgets.breadcrumbs import Breadcrumbs
from screens.widgets.facts_pane import FactsPane
from screens.widgets.issue_list import IssueList
from screens.widgets.lines import Line, Lines
from screens.widgets.log_page import LogPage
from screens.widgets.log_tabs import LogTabs, Tab
from screens.widgets.log_view import LogView

FACTS = "facts"
WIDE = 150
"""Columns from which on the facts have a place beside the logs."""
LOW = 30
"""Rows below which nothing is spent on air."""


class Timeline(Lines):
    trial: TrialState | None = None
    now: datetime | None = None

    def make(self, width: int) -> list[Line]:
        if self.trial is None or self.now is None:
            return []
        return [(pieces, []) for pieces in timeline(self.trial, self.now, width)]


class Summary(Lines):
    pieces: Sequence[Piece] = ()

    def make(self, width: int) -> list[Line]:
        return [(list(self.pieces), [])]


class TrialScreen(Screen[None]):
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
        self._extra: list[LogFile] = []
        self._views: dict[Path, LogView] = {}
        self._current = ""
        self._chosen = False

    def compose(self) -> ComposeResult:
        yield Breadcrumbs("runs")
        yield Timeline(id="timeline")
        yield Summary(id="summary")
        yield IssueList(self._place_of)
        yield LogTabs()
        with Horizontal(id="body"):
            yield Container(id="logs")
            yield FactsPane()
        yield ActionFooter(TRIAL)

    def on_mount(self) -> None:
        self._size_classes()
        self._find_logs()
        self._show_all()

    def on_screen_resume(self) -> None:
        if self.is_mounted:
            self._find_logs()
            self._show_all()

    def on_resize(self) -> None:
        self._size_classes()
        self._show_tabs()
        self._show_body()
        self.call_after_refresh(self._show_all)

    # --- what the app calls ---

    def run_changed(self, dirty: set[str]) -> None:
        if self.query(Breadcrumbs) and (self.trial_id in dirty or "" in dirty):
            self._find_logs()
            self._show_all()

    def clock_ticked(self, now: datetime) -> None:
        trial = self.trial
        if trial is not None and not trial.done and self.query(Breadcrumbs):
            self._find_logs()
            self._show_all()

    # --- what is shown ---

    @property
    def trial(self) -> TrialState | None:
        return self.source.state.trials.get(self.trial_id)

    @property
    def folder(self) -> Path:
        return self.source.trial_folder(self.trial_id)

    @property
    def view(self) -> LogView | None:
        """The log that is open."""
        return self._views.get(Path(self._current)) if self._current not in ("", FACTS) else None

    @property
    def wide(self) -> bool:
        return self.size.width >= WIDE

    def _show_all(self) -> None:
        trial, now = self.trial, self.source.now()
        plan = self.source.state.plan
        run = clean_line(plan.name) if plan else self.source.folder.name
        if trial is None:
            trail = ["runs", run, clean_line(self.trial_id)]
            self.query_one(Breadcrumbs).set(trail, [("no such trial yet", "deck--dim")])
            return
        several = plan is not None and plan.attempts > 1
        arms = list(self.source.state.arms)
        letter = fmt.arm_letter(arms.index(trial.arm)) if len(arms) > 1 else ""
        arm = trial.arm if self.size.width >= 100 else ""
        name = " ".join(word for word in (trial.task, letter, arm, str(trial.attempt) if several else "") if word)
        right = [*state_pieces(trial, self.source.stale), (f"  {fmt.clock_time(trial.elapsed(now))}", "deck--strong")]
        self.query_one(Breadcrumbs).set(["runs", run, name] if self.size.width >= 100 else [run, name], right)
        line = self.query_one(Timeline)
        line.trial, line.now = trial, now
        line.show()
        facts_line = self.query_one(Summary)
        facts_line.pieces = summary(trial)
        facts_line.show()
        self.query_one(IssueList).set_issues(trial.issues)
        self._size_issues()
        self.query_one(FactsPane).set_trial(trial)
        self._show_tabs()
        footer = self.query_one(ActionFooter)
        footer.hidden = set() if trial.issues else {"issues"}
        if self.view is None:
            footer.hidden |= {"follow", "wrap", "search", "hit(1)"}
        elif self.view.search is None:
            footer.hidden |= {"hit(1)"}
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

    # --- logs ---

    def _find_logs(self) -> None:
        """What logs there are now; the first one opens by itself as long as nobody has chosen."""
        self.logs = self.source.logs(self.trial_id) + self._extra
        if not self._chosen and (self._current == "" or self._current == FACTS):
            self._current = str(self.logs[0].path) if self.logs else FACTS
            self._show_body()

    def _show_tabs(self) -> None:
        tabs = self.query_one(LogTabs)
        shown = [self._tab(log) for log in self.logs]
        tabs.first_number = 1 if self.wide else 0
        tabs.tabs = shown if self.wide else [Tab(FACTS, "facts"), *shown]
        tabs.current = self._current
        tabs.show()

    def _tab(self, log: LogFile) -> Tab:
        label = clean_line(log.label, 40)
        if log.kind in ("agent", "verifier") and label != log.kind:
            return Tab(str(log.path), label, f"({log.kind})")
        return Tab(str(log.path), label)

    def _show_body(self) -> None:
        if self.wide and self._current == FACTS and self.logs:
            self._current = str(self.logs[0].path)
        facts = self._current == FACTS
        self.query_one(FactsPane).display = facts or self.wide
        self.query_one("#logs").display = not facts or self.wide
        path = Path(self._current)
        if not facts and path not in self._views:
            log = next((log for log in self.logs if log.path == path), None)
            trial = self.trial
            live = trial is not None and not trial.done
            view = LogView(path, log.label if log else path.name, follow=live)
            self._views[path] = view
            self.query_one("#logs").mount(view)
        for other, view in self._views.items():
            view.display = other == path
        if facts:
            self.query_one(FactsPane).focus()
        else:
            self._views[path].call_after_refresh(self._focus_log, self._views[path])

    def _focus_log(self, view: LogView) -> None:
        if view is self.view and not isinstance(self.focused, IssueList):
            try:
                view.query_one(LogPage).focus()
            except NoMatches:
                return
            view.poll()

    def open_log(self, key: str) -> None:
        self._chosen = True
        self._current = key
        if isinstance(self.focused, IssueList):
            self.set_focus(None)
        self._show_body()
        self._show_all()

    def on_log_tabs_chosen(self, event: LogTabs.Chosen) -> None:
        self.open_log(event.key)

    def action_tab(self, number: int) -> None:
        if number == 0:
            if self.wide:
                self.query_one(FactsPane).focus()
            else:
                self.open_log(FACTS)
        elif number <= len(self.logs):
            self.open_log(str(self.logs[number - 1].path))

    def action_next_tab(self, step: int) -> None:
        keys = [tab.key for tab in self.query_one(LogTabs).tabs]
        if keys:
            at = keys.index(self._current) if self._current in keys else 0
            self.open_log(keys[(at + step) % len(keys)])

    # --- keys that the open log takes ---

    def action_follow(self) -> None:
        if self.view is not None:
            self.view.action_follow()

    def action_wrap(self) -> None:
        if self.view is not None:
            self.view.action_wrap()

    def action_numbers(self) -> None:
        if self.view is not None:
            self.view.action_numbers()

    def action_search(self) -> None:
        """Before what has the focus, so that what is typed fast after the key goes into the pattern."""
        if isinstance(self.focused, Input):
            raise SkipAction
        if self.view is not None:
            self.view.action_search()

    def action_hit(self, step: int) -> None:
        if self.view is not None:
            self.view.action_hit(step)

    def action_copy_path(self) -> None:
        path = self.view.path if self.view is not None else self.folder
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
        """The file of a piece of evidence, if it lies in the run folder and is there."""
        if not evidence.file:
            return None
        try:
            path = (self.folder / evidence.file).resolve()
            inside = path.is_relative_to(self.source.folder.resolve())
            return self.folder / evidence.file if inside and path.is_file() else None
        except (OSError, ValueError, RuntimeError):
            return None

    def _place_of(self, evidence: Evidence) -> str:
        path = self._target(evidence)
        if path is None:
            return ""
        log = next((log for log in self.logs if log.path == path), None)
        name = clean_line(log.label if log else evidence.file, 40)
        return f"{name}, line {evidence.line:,}" if evidence.line else name

    def on_issue_list_jump(self, event: IssueList.Jump) -> None:
        path = self._target(event.evidence)
        if path is None:
            return
        if all(log.path != path for log in self.logs):
            self._extra.append(LogFile("other", path.name, path))
            self.logs.append(self._extra[-1])
        self.open_log(str(path))
        view = self._views[path]
        if event.evidence.line:
            view.call_after_refresh(view.go_to_line, event.evidence.line)

    # --- going elsewhere ---

    def action_next_trial(self, step: int) -> None:
        trials = self.source.state.trials
        order = [trial for trial in self.order if trial in trials] or list(trials)
        if self.trial_id in order and len(order) > 1:
            self.show_trial(order[(order.index(self.trial_id) + step) % len(order)])

    def show_trial(self, trial_id: str) -> None:
        self.trial_id = trial_id
        for view in self._views.values():
            view.remove()
        self._views.clear()
        self._extra.clear()
        self._current, self._chosen = "", False
        self.query_one(FactsPane).scroll_home(animate=False)
        self._find_logs()
        self._show_all()

    async def action_step_back(self) -> None:
        if self.view is None or not self.view.stop_search():
            await self.app.run_action("back")
