"""Trials on which people disagree, what each of them said, and one key to settle it."""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.widgets import Input

from engine.text import clean_line
from engine.triage.causes import Cause
from engine.triage.new_label import MOST_NOTE
from screens import format as fmt
from screens.deck_screen import DeckScreen
from screens.pieces import Pieces
from screens.source import RunSource
from screens.triage_actions import DISAGREEMENTS, help_elsewhere
from screens.triage_blindfold import Cover
from screens.triage_desk import TriageDesk
from screens.triage_names import TrialNames
from screens.widgets.action_footer import ActionFooter
from screens.widgets.breadcrumbs import Breadcrumbs
from screens.widgets.line_table import LineTable
from screens.widgets.triage_disagreement import DisagreementTable, SideBySide
from screens.widgets.triage_lines import CauseBar, SaidLines
from screens.widgets.triage_note import EntryLine

_KEYS = frozenset(action.name for action in DISAGREEMENTS.actions if action.name not in ("step_back", "open"))
_NAMES = frozenset(name.partition("(")[0] for name in _KEYS)


class DisagreementsScreen(DeckScreen[str | None]):
    """Returns the trial that a person wants to look at in triage."""

    CSS_PATH = "triage_disagreements.tcss"
    PLACE = DISAGREEMENTS
    BINDINGS: ClassVar[list[BindingType]] = [*DISAGREEMENTS.bindings(priority=_KEYS)]
    AUTO_FOCUS = "DisagreementTable"

    def __init__(self, source: RunSource, desk: TriageDesk, cover: Cover) -> None:
        super().__init__()
        self.source = source
        self.desk = desk
        self.cover = cover
        self.names = TrialNames(source.state, cover)
        self.notes: dict[str, str] = {}
        self._noted: str | None = None  # whose note is being written: the list may change meanwhile
        self.said: Pieces = []

    def compose(self) -> ComposeResult:
        yield Breadcrumbs("triage", "disagreements")
        yield DisagreementTable(self.desk, self.names)
        yield SideBySide(self.cover, self.desk.who)
        yield EntryLine()
        yield SaidLines(id="said", rows=3)
        yield CauseBar(DISAGREEMENTS, "settle")
        yield ActionFooter(DISAGREEMENTS)

    def on_mount(self) -> None:
        self.desk.listen(self._desk_changed)
        self._show()

    def on_unmount(self) -> None:
        self.desk.unlisten(self._desk_changed)

    def on_resize(self) -> None:
        self.call_after_refresh(self._show)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """What is typed into a line is no command."""
        typing = action in _NAMES and isinstance(self.focused, Input)
        return super().check_action(action, parameters) and not typing

    def run_changed(self, dirty: set[str]) -> None:
        """What people said doesn't change with the run."""

    def clock_ticked(self, now: datetime) -> None:
        """Nothing here goes by time."""

    def _desk_changed(self, trials: set[str]) -> None:
        self._show()

    # --- showing ---

    @property
    def trial(self) -> str | None:
        return self.query_one(DisagreementTable).cursor_key

    def _show(self) -> None:
        if not self.is_mounted or not self.query(CauseBar):
            return
        table = self.query_one(DisagreementTable)
        table.update()
        right: Pieces = [(fmt.count(len(table.keys), "disagreement"), "deck--strong")]
        right.append((" · blind" if self.cover.on else "", "deck--accent"))
        right.append((f" · you: {clean_line(self.desk.who, 24)}", "deck--dim"))
        self.query_one(Breadcrumbs).set(["triage", "disagreements"], right)
        footer = self.query_one(ActionFooter)
        footer.hidden = {"keys"}
        footer.show()
        self._show_trial()

    def _show_trial(self) -> None:
        trial = self.trial
        sides = self.query_one(SideBySide)
        sides.labels = self.desk.book.visible(trial, self.desk.who) if trial is not None else {}
        sides.show()
        bar = self.query_one(CauseBar)
        own = self.desk.book.of(trial, self.desk.who) if trial is not None else None
        bar.own = own.cause if own is not None else None
        bar.show()
        said = list(self.said)
        if note := self.notes.get(trial or "", ""):
            said += [("   ✎ note: ", "deck--accent"), (clean_line(note), "")]
        self.query_one("#said", SaidLines).set([(said, [])] if said else [])

    def on_disagreement_table_moved(self) -> None:
        self._show_trial()

    # --- what a person does ---

    def action_settle(self, cause: str) -> None:
        trial = self.trial
        if trial is None:
            return
        name = self.names.of(trial)
        try:
            blind = self.cover.on and trial not in self.desk.seen_by_name
            self.desk.settle(trial, Cause(cause), note=self.notes.get(trial, ""), blind=blind)
        except ValueError as error:
            self.said = [(f"! {clean_line(str(error))}", "deck--bad")]
        else:
            help_is = help_elsewhere(self.app, DISAGREEMENTS) if cause == Cause.AMBIGUOUS else ""
            self.said = [("⚖ settled: ", "deck--good"), (cause, "deck--strong"), (help_is, "deck--accent")]
            self.said.append((f"  {name}", "deck--dim"))
            self.notes.pop(trial, None)
        self._show()

    def action_undo(self) -> None:
        try:
            taken = self.desk.undo()
        except ValueError as error:
            self.said = [(f"! {clean_line(str(error))}", "deck--bad")]
            self._show()
            return
        if taken:
            last = taken[-1]
            what = f"{'settlement as ' if last.kind == 'settle' else ''}{last.cause or last.kind}"
            self.said = [("↶ took back ", "deck--warn"), (what, "deck--strong")]
            self.said.append((f"  {self.names.of(last.trial)}", "deck--dim"))
        else:
            self.said = [("there is nothing of yours to take back", "deck--dim")]
        self._show()

    def action_note(self) -> None:
        if (trial := self.trial) is not None:
            self._noted = trial
            note = self.notes.get(trial, "")
            self.query_one(EntryLine).ask("note", note, MOST_NOTE, "why; goes with your decision")

    def on_entry_line_kept(self, event: EntryLine.Kept) -> None:
        if self._noted is not None:
            self.notes[self._noted] = event.text.strip()
        self.query_one(DisagreementTable).focus()
        self._show_trial()

    def on_entry_line_left(self) -> None:
        self.query_one(DisagreementTable).focus()

    def on_line_table_opened(self, event: LineTable.Opened) -> None:
        self.dismiss(event.key)

    def action_open(self) -> None:
        if self.trial is not None:
            self.dismiss(self.trial)

    def action_help_here(self) -> None:
        self.call_later(self.app.run_action, "app.keys")

    async def action_step_back(self) -> None:
        self.dismiss(None)
