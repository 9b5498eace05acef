"""What a person decides on the triage screen: causes, agreement, notes, undo, marks, many at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from textual.screen import Screen

from engine.text import clean_line
from engine.triage.causes import Cause
from engine.triage.labels import Label
from engine.triage.proposal import Proposal
from engine.trial_state import TrialState
from screens import format as fmt
from screens.actions import key_called
from screens.pieces import Pieces
from screens.question_screen import Answer, QuestionScreen
from screens.triage_actions import TRIAGE, help_elsewhere
from screens.triage_blindfold import Cover
from screens.triage_desk import TriageDesk
from screens.triage_names import TrialNames
from screens.triage_walk import Walk

MOST_NAMED = 8
"""Trials that a question names one by one."""


class Deciding:
    """`said` is what the last decision was, in a line that stays. `advance` goes to what is undecided next, `go` to a
    trial, `show` shows what changed."""

    def __init__(
        self,
        screen: Screen[Any],
        desk: TriageDesk,
        walk: Walk,
        cover: Cover,
        *,
        advance: Callable[[], None],
        go: Callable[[str], None],
        show: Callable[[], None],
    ) -> None:
        self._screen = screen
        self._desk = desk
        self._walk = walk
        self._cover = cover
        self._advance = advance
        self._go = go
        self._show = show
        self.names = TrialNames(desk.source.state, cover)
        self.said: Pieces = []
        self.marked: dict[str, None] = {}
        self._last: tuple[str, Cause] | None = None

    @property
    def blind(self) -> bool:
        """Whether a label of the current trial counts as blind."""
        return self._cover.on and self._walk.current not in self._desk.seen_by_name

    def tell(self, *pieces: tuple[str, str]) -> None:
        self.said = list(pieces)
        self._show()

    # --- one trial ---

    def label(self, trial: TrialState, cause: Cause) -> None:
        if self._desk.source.live and not trial.done:
            self.tell(("! this trial is not over yet", "deck--warn"))
        elif self.marked:
            self._ask_marked(trial.trial, cause)
        else:
            self._label_one(trial.trial, cause)

    def _label_one(self, trial: str, cause: Cause) -> None:
        note = self._desk.notes.get(trial, "")
        if not self._decide(partial(self._desk.label, (trial,), cause, note=note, blind=self.blind)):
            return
        self._desk.notes.pop(trial, None)
        self._last = trial, cause
        help_is = help_elsewhere(self._screen.app, TRIAGE) if cause is Cause.AMBIGUOUS else ""
        self.said = [("✓ ", "deck--good"), (str(cause), "deck--strong"), (help_is, "deck--accent")]
        self.said.append((f"  {self.names.of(trial)}", "deck--dim"))
        alike = len(self._desk.alike(trial))
        if alike:
            rule = self._desk.strong_rule(trial)
            self.said.append(
                (f"   {self._key('same_finding')}: {alike} more with the same strong finding ({rule})", "deck--accent")
            )
        self._advance()

    def agree(self, trial: TrialState, proposal: Proposal | None) -> None:
        if proposal is None:
            self.tell(("the rules are still looking; choose a cause, or wait a moment", "deck--warn"))
        elif proposal.cause is None:
            self.tell(("nothing is proposed here: choose a cause", "deck--warn"))
        else:
            self.label(trial, proposal.cause)

    def same(self, trial: TrialState) -> None:
        last = self._desk.book.last_cause(self._desk.who)
        if last is None:
            self.tell(("you have given no cause yet", "deck--warn"))
        else:
            self.label(trial, last)

    def skip(self, trial: TrialState) -> None:
        own = self._desk.book.of(trial.trial, self._desk.who)
        if own is None and not self._decide(partial(self._desk.skip, trial.trial, blind=self.blind)):
            return
        self.said = [("↷ skipped", "deck--dim"), (f"  {self.names.of(trial.trial)}", "deck--dim")]
        self._advance()

    def keep_note(self, trial: TrialState, text: str) -> None:
        """With the label where there is one already: a record of its own. Else it waits for the label."""
        own = self._desk.book.of(trial.trial, self._desk.who)
        text = text.strip()
        if own is None or own.cause is None:
            self._desk.notes[trial.trial] = text
            if not text:
                del self._desk.notes[trial.trial]
            self.tell(("✎ the note goes with your label" if text else "no note", "deck--dim"))
        elif text != own.note and self._decide(
            partial(self._desk.label, (trial.trial,), own.cause, note=text, blind=self.blind)
        ):
            self.tell((f"✎ note written, your label stays {own.cause}", "deck--good"))

    def undo(self) -> None:
        taken: list[Label] = []
        if not self._decide(lambda: taken.extend(self._desk.undo())):
            return
        if not taken:
            self.tell(("there is nothing of yours to take back", "deck--dim"))
            return
        last = taken[-1]
        what = str(last.cause or last.kind)
        if len(taken) > 1:
            self.said = [("↶ took back ", "deck--warn"), (f"{len(taken)} × {what}", "deck--strong")]
        else:
            kind = "settlement as " if last.kind == "settle" else ""
            self.said = [("↶ took back ", "deck--warn"), (f"{kind}{what}", "deck--strong")]
            self.said.append((f"  {self.names.of(last.trial)}", "deck--dim"))
            if last.note:
                self._desk.notes.setdefault(last.trial, last.note)
        if last.trial in self._desk.source.state.trials:
            self._go(last.trial)
        else:
            self._show()

    # --- many ---

    def mark(self, trial: str) -> None:
        if trial in self.marked:
            del self.marked[trial]
        else:
            self.marked[trial] = None
        self.said = []
        self._show()

    def _ask_marked(self, trial: str, cause: Cause) -> None:
        marked = list(self.marked)
        self._ask(
            f"Label {fmt.count(len(marked), 'marked trial')} as {cause}?",
            marked,
            Answer("y", f"label {'all of them' if len(marked) > 1 else 'it'} {cause}, a record each", "all"),
            lambda answer: self._marked_answered(answer, marked, trial, cause),
            Answer("o", "label only the one that is shown", "one"),
        )

    def _marked_answered(self, answer: str | None, marked: Sequence[str], trial: str, cause: Cause) -> None:
        if answer == "all":
            self._label_many(marked, cause)
            self._advance()
        elif answer == "one":
            self._label_one(trial, cause)

    def same_finding(self) -> None:
        if self._last is None:
            offers = f"{self._key('same_finding')} then offers those with the same strong finding"
            self.tell((f"label a trial first; {offers}", "deck--warn"))
            return
        trial, cause = self._last
        alike = self._desk.alike(trial)
        if not alike:
            self.tell(("no other undecided trial has the same strong finding", "deck--dim"))
            return
        rule = self._desk.strong_rule(trial)
        self._ask(
            f"Label {fmt.count(len(alike), 'trial')} as {cause}?",
            alike,
            Answer("y", f"all with the same strong finding ({rule}), a record each", "all"),
            lambda answer: self._alike_answered(answer, alike, cause),
        )

    def _alike_answered(self, answer: str | None, trials: Sequence[str], cause: Cause) -> None:
        if answer == "all":
            self._label_many(trials, cause)
            self._advance_if_decided()

    def _advance_if_decided(self) -> None:
        current = self._walk.current
        if current is not None and self._desk.decided(current):
            self._advance()
        else:
            self._show()

    def _ask(
        self,
        title: str,
        trials: Sequence[str],
        answer: Answer,
        then: Callable[[str | None], None],
        *others: Answer,
    ) -> None:
        names = [self.names.of(trial) for trial in trials[:MOST_NAMED]]
        if len(trials) > MOST_NAMED:
            names.append(f"… and {len(trials) - MOST_NAMED} more")
        self._screen.app.push_screen(QuestionScreen(title, clean_line_each(names), answer, *others), then)

    def _label_many(self, trials: Sequence[str], cause: Cause) -> None:
        written: list[Label] = []
        blind = self._cover.on and not (set(trials) & self._desk.seen_by_name)
        if not self._decide(lambda: written.extend(self._desk.label(trials, cause, blind=blind))):
            return
        self.marked.clear()
        self.said = [
            ("✓ ", "deck--good"),
            (f"{len(written)} × {cause}", "deck--strong"),
            (f"   {self._key('undo')} takes all of them back", "deck--dim"),
        ]

    def _key(self, name: str) -> str:
        return key_called(self._screen.app, TRIAGE, name)

    def _decide(self, call: Callable[[], object]) -> bool:
        try:
            call()
        except ValueError as error:
            self.tell((f"! {clean_line(str(error))}", "deck--bad"))
            return False
        return True


def clean_line_each(lines: Sequence[str]) -> str:
    return "\n".join(clean_line(line, 200) for line in lines)
