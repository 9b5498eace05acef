"""Triage: one trial a page, with the evidence that the rules found, and one key for what a person decides."""

from __future__ import annotations

from datetime import datetime
from time import perf_counter
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Input

from engine.triage.causes import Cause
from engine.triage.new_label import MOST_NOTE
from engine.trial_state import TrialState
from screens import triage_head as head
from screens.actions import key_called
from screens.deck_screen import DeckScreen
from screens.read_only import refused
from screens.run_facts import read_only_badge
from screens.soon import Soon
from screens.source import RunSource
from screens.triage_actions import TRIAGE, TRIAGE_HELP
from screens.triage_blindfold import Cover
from screens.triage_deciding import Deciding
from screens.triage_desk import TriageDesk
from screens.triage_opening import Opening
from screens.triage_rerun import RerunAsked, Rerunning, RerunWorkedOut
from screens.triage_walk import Walk
from screens.widgets.action_footer import ActionFooter
from screens.widgets.breadcrumbs import Breadcrumbs
from screens.widgets.line_table import LineTable
from screens.widgets.triage_lines import CauseBar, SaidLines
from screens.widgets.triage_note import EntryLine
from screens.widgets.triage_page import NARROW, Case, TriagePage

LOW = 30
"""Rows below which nothing is spent on air."""
LEAST_SEC = 0.25
"""Pause between two sortings of the queue; longer where sorting takes long."""

FIRST_SEC = 0.7
"""How long the rules may look before a first trial is shown: the most telling one is known by then, or isn't waited
for any longer."""

_KEYS = frozenset(action.name for action in TRIAGE.actions if action.name != "step_back")
_NAMES = frozenset(name.partition("(")[0] for name in _KEYS)


