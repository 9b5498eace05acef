"""A run's triage without a screen: what rules propose, what people said, in one place for text, JSON and CSV."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from console.errors import Unusable
from console.run_condition import load
from engine.readers.open_run import OpenedRun, open_run
from engine.state import RunState
from engine.triage.blind import Blindfold, cases
from engine.triage.label_book import LabelBook
from engine.triage.label_store import LabelStore, open_labels
from engine.triage.labels import Label
from engine.triage.proposal import Proposal
from engine.triage.propose import propose
from engine.triage.queue import QueueItem, queue, to_propose


@dataclass(frozen=True)
class Triage:
    """`blindfold` is set where arms are hidden: every text that is shown goes through `text`."""

    run: OpenedRun
    state: RunState
    store: LabelStore
    book: LabelBook
    viewer: str
    proposals: dict[str, Proposal]
    items: list[QueueItem]
    blindfold: Blindfold | None

    @property
    def identity(self) -> str:
        return self.store.run_identity

    @property
    def problems(self) -> list[str]:
        return [*self.store.problems, *([self.store.cut] if self.store.cut else [])]

    @property
    def decided(self) -> int:
        return sum(item.decided for item in self.items)

    def text(self, text: str) -> str:
        return self.blindfold.text(text) if self.blindfold is not None else text

    def name(self, trial: str) -> str:
        """The trial's id, or its case where arms are hidden."""
        return self.blindfold.case(trial) if self.blindfold is not None else trial

    def others(self, trial: str) -> dict[str, Label]:
        """What others say of it, as far as the viewer may see."""
        return {who: label for who, label in self.book.visible(trial, self.viewer).items() if who != self.viewer}


def read_triage(folder: Path, viewer: str, *, blind: bool = False, with_proposals: bool = True) -> Triage:
    """Reads the run, its labels and, for the proposals, the logs of its trials. Raises OSError."""
    run = open_run(folder)
    state = load(folder)[0]
    store = open_labels(run)
    book = LabelBook(store.new_labels())
    proposals = {
        trial: propose(state.trials[trial], state, run.trial_folder(trial), run.logs(trial))
        for trial in (to_propose(state) if with_proposals else ())
    }
    return Triage(
        run=run,
        state=state,
        store=store,
        book=book,
        viewer=viewer,
        proposals=proposals,
        items=queue(state, proposals, book, viewer),
        blindfold=Blindfold(state) if blind else None,
    )


def find_case(text: str, state: RunState) -> str:
    """A trial's id from its name, the beginning of it, or its case (`case 8`). Raises Unusable."""
    if text in state.trials:
        return text
    word = text.strip().lower().removeprefix("case").strip(" -")
    if word.isascii() and word.isdigit():
        found = next((trial for trial, number in cases(state).items() if number == int(word)), None)
        if found is not None:
            return found
        raise Unusable(f"{text!r}: this run has cases 1 to {len(state.trials)}")
    matches = [trial for trial in state.trials if text and trial.startswith(text)]
    if len(matches) == 1:
        return matches[0]
    if matches:
        raise Unusable(f"{text!r} could be {', '.join(sorted(matches)[:5])}; type more of the name")
    raise Unusable(f"{text!r}: no such trial; `trialdeck triage --plain` lists those that need a decision")
