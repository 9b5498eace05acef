"""What stands above the tabs of a trial: where one is, its phases in time, and its facts on one line."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import Vertical

from engine.text import clean_line
from screens import format as fmt
from screens.pieces import Piece
from screens.source import RunSource
from screens.trial_facts import state_pieces, summary
from screens.widgets.breadcrumbs import Breadcrumbs
from screens.widgets.lines import Line, Lines
from screens.widgets.timeline_line import TimelineLine

WHOLE_TRAIL = 100
"""Columns from which on the breadcrumbs name everything."""


class Summary(Lines):
    pieces: Sequence[Piece] = ()

    def make(self, width: int) -> list[Line]:
        return [(list(self.pieces), [])]


class TrialHead(Vertical):
    def compose(self) -> ComposeResult:
        yield Breadcrumbs("runs")
        yield TimelineLine(id="timeline")
        yield Summary(id="summary")

    def show(self, source: RunSource, trial_id: str, width: int) -> None:
        trial, now, plan = source.state.trials.get(trial_id), source.now(), source.state.plan
        run = clean_line(plan.name) if plan else source.folder.name
        if not self.query(Summary):
            return  # not composed yet, or on its way out
        trail = self.query_one(Breadcrumbs)
        if trial is None:
            trail.set(["runs", run, clean_line(trial_id)], [("no such trial yet", "deck--dim")])
            return
        several = plan is not None and plan.attempts > 1
        arms = list(source.state.arms)
        letter = fmt.arm_letter(arms.index(trial.arm)) if len(arms) > 1 else ""
        arm = trial.arm if width >= WHOLE_TRAIL else ""
        name = " ".join(word for word in (trial.task, letter, arm, str(trial.attempt) if several else "") if word)
        right = [*state_pieces(trial, source.stale), (f"  {fmt.clock_time(trial.elapsed(now))}", "deck--strong")]
        trail.set(["runs", run, name] if width >= WHOLE_TRAIL else [run, name], right)
        line = self.query_one(TimelineLine)
        line.trial, line.now = trial, now
        line.show()
        facts = self.query_one(Summary)
        facts.pieces = summary(trial)
        facts.show()
