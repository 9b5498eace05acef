"""One trial of two that stand side by side: its state, its phases, what decides, and one of its logs."""

from __future__ import annotations

from pathlib import Path

from textual.app import ComposeResult
from textual.containers import Container, Vertical
from textual.css.query import NoMatches

from engine.layout import LogFile
from engine.text import clean_line
from engine.trial_state import TrialState
from screens import format as fmt
from screens.pieces import Pieces
from screens.source import RunSource
from screens.trial_facts import state_pieces, summary
from screens.trial_timeline import timeline
from screens.widgets.lines import Line, Lines
from screens.widgets.log_page import LogPage
from screens.widgets.log_tabs import LogTabs, Tab
from screens.widgets.log_view import LogView

MOST_ISSUES = 3


class SideHead(Lines):
    """The name, the timeline, the line of facts, the gravest issues."""

    column: TrialColumn | None = None

    def make(self, width: int) -> list[Line]:
        return self.column.head_lines(width) if self.column is not None else []


class TrialColumn(Vertical):
    """`letter` and `name` are those of the arm."""

    DEFAULT_CSS = """
    TrialColumn {
        width: 1fr;
        & SideHead { height: auto; margin: 0 1; }
        & LogTabs { margin: 1 0 0 0; }
        & .log-place { height: 1fr; }
        & LogPage { background: $background; }
        & LogStatus { background: $foreground 6%; }
        & LogScrollBar { background: $background; }
    }
    """

    def __init__(self, letter: str, name: str, source: RunSource, trial: str, *, id: str) -> None:
        super().__init__(id=id)
        self.letter = letter
        self.arm_name = name
        self.source = source
        self.trial_id = trial
        self.logs: list[LogFile] = []
        self.current: Path | None = None
        self.here = False
        self._view: LogView | None = None

    def compose(self) -> ComposeResult:
        head = SideHead()
        head.column = self
        yield head
        yield LogTabs()
        yield Container(classes="log-place")

    def on_mount(self) -> None:
        self.show()

    @property
    def trial(self) -> TrialState | None:
        return self.source.state.trials.get(self.trial_id)

    @property
    def view(self) -> LogView | None:
        return self._view

    def set_trial(self, source: RunSource, trial: str) -> None:
        """Another trial; a log of the same name stays open."""
        label = next((log.label for log in self.logs if log.path == self.current), "")
        self.source, self.trial_id = source, trial
        self.current = None
        self.show()
        if label:
            self.open_label(label)

    def show(self) -> None:
        if not self.query(SideHead):
            return
        self.logs = self.source.logs(self.trial_id)
        if self.current is None and self.logs:
            self._open(self.logs[0].path)
        elif self.current is None and self._view is not None:
            self._view.remove()
            self._view = None
        self.query_one(SideHead).show()
        tabs = self.query_one(LogTabs)
        tabs.tabs = [Tab(str(log.path), clean_line(log.label, 40)) for log in self.logs]
        tabs.current = str(self.current)
        tabs.first_number = 10  # digits belong to no side
        tabs.show()

    def head_lines(self, width: int) -> list[Line]:
        trial = self.trial
        mark = "›" if self.here else " "
        name: Pieces = [(f"{mark} ", "deck--accent"), (f"{self.letter} ", "deck--accent")]
        name.append((clean_line(self.arm_name, 60), "deck--strong" if self.here else ""))
        if trial is None:
            return [(name, [("no such trial", "deck--dim")])]
        now = self.source.now()
        if trial.attempt > 1 or (self.source.state.plan is not None and self.source.state.plan.attempts > 1):
            name.append((f"  attempt {trial.attempt}", "deck--dim"))
        right = [*state_pieces(trial, self.source.stale), (f"  {fmt.clock_time(trial.elapsed(now))}", "deck--strong")]
        lines: list[Line] = [(name, right)]
        lines += [(pieces, []) for pieces in timeline(trial, now, width)]
        lines.append((list(summary(trial)), []))
        gravest = sorted(trial.issues, key=lambda issue: list(fmt.SEVERITY_GLYPHS).index(issue.severity))
        for issue in gravest[:MOST_ISSUES]:
            glyph = fmt.SEVERITY_GLYPHS[issue.severity]
            lines.append(([(f"{glyph} ", "deck--bad"), (f"{issue.code}  {clean_line(issue.message)}", "")], []))
        if not self.logs:
            lines.append(([("  no log of this trial", "deck--faint")], []))
        if len(gravest) > MOST_ISSUES:
            lines.append(([(f"  and {fmt.count(len(gravest) - MOST_ISSUES, 'more issue')}", "deck--dim")], []))
        return lines

    # --- logs ---

    def _open(self, path: Path) -> None:
        self.current = path
        trial = self.trial
        label = next((log.label for log in self.logs if log.path == path), path.name)
        view = LogView(path, label, follow=trial is not None and not trial.done)
        if self._view is not None:
            self._view.remove()
        self._view = view
        self.query_one(".log-place").mount(view)
        if self.here:
            view.call_after_refresh(self.take_focus)

    def open_label(self, label: str) -> bool:
        """The log of that name. False where this trial has none."""
        log = next((log for log in self.logs if log.label == label), None)
        if log is None:
            return False
        if log.path != self.current:
            self._open(log.path)
            self.show()
        return True

    def step_log(self, step: int) -> None:
        paths = [log.path for log in self.logs]
        if len(paths) > 1:
            at = paths.index(self.current) if self.current in paths else 0
            self._open(paths[(at + step) % len(paths)])
            self.show()

    @property
    def label(self) -> str:
        return next((log.label for log in self.logs if log.path == self.current), "")

    def on_log_tabs_chosen(self, event: LogTabs.Chosen) -> None:
        event.stop()
        self._open(Path(event.key))
        self.show()

    def take_focus(self) -> None:
        if self._view is None or not self.here:
            return
        try:
            self._view.query_one(LogPage).focus()
        except NoMatches:
            return
        self._view.poll()