class TriageScreen(DeckScreen[None]):
    """Begins at `trial`, or at the most telling trial that this person has not decided."""

    CSS_PATH = "triage_screen.tcss"
    PLACE = TRIAGE
    HELP = TRIAGE_HELP
    BINDINGS: ClassVar[list[BindingType]] = [
        *TRIAGE.bindings(priority=_KEYS),
        *(Binding(str(number), f"finding({number})", show=False, priority=True) for number in range(2, 10)),
    ]
    """Before what has the focus: a log has other uses for some of these keys."""
    AUTO_FOCUS = "FindingList"

    def __init__(self, source: RunSource, desk: TriageDesk, trial: str | None = None, *, blind: bool = False) -> None:
        super().__init__()
        self.source = source
        self.desk = desk
        self.walk = Walk()
        self.cover = Cover(source.state)
        self.cover.on = desk.blind = blind or desk.blind
        self.undecided_only = False
        self.deciding = Deciding(
            self, desk, self.walk, self.cover, advance=self._advance, go=self._go, show=self._show_all
        )
        self.opening = Opening(self, desk, self.walk, self.cover)
        self.rerunning = Rerunning(self, desk, self.deciding.names, self.deciding.tell, self.opening.naming)
        self._begin_at = trial
        self._looked_through = False
        self._opened_at = perf_counter()
        self._sorting = Soon(self, self._sort, LEAST_SEC)

    def compose(self) -> ComposeResult:
        yield Breadcrumbs("triage")
        yield SaidLines(id="problem", rows=2)
        yield TriagePage(self.desk, self.cover, self.opening.naming)
        yield EntryLine()
        yield SaidLines(id="said", rows=2)
        yield CauseBar(TRIAGE, "label")
        yield ActionFooter(TRIAGE)

    def on_mount(self) -> None:
        self.set_class(self.size.height < LOW, "-low")
        self.desk.listen(self._desk_changed)
        if self.cover.on:
            self.deciding.said = head.blind(self.desk, self.walk.current)
        self._sort()
        self._show_all()

    def on_unmount(self) -> None:
        self.desk.unlisten(self._desk_changed)

    def on_screen_resume(self) -> None:
        if self._composed:
            self._sort()
            self._show_all()

    def on_resize(self) -> None:
        self.set_class(self.size.height < LOW, "-low")
        self.call_after_refresh(self._resized)

    def _resized(self) -> None:
        self._show_all()
        if self._composed:
            self._page.show_places()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """What is typed into a line is no command."""
        typing = action in _NAMES and isinstance(self.focused, Input)
        return super().check_action(action, parameters) and not typing

    @property
    def _composed(self) -> bool:
        """False also on the way out."""
        return self.is_mounted and bool(self.query(TriagePage)) and bool(self.query(CauseBar))

    @property
    def _page(self) -> TriagePage:
        return self.query_one(TriagePage)

    # --- what the app and the desk call ---

    def run_changed(self, dirty: set[str]) -> None:
        if not self._composed:
            return
        trials = self.source.state.trials
        over = [trial for trial in dirty if trial in trials and trials[trial].done]
        if self._looked_through:
            self.desk.want(over)
        if over or "" in dirty:
            self._sorting.ask()
        if self.walk.current is None or self.walk.current in dirty:
            self._show_all()

    def clock_ticked(self, now: datetime) -> None:
        trial = self.trial
        if trial is not None and not trial.done and self._composed:
            self._page.show_facts()

    def _desk_changed(self, trials: set[str]) -> None:
        if not self._composed:
            return
        self._sorting.ask()
        if self.walk.current in trials or "" in trials:
            self._show_all()

    # --- the queue ---

    @property
    def trial(self) -> TrialState | None:
        """The one that is shown."""
        return self.source.state.trials.get(self.walk.current) if self.walk.current is not None else None

    def _sort(self) -> None:
        """The queue anew. The trial that is shown stays; one is chosen where none is."""
        if not self._composed:
            return
        if not self._looked_through and self.source.caught_up:
            self._looked_through = True
            self.desk.look_through()
        with self._sorting.timed():
            counting = self._looked_through and self.desk.ready and not self.desk.looking_at
            self.walk.refresh(self.desk.queue(), blind=self.cover.on, counting=counting)
        if self.walk.current is None and self._looked_through and self.desk.ready:
            if self._begin_at in self.source.state.trials:
                self._go(str(self._begin_at))
            elif self.walk.order and self.desk.looking_at and perf_counter() - self._opened_at < FIRST_SEC:
                self._sorting.ask()
            elif self.walk.order:
                self._go(self._next_undecided() or self.walk.order[0])
        elif self._looked_through:
            self._look_ahead()  # the order may be another one
        if self.walk.current is None:
            self._show_all()  # that nothing needs a decision is known only now
        else:
            self._show_head()

    def _undecided(self) -> dict[str, bool]:
        return {trial: not self.desk.decided(trial) for trial in self.walk.items}

    def _next_undecided(self) -> str | None:
        skipped = {trial: self.desk.book.skipped(trial, self.desk.who) for trial in self.walk.items}
        return self.walk.next_undecided(self._undecided(), skipped)

    def _go(self, trial: str) -> None:
        self.walk.go(trial)
        if not self.cover.on:
            self.desk.seen_by_name.add(trial)
        self._show_all()
        self._look_ahead()

    def _look_ahead(self) -> None:
        """After what is shown was asked for, so that it is not what waits."""
        if self.walk.current is not None:
            self.desk.look_ahead(self.walk.ahead(self.desk.decided))

    def _advance(self) -> None:
        following = self._next_undecided()
        if following is not None:
            self._go(following)
            return
        current = self.walk.current
        if current is None or self.desk.decided(current):
            summary = key_called(self.app, TRIAGE, "summary")
            self.deciding.said.append((f"   ✓ nothing is left undecided; {summary} shows the summary", "deck--good"))
        else:
            self.deciding.said.append(("   this is the last undecided one", "deck--dim"))
        self._show_all()

    # --- showing ---

    def _show_all(self) -> None:
        if not self._composed:
            return
        self._show_head()
        trial = self.trial
        bar = self.query_one(CauseBar)
        if trial is None:
            waiting = not (self._looked_through and self.desk.ready) or bool(self.walk.order)
            so_far = " so far" if self.source.live else ""
            self._page.clear("reading …" if waiting else f"nothing needs a decision{so_far}")
            bar.own = bar.proposed = None
        else:
            marked = trial.trial in self.deciding.marked
            self._page.show_case(Case(trial, self.walk.items.get(trial.trial), marked))
            own = self.desk.book.of(trial.trial, self.desk.who)
            bar.own = own.cause if own is not None else None
            bar.proposed = self._page.proposal.cause if self._page.proposal is not None else None
        bar.show()

    def _show_head(self) -> None:
        if not self._composed:
            return
        run = head.run_name(self.source, self.cover)
        wide = self.size.width >= NARROW
        right = [*read_only_badge(self.app), *head.standing(self.desk, self.walk, self.deciding, self.cover)]
        if wide:
            right.append((f"   {head.order(self.cover, self.undecided_only)}", "deck--dim"))
        self.query_one(Breadcrumbs).set(["runs", run, "triage"] if wide else ["triage", run], right)
        self.query_one("#problem", SaidLines).set(head.problems(self.desk, key_called(self.app, TRIAGE, "write_again")))
        self.query_one("#said", SaidLines).set([(self.deciding.said, [])] if self.deciding.said else [])
        footer = self.query_one(ActionFooter)
        footer.hidden = {"keys"} | (set() if self.desk.book.disagreements(self.desk.who) else {"disagreements"})
        footer.labels["undecided"] = "all" if self.undecided_only else "undecided only"
        footer.labels["blind"] = "named" if self.cover.on else "blind"
        footer.labels["details"] = "logs" if self._page.details else "details"
        footer.show()

    # --- what a person does: decisions ---

    def action_label(self, cause: str) -> None:
        if (trial := self.trial) is not None:
            self.deciding.label(trial, Cause(cause))

    def action_agree(self) -> None:
        if (trial := self.trial) is not None:
            self.deciding.agree(trial, self._page.proposal)

    def action_same(self) -> None:
        if (trial := self.trial) is not None:
            self.deciding.same(trial)

    def action_skip(self) -> None:
        if (trial := self.trial) is not None:
            self.deciding.skip(trial)

    def action_undo(self) -> None:
        self.deciding.undo()

    def action_mark(self) -> None:
        if (trial := self.trial) is not None:
            self.deciding.mark(trial.trial)

    def action_same_finding(self) -> None:
        self.deciding.same_finding()

    def action_write_again(self) -> None:
        self.desk.write_again()

    def action_note(self) -> None:
        trial = self.trial
        if trial is not None:
            own = self.desk.book.of(trial.trial, self.desk.who)
            text = self.desk.notes.get(trial.trial) or (own.note if own is not None else "")
            self.query_one(EntryLine).ask("note", text, MOST_NOTE, "why; goes with your label")

    def on_entry_line_kept(self, event: EntryLine.Kept) -> None:
        self._page.findings.focus()
        if (trial := self.trial) is not None:
            self.deciding.keep_note(trial, event.text)

    def on_entry_line_left(self) -> None:
        self._page.findings.focus()

    # --- what a person does: looking ---

    def action_next_trial(self, step: int) -> None:
        following = self.walk.step(step, self._undecided() if self.undecided_only else None)
        if following is None:
            self.deciding.tell(("this is the last one" if step > 0 else "this is the first one", "deck--dim"))
        else:
            self.deciding.said = []
            self._go(following)

    def action_undecided(self) -> None:
        self.undecided_only = not self.undecided_only
        keys = " and ".join(key_called(self.app, TRIAGE, f"next_trial({step})") for step in (1, -1))
        what = "what you have not decided" if self.undecided_only else "all"
        self.deciding.tell((f"{keys} go through {what}", "deck--dim"))

    def action_finding(self, number: int) -> None:
        self._page.to_finding(number)

    def action_pane(self) -> None:
        self._page.next_part()

    def action_details(self) -> None:
        self._page.turn_details()
        self._show_head()

    def action_blind(self) -> None:
        self.cover.on = self.desk.blind = not self.cover.on
        self.walk.shuffle()
        self._sort()
        if self.cover.on:
            self.deciding.said = head.blind(self.desk, self.walk.current)
        else:
            self.deciding.said = [("arms are named again", "deck--dim")]
        if self.walk.current is not None:
            self._go(self.walk.current)
        self._page.logs.forget()
        self._show_all()

    def on_line_table_opened(self, event: LineTable.Opened) -> None:
        if self.on_top:
            self.action_open()

    def action_open(self) -> None:
        if (trial := self.trial) is not None:
            self.opening.trial(trial, self._page.place, self._page.step)

    def action_rerun(self) -> None:
        if (trial := self.trial) is not None and not refused(self.app, "nothing runs again"):
            self.rerunning.begin(trial)

    def on_rerun_worked_out(self, event: RerunWorkedOut) -> None:
        self.rerunning.worked_out(event)

    def on_rerun_asked(self, event: RerunAsked) -> None:
        self.rerunning.answered(event)

    def action_disagreements(self) -> None:
        from screens.triage_disagreements import DisagreementsScreen

        self.app.push_screen(DisagreementsScreen(self.source, self.desk, self.cover), self._chosen)

    def _chosen(self, trial: str | None) -> None:
        if trial is not None:
            self._go(trial)

    def action_summary(self) -> None:
        from screens.triage_summary import SummaryScreen

        self.app.push_screen(SummaryScreen(self.source, self.desk, self.cover))

    def action_help_here(self) -> None:
        self.call_later(self.app.run_action, "app.keys")

    async def action_step_back(self) -> None:
        if self.deciding.marked:
            self.deciding.marked.clear()
            self._show_all()
        else:
            await self.app.run_action("app.back")
