"""One trial of two that stand side by side: its state, its phases, what decides, and its steps or one of its logs."""

from __future__ import annotations

from dataclasses import dataclass

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input

from engine.layout import LogFile
from engine.text import clean_line
from engine.trial_state import TrialState
from screens import format as fmt
from screens.causes import Causes
from screens.pieces import Pieces
from screens.side_by_side_facts import SideFacts, fact_lines, side_facts
from screens.source import RunSource
from screens.trial_facts import state_pieces, summary
from screens.trial_finds import Finds
from screens.trial_looking import TrialLooking
from screens.trial_pages import STEPS, TrialPages, open_for_step, steps_and_logs
from screens.trial_timeline import timeline
from screens.when_filled import when_filled
from screens.widgets.lines import Line, Lines
from screens.widgets.log_tabs import LogTabs
from screens.widgets.steps_view import StepsView

MOST_ISSUES = 3
LOW = 30
"""Rows of the screen below which the head leaves more of them to what it stands above."""
NO_NUMBERS = 10
"""A first number of tabs that shows none."""

Sight = tuple[str, str]
"""What a side shows, as the other side may have it too: `steps`, or the kind of a log and its label."""


class SideHead(Lines):
    """The name, the timeline, the facts against those of the other side, what else decides, the gravest issues."""

    column: TrialColumn | None = None

    def make(self, width: int) -> list[Line]:
        return self.column.head_lines(width) if self.column is not None else []


