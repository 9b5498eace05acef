"""One trial as triage shows it: the case, its phases, what rules found, what people said, the logs."""

from __future__ import annotations

from dataclasses import dataclass

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical

from engine.triage.proposal import Proposal
from engine.triage.queue import Kind, QueueItem
from engine.trial_state import TrialState
from screens import format as fmt
from screens import triage_facts as say
from screens.pieces import Pieces
from screens.triage_blindfold import Cover
from screens.triage_desk import TriageDesk
from screens.triage_places import LogPlace, places_of, side_by_side
from screens.widgets.timeline_line import TimelineLine
from screens.widgets.triage_findings import FindingList
from screens.widgets.triage_lines import SaidLines, TriageFacts
from screens.widgets.triage_logs import Naming, TriageLogs

NARROW = 100
"""Columns below which one log is shown at a time."""
_INDENT = " " * 5
_WHOLE, _TALL = 4, 30
"""Lines at most for what a finding's own line has no room for, on a screen of so many rows; half of them on others."""


@dataclass(frozen=True)
class Case:
    """What is to be shown. `item` None: the trial is not in the queue."""

    trial: TrialState
    item: QueueItem | None
    marked: bool


class TriagePage(Vertical):
    """`show_case` shows a trial, or what is new about it; `clear` shows a text instead."""

    def __init__(self, desk: TriageDesk, cover: Cover, naming: Naming, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._naming = naming
        self._desk = desk
        self._source = desk.source
        self._hiding = cover
        self.case: Case | None = None
        self.proposal: Proposal | None = None
        self.details = False
        self._places: list[list[LogPlace]] = []

    def compose(self) -> ComposeResult:
        yield SaidLines(id="case")
        yield TimelineLine(id="timeline")
        yield FindingList(self._hiding.text, self._place_words)
        yield SaidLines(id="whole")
        yield SaidLines(id="people")
        yield TriageLogs(self._hiding.log, self._naming)
        yield TriageFacts(self._hiding)

    def on_mount(self) -> None:
        self._show_parts()

    @property
    def findings(self) -> FindingList:
        return self.query_one(FindingList)

    @property
    def logs(self) -> TriageLogs:
        return self.query_one(TriageLogs)

    @property
    def place(self) -> LogPlace | None:
        """Where one looks: the log that has the keys, else where the chosen finding leads."""
        for pane in self.logs.panes:
            if pane.has_focus_within:
                return pane.place
        chosen = self.findings.chosen
        return self._places[chosen][0] if 0 <= chosen < len(self._places) and self._places[chosen] else None

    @property
    def step(self) -> int:
        """The step of the trajectory that the chosen finding names, 0 for none."""
        chosen = self.findings.chosen
        return self.findings.findings[chosen].step if chosen >= 0 else 0

    # --- showing ---

    def clear(self, text: str) -> None:
        self.case = None
        self.query_one("#case", SaidLines).set([([(text, "deck--dim")], [])])
        self.query_one("#people", SaidLines).set([])
        self.query_one("#whole", SaidLines).set([])
        self._show_parts()

    def show_case(self, case: Case) -> None:
        anew = self.case is None or self.case.trial.trial != case.trial.trial
        self.case = case
        trial = case.trial
        self._show_parts()
        self.proposal = self._desk.findings(trial.trial)
        self.show_facts()
        logs = self._source.logs(trial.trial)
        folder = self._source.trial_folder(trial.trial)
        found = self.proposal.findings if self.proposal is not None else ()
        self._places = [places_of(finding, logs, folder, self._source.folder) for finding in found]
        table = self.findings
        others = table.findings != found
        table.set_proposal(self.proposal, self._nothing_found(trial), anew=anew or others)
        table.styles.height = max(1, min(len(found), max(3, self.screen.size.height // 4)))
        self._show_people(trial.trial)
        if anew:
            self.logs.forget()
        if anew or others or not self.logs.places:
            self.show_places()
        else:
            self.logs.show()

    def show_facts(self) -> None:
        """What may change while the trial runs."""
        case = self.case
        if case is None:
            return
        trial, book = case.trial, self._desk.book
        wide = self.screen.size.width >= NARROW
        proposed = say.proposed(self.proposal, short=not wide) if trial.done else []
        why = self._hiding.text(case.item.reason) if case.item is not None else "not in the queue"
        if case.item is not None and case.item.kind is Kind.FAILED:
            why = ""  # its verdict says so
        verdict = say.verdict(trial, self._hiding, self._source.stale)
        self.query_one("#case", SaidLines).set(
            [(self._case_line(case, wide), proposed), (verdict, [(why, "deck--warn")] if why else [])]
        )
        line = self.query_one(TimelineLine)
        line.trial, line.now = self._hiding.trial(trial), self._source.now()
        line.show()
        said = book.settled(trial.trial), book.visible(trial.trial, self._desk.who)
        self.query_one(TriageFacts).set_trial(trial, say.notes_in_full(*said, self._hiding))

    def _case_line(self, case: Case, wide: bool) -> Pieces:
        state, trial = self._source.state, case.trial
        arms = list(state.arms)
        pieces: Pieces = [(f"case {case.item.case}   " if case.item else "", "deck--dim"), (trial.task, "deck--strong")]
        if not self._hiding.on and len(arms) > 1:
            pieces.append((f"   {fmt.arm_letter(arms.index(trial.arm))}", "deck--accent"))
            pieces.append((f" {trial.arm}" if wide else "", "deck--dim"))
        if state.plan is not None and state.plan.attempts > 1:
            pieces.append((f"   attempt {trial.attempt}", "deck--dim"))
        if case.marked:
            pieces.append(("   * marked", "deck--accent"))
        return pieces

    def _nothing_found(self, trial: TrialState) -> str:
        problem = self._desk.rules_problem(trial.trial)
        if problem:
            return self._hiding.text(problem)
        if not trial.done:
            return "the trial is not over; the rules look at it then"
        return "no rule found anything" if self.proposal is not None else "looking for findings …"

    def _show_people(self, trial: str) -> None:
        book, who = self._desk.book, self._desk.who
        own = say.own_words(book.of(trial, who), book.skipped(trial, who), self._desk.notes.get(trial, ""))
        lines = [own, say.settled_words(book.settled(trial), self._hiding)]
        lines += say.others_words(book.visible(trial, who), who, self._hiding)[:4]
        self.query_one("#people", SaidLines).set([(line, []) for line in lines if line])

    def _show_parts(self) -> None:
        there = self.case is not None
        self.query_one(TimelineLine).display = self.findings.display = there
        self.logs.display = there and not self.details
        self.query_one(TriageFacts).display = there and self.details

    # --- findings and logs ---

    def _place_words(self, number: int) -> str:
        if number < len(self._places) and self._places[number]:
            place = self._places[number][0]
            name = self._hiding.log(place.log)
            return f"{name}, line {place.line:,}" if place.line else name
        found = self.findings.findings
        step = found[number].step if number < len(found) else 0
        return f"step {step:,}" if step else ""

    def show_places(self) -> None:
        if self.case is None:
            return
        chosen = self.findings.chosen
        self._show_whole(chosen)
        places = side_by_side(self._places, self._source.logs(self.case.trial.trial), chosen)
        leads = self._places[chosen] if 0 <= chosen < len(self._places) else []
        front = next((at for at, place in enumerate(places) if leads and place.log.path == leads[0].log.path), 0)
        self.logs.narrow = self.screen.size.width < NARROW
        self.logs.set_places(places, front)

    def _show_whole(self, chosen: int) -> None:
        size = self.screen.size
        most = _WHOLE if size.height >= _TALL else _WHOLE // 2
        lines = self.findings.in_full(chosen, size.width, len(_INDENT))
        if len(lines) > most:
            lines = [*lines[: most - 1], f"{lines[most - 1]} …"]
        self.query_one("#whole", SaidLines).set([([(_INDENT + line, "deck--dim")], []) for line in lines])

    def on_finding_list_moved(self, event: FindingList.Moved) -> None:
        event.stop()
        self.show_places()

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        self.logs.show_heads()

    def on_descendant_blur(self, event: events.DescendantBlur) -> None:
        self.logs.show_heads()

    def to_finding(self, number: int) -> None:
        if number <= len(self.findings.findings):
            self.findings.focus()
            self.findings.move_to(number - 1)

    def next_part(self) -> None:
        """The keys to the next log, and back to the findings."""
        facts = self.query_one(TriageFacts)
        if self.details:
            (self.findings if facts.has_focus else facts).focus()
        elif not self.logs.next_pane():
            self.findings.focus()

    def turn_details(self) -> None:
        self.details = not self.details
        self._show_parts()
        self.findings.focus()
