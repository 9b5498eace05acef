"""Where a run's triage comes together: its trials, what the rules propose, what people decided. One desk a run.

All of it belongs to the UI thread. Threads read and write; what they bring is taken in by `take_in`, which `on_news`
asks for.
"""

from __future__ import annotations

import threading
import uuid
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path

import msgspec

from engine.analysis.labels import Labels
from engine.triage.causes import Cause
from engine.triage.label_book import LabelBook
from engine.triage.labels import Label
from engine.triage.new_label import new_label
from engine.triage.proposal import Proposal, Strength
from engine.triage.queue import QueueItem, queue, to_propose
from screens.source import RunSource
from screens.triage_labels import LabelKeeping, LabelNews
from screens.triage_proposals import Proposals, Rules

Listener = Callable[[set[str]], None]
"""Called in the UI thread with the trials whose labels or proposals changed; "" stands for the file of labels."""


class TriageDesk:
    """`who` is the person at this console. `start` begins to read labels; proposals are worked out as they are asked
    for. `on_news` is called in a thread when something came: call `take_in` in the UI thread then.
    """

    def __init__(
        self, source: RunSource, who: str, clock: Callable[[], datetime], rules: Rules, *, read_only: bool = False
    ) -> None:
        self.read_only = read_only
        self.source = source
        self.who = who
        self.clock = clock
        self.book = LabelBook()
        self.ready = False
        self.identity = ""
        self.path: Path | None = None
        self.problem = ""
        self.damaged: Sequence[str] = ()
        self.on_news: Callable[[], None] | None = None
        self.notes: dict[str, str] = {}
        """Notes that wait for a label, by trial."""
        self.seen_by_name: set[str] = set()
        """Trials that were shown with their arm: a label of these is not blind."""
        self.blind = False
        """Triage was left blind: it is blind when it is opened again."""
        self._filed: list[Label] = []
        self._gone: dict[str, Label] = {}  # stood in the file and were taken out of it by somebody
        self._mine: dict[str, Label] = {}  # decided here, not seen in the file yet
        self._batches: dict[str, list[str]] = {}
        self._listeners: list[Listener] = []
        self._called = threading.Event()
        self._news: deque[LabelNews] = deque()
        self._labels = LabelKeeping(source.run, self._labels_came)
        self._proposals = Proposals(source, self._call, rules)

    def start(self) -> None:
        self._labels.start()

    def close(self) -> None:
        """Doesn't wait: what was decided is still written, by a thread that the process waits for."""
        self.on_news = None
        self._labels.close()
        self._proposals.close()

    def listen(self, listener: Listener) -> None:
        self._listeners.append(listener)

    def unlisten(self, listener: Listener) -> None:
        if listener in self._listeners:
            self._listeners.remove(listener)

    # --- what the run screen and the comparison ask ---

    def cause(self, trial: str) -> Cause | None:
        """What was decided, as far as this person may know of it."""
        return self.book.cause(trial, self.who)

    def decided(self, trial: str) -> bool:
        return self.book.decided(trial, self.who)

    def proposal(self, trial: str) -> Proposal | None:
        """What the rules say, its findings in short; None where they haven't looked yet: they will, since it was
        asked for."""
        self._proposals.want((trial,))
        return self._proposals.get(trial)

    def as_analysis_labels(self) -> Labels:
        return self.book.as_analysis_labels(self.source.state)

    def records(self) -> list[Label]:
        """Every record, those not yet in the file included."""
        return [*self._filed, *self._mine.values()]

    # --- what the triage screen asks ---

    @property
    def unwritten(self) -> int:
        """Decisions that are not in the file (yet)."""
        return len(self._mine)

    @property
    def gone(self) -> int:
        """Records that stood in the file and do no longer: nobody may take them out, so it is said."""
        return len(self._gone)

    @property
    def proposals(self) -> Mapping[str, Proposal]:
        """All that are known, in short."""
        return self._proposals

    @property
    def looking_at(self) -> int:
        """Trials that rules have yet to look at."""
        return self._proposals.waiting

    def findings(self, trial: str) -> Proposal | None:
        """In full, and at once where they are known; else they are worked out before all others."""
        return self._proposals.now(trial)

    def look_ahead(self, trials: Iterable[str]) -> None:
        """Have the rules look at these next: they are what a person comes to when the page is turned."""
        self._proposals.ahead(trials)

    def rules_problem(self, trial: str) -> str:
        return self._proposals.problem(trial)

    def look_through(self) -> None:
        """Have the rules look at all trials that are over, those without a pass first."""
        self._proposals.want(to_propose(self.source.state))

    def want(self, trials: Iterable[str]) -> None:
        """Have the rules look at these, when there is time."""
        self._proposals.want(trials)

    def queue(self, *, undecided_only: bool = False) -> list[QueueItem]:
        return queue(self.source.state, self._proposals, self.book, self.who, undecided_only=undecided_only)

    def strong_rule(self, trial: str) -> str:
        """The rule that speaks for the proposed cause with a strong finding, "" where none does."""
        proposal = self._proposals.get(trial)
        if proposal is None:
            return ""
        found = (
            item for item in proposal.findings if item.cause is proposal.cause and item.strength is Strength.STRONG
        )
        return next((item.rule for item in found), "")

    def alike(self, trial: str) -> list[str]:
        """Undecided trials of the queue that have the same strong finding."""
        rule = self.strong_rule(trial)
        if not rule:
            return []
        return [
            item.trial
            for item in self.queue(undecided_only=True)
            if item.trial != trial and self.strong_rule(item.trial) == rule
        ]

    # --- deciding ---

    def label(self, trials: Iterable[str], cause: Cause, *, note: str = "", blind: bool = False) -> list[Label]:
        """Each trial gets a record of its own. Raises ValueError with words for a person."""
        return self._record(trials, "label", cause, note, blind)

    def settle(self, trial: str, cause: Cause, *, note: str = "", blind: bool = False) -> list[Label]:
        return self._record((trial,), "settle", cause, note, blind)

    def skip(self, trial: str, *, blind: bool = False) -> None:
        self._record((trial,), "skip", None, "", blind)

    def undo(self) -> list[Label]:
        """Takes back this person's latest standing record, with all that were decided in the same go; returns what was
        taken back, nothing where there is nothing."""
        self._may_decide()
        last = self.book.undoable(self.who)
        if last is None:
            return []
        taken: list[Label] = []
        batch = set(self._batches.get(last.id, [last.id]))
        records: list[Label] = []
        while last is not None and last.id in batch:
            taken.append(last)
            record = msgspec.structs.replace(
                last, id=uuid.uuid4().hex, at=self.clock(), kind="undo", cause=None, note="", evidence=(), proposed=None
            )
            records.append(record)
            self.book.add(record)
            last = self.book.undoable(self.who)
        self._keep(records)
        return taken

    def _record(self, trials: Iterable[str], kind: str, cause: Cause | None, note: str, blind: bool) -> list[Label]:
        self._may_decide()
        known = self.source.state.trials
        records = [
            new_label(
                self.identity,
                known[trial],
                self.who,
                kind=kind,
                cause=cause,
                note=note,
                proposal=self._proposals.known(trial),
                blind=blind,
                at=self.clock(),
            )
            for trial in trials
            if trial in known
        ]
        for record in records:
            self.book.add(record)
        if len(records) > 1:
            ids = [record.id for record in records]
            self._batches.update(dict.fromkeys(ids, ids))
        self._keep(records)
        return records

    def _may_decide(self) -> None:
        if self.read_only:
            raise ValueError("read-only: nothing is labelled")
        if not self.ready:
            raise ValueError("the labels of this run are still being read; try again in a moment")

    def _keep(self, records: list[Label]) -> None:
        self._mine.update((record.id, record) for record in records)
        self._labels.write(records)
        self._changed({record.trial for record in records} | {""})

    def write_again(self) -> None:
        """What could not be written, and what somebody took out of the file, as it was."""
        if self._gone and not self.read_only:
            for record in self._gone.values():
                self.book.add(record)
            self._keep(list(self._gone.values()))
            self._gone = {}
        self._labels.write_again()

    def take_imported(self, labels: Sequence[Label]) -> int:
        """Labels from elsewhere, as they are; those that are known already are passed over. How many are new."""
        new = [label for label in labels if label.id not in self.book]
        for label in new:
            self.book.add(label)
        if new:
            self._keep(list(new))
        return len(new)

    # --- what comes from the threads ---

    def _labels_came(self, news: LabelNews) -> None:
        self._news.append(news)
        self._call()

    def _call(self) -> None:
        call = self.on_news
        if call is not None and not self._called.is_set():
            self._called.set()
            call()

    def take_in(self) -> set[str]:
        """Takes in what the threads brought and tells the listeners; returns the trials that changed."""
        self._called.clear()
        changed = self._proposals.take()
        while self._news:
            changed |= self._take_labels(self._news.popleft())
        if changed:
            self._changed(changed)
        return changed

    def _take_labels(self, news: LabelNews) -> set[str]:
        self.identity, self.path, self.problem, self.damaged = news.identity, news.path, news.problem, news.damaged
        self.ready = True
        before = self._filed if news.anew else []
        if news.anew:
            self._gone.update({label.id: label for label in before})
            self._filed = []
        self._filed += news.read
        for label in news.read:
            self._mine.pop(label.id, None)
            self._gone.pop(label.id, None)
        if not news.anew and all(label.id in self.book for label in news.read):
            return {""}
        self.book = LabelBook([*self._filed, *self._mine.values()])  # in the file's order, as everybody folds it
        return {"", *(label.trial for label in (*before, *news.read))}

    def _changed(self, trials: set[str]) -> None:
        for listener in tuple(self._listeners):
            listener(trials)