class TrialColumn(Vertical):
    """`letter` and `name` are those of the arm. `here`: keys go to this side."""

    DEFAULT_CSS = """
    TrialColumn {
        width: 1fr;
        & SideHead { height: auto; margin: 0 1; }
        & LogTabs { margin: 1 0 0 0; }
        & TrialPages { height: 1fr; }
        & LogPage { background: $background; }
        & LogStatus { background: $foreground 6%; }
        & LogScrollBar { background: $background; }
    }
    """

    class Turned(Message):
        """Something else is shown."""

    @dataclass
    class Clicked(Message):
        """The mouse chose something there."""

        column: TrialColumn

    def __init__(self, letter: str, name: str, source: RunSource, trial: str, *, id: str) -> None:
        super().__init__(id=id)
        self.letter = letter
        self.arm_name = name
        self.source = source
        self.trial_id = trial
        self.other: TrialColumn | None = None
        self.causes: Causes | None = None
        self.here = False
        self.logs: list[LogFile] = []
        self.finds: Finds | None = None
        self._looking = TrialLooking(self)
        self._steps: int | None = None
        self._wanted: Sight | None = None
        self._from_steps = False

    def compose(self) -> ComposeResult:
        head = SideHead()
        head.column = self
        yield head
        yield LogTabs()
        yield TrialPages()

    def on_mount(self) -> None:
        self.catch_up()

    @property
    def trial(self) -> TrialState | None:
        return self.source.state.trials.get(self.trial_id)

    @property
    def live(self) -> bool:
        trial = self.trial
        return trial is not None and not trial.done

    @property
    def pages(self) -> TrialPages:
        return self.query_one(TrialPages)

    def set_trial(self, source: RunSource, trial: str) -> None:
        """Another trial; of what is shown the same stays open where it has it."""
        self._wanted = self.sight or self._wanted
        self.source, self.trial_id = source, trial
        self.finds, self._steps, self._from_steps = None, None, False
        self.pages.forget()
        self.catch_up()

    def catch_up(self) -> None:
        """There is news of the trial."""
        self._look()
        self.show()

    def _look(self) -> None:
        self._looking.look(self.trial_id, self.source.folder, self.source.trial_folder(self.trial_id))

    def on_trial_looking_found(self, event: TrialLooking.Found) -> None:
        event.stop()
        self._looking.came()
        if event.trial != self.trial_id:
            self._look()
            return
        self.finds = event.finds
        self.pages.set_sessions(event.finds.sessions, self.live)
        self.show()

    # --- what is shown ---

    def show(self) -> None:
        if not self.query(TrialPages):
            return
        self._find_pages()
        self.show_head()
        tabs = self.query_one(LogTabs)
        tabs.tabs = [page.tab for page in self.pages.pages]
        tabs.current = self.pages.current
        tabs.first_number = 1 if self.here else NO_NUMBERS
        tabs.show()

    def show_head(self) -> None:
        for head in self.query(SideHead):
            head.show()

    def facts(self) -> SideFacts | None:
        trial = self.trial
        return side_facts(trial, self.source.now(), self.causes) if trial is not None else None

    def head_lines(self, width: int) -> list[Line]:
        trial, own, low = self.trial, self.facts(), self.screen.size.height < LOW
        mark = "›" if self.here else " "
        name: Pieces = [(f"{mark} ", "deck--accent"), (f"{self.letter} ", "deck--accent")]
        name.append((clean_line(self.arm_name, 60), "deck--strong" if self.here else ""))
        if trial is None or own is None:
            return [(name, [("no such trial", "deck--dim")])]
        now = self.source.now()
        if trial.attempt > 1 or (self.source.state.plan is not None and self.source.state.plan.attempts > 1):
            name.append((f"  attempt {trial.attempt}", "deck--dim"))
        lines: list[Line] = [(name, state_pieces(trial, self.source.stale))]
        phases = timeline(trial, now, width)
        lines += [(pieces, []) for pieces in (phases[:1] if low else phases)]
        other = self.other
        against = other.facts() if other is not None else None
        lines += [(pieces, []) for pieces in fact_lines(own, against, other.letter if other is not None else "", width)]
        if more := summary(trial, spent=False):
            lines.append((more, []))
        lines += _issues(trial, 1 if low else MOST_ISSUES)
        if self.finds is not None and not self.pages.pages:
            lines.append(([("  no log of this trial", "deck--faint")], []))
        return lines

    # --- its pages ---

    def _find_pages(self) -> None:
        """What there is to see now; the first one opens by itself as long as nobody has chosen."""
        finds = self.finds or Finds()
        self.logs = finds.without_casts(self.source.logs(self.trial_id))
        pages = self.pages
        pages.pages = steps_and_logs(self.logs, finds, self._steps)
        if self._wanted is not None and self.open_sight(self._wanted):
            return
        if self.finds is not None:
            self._wanted = None
            if pages.pages and not pages.chosen and pages.current != pages.pages[0].key:
                self._open(pages.pages[0].key)

    def _open(self, key: str) -> Widget | None:
        view = self.pages.open(key, self.live)
        self.post_message(self.Turned())
        if view is not None and self.here:
            when_filled(view, self.take_focus)
        return view

    def choose(self, key: str) -> Widget | None:
        """A person wants that page, or something that is on it."""
        self._from_steps, self._wanted = False, None
        self.pages.chosen = True
        view = self._open(key)
        self.show()
        return view

    @property
    def sight(self) -> Sight | None:
        current = self.pages.current
        if current == STEPS:
            return (STEPS, "")
        return next(((log.kind, log.label) for log in self.logs if str(log.path) == current), None)

    def open_sight(self, sight: Sight) -> bool:
        """What the other side shows. False where this trial has nothing like it."""
        key = self._like(*sight)
        if key not in self.pages.keys:
            return False
        if key != self.pages.current:
            self.choose(key)
        self._wanted = None
        return True

    def _like(self, kind: str, label: str) -> str:
        """The key of what is the same here; the agent's own log is called after its agent. "" where there is none."""
        if kind == STEPS:
            return STEPS
        named = [log for log in self.logs if log.label == label]
        named += [log for log in self.logs if log.kind == kind == "agent"]
        return str(named[0].path) if named else ""

    def open_number(self, number: int) -> None:
        keys = self.pages.keys
        if 0 < number <= len(keys):
            self.choose(keys[number - 1])

    def step_page(self, step: int) -> None:
        keys = self.pages.keys
        if len(keys) > 1:
            at = keys.index(self.pages.current) if self.pages.current in keys else 0
            self.choose(keys[(at + step) % len(keys)])

    def on_log_tabs_chosen(self, event: LogTabs.Chosen) -> None:
        event.stop()
        self.choose(event.key)
        self.post_message(self.Clicked(self))

    def on_steps_view_counted(self, event: StepsView.Counted) -> None:
        event.stop()
        if self.pages.view_of(STEPS) is not None:
            self._steps = event.steps
            self.show()

    def on_steps_view_log_wanted(self, event: StepsView.LogWanted) -> None:
        event.stop()
        self._from_steps = open_for_step(self.logs, event.at, self.choose)
        if not self._from_steps:
            self.notify("this trial has no log", timeout=2, markup=False)

    def back_to_steps(self) -> bool:
        """From the log that a step led to. False where none did."""
        if self._from_steps and STEPS in self.pages.keys:
            self.choose(STEPS)
            return True
        return False

    def take_focus(self) -> None:
        view = self.pages.view
        if self.here and view is not None and view.is_attached and not isinstance(self.screen.focused, Input):
            self.pages.focus_view(view)


def _issues(trial: TrialState, most: int) -> list[Line]:
    lines: list[Line] = []
    gravest = sorted(trial.issues, key=lambda issue: list(fmt.SEVERITY_GLYPHS).index(issue.severity))
    for issue in gravest[:most]:
        glyph = fmt.SEVERITY_GLYPHS[issue.severity]
        lines.append(([(f"{glyph} ", "deck--bad"), (f"{issue.code}  {clean_line(issue.message)}", "")], []))
    if len(gravest) > most:
        lines.append(([(f"  and {fmt.count(len(gravest) - most, 'more issue')}", "deck--dim")], []))
    return lines
