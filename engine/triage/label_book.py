"""What all labels of a run add up to: who thinks what now, where people disagree, what is settled. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Iterable

from engine.analysis.labels import Labels
from engine.readers.open_run import OpenedRun
from engine.state import RunState
from engine.triage.causes import Cause
from engine.triage.label_store import open_labels
from engine.triage.labels import Label


class LabelBook:
    """Fold of labels in the order of their file. A record that is already known (by `id`) changes nothing.

    A person's later label of a trial stands in place of the earlier one, which comes back with an undo. A skip takes no
    label back. Among several settlements of a trial the last one stands.
    """

    def __init__(self, labels: Iterable[Label] = ()) -> None:
        self._ids: set[str] = set()
        self._order: dict[str, int] = {}
        self._by_trial: dict[str, dict[str, list[Label]]] = {}
        self._by_person: dict[str, list[Label]] = {}
        self.add_all(labels)

    def add_all(self, labels: Iterable[Label]) -> set[str]:
        """The trials whose records changed."""
        return {label.trial for label in labels if self.add(label)}

    def add(self, label: Label) -> bool:
        """False where the record is known already."""
        if label.id in self._ids:
            return False
        self._ids.add(label.id)
        self._order[label.id] = len(self._order)
        standing = self._by_trial.setdefault(label.trial, {}).setdefault(label.who, [])
        person = self._by_person.setdefault(label.who, [])
        if label.kind == "undo":
            if standing:
                person.remove(standing.pop())
        else:
            standing.append(label)
            person.append(label)
        return True

    def __contains__(self, record: str) -> bool:
        """Whether the record with this `id` has been folded."""
        return record in self._ids

    # --- one trial ---

    def of(self, trial: str, who: str) -> Label | None:
        """This person's standing label, with its cause."""
        return _last(self._by_trial.get(trial, {}).get(who, []), "label")

    def standing(self, trial: str) -> dict[str, Label]:
        """Everybody's standing label, by person, in alphabetical order."""
        found = {who: self.of(trial, who) for who in sorted(self._by_trial.get(trial, {}))}
        return {who: label for who, label in found.items() if label is not None}

    def visible(self, trial: str, viewer: str) -> dict[str, Label]:
        """As `standing`, but empty until the viewer's own label is set, so that nobody is led by others."""
        return self.standing(trial) if self.of(trial, viewer) is not None else {}

    def settled(self, trial: str) -> Label | None:
        """The settlement that stands, whoever made it; everybody may see it."""
        found = [
            label
            for records in self._by_trial.get(trial, {}).values()
            if (label := _last(records, "settle")) is not None
        ]
        return max(found, key=lambda label: self._order[label.id], default=None)

    def skipped(self, trial: str, who: str) -> bool:
        """Looked at by this person, and left undecided."""
        records = self._by_trial.get(trial, {}).get(who, [])
        return bool(records) and records[-1].kind == "skip" and self.of(trial, who) is None

    def decided(self, trial: str, viewer: str) -> bool:
        """Nothing is left for this person to do: own label set, or the trial settled."""
        return self.of(trial, viewer) is not None or self.settled(trial) is not None

    def cause(self, trial: str, viewer: str = "") -> Cause | None:
        """What a viewer is shown: the settlement, else what everybody agrees on, else the viewer's own word. Others'
        words count only once the viewer's own stands. Without a viewer: settlement or agreement, else None."""
        settled = self.settled(trial)
        if settled is not None:
            return settled.cause
        own = self.of(trial, viewer) if viewer else None
        if viewer and own is None:
            return None
        causes = {label.cause for label in self.standing(trial).values()}
        if len(causes) == 1:
            return causes.pop()
        return own.cause if own is not None else None

    def disagreed(self, trial: str) -> bool:
        """People's standing labels differ, and nobody has settled it."""
        return len({label.cause for label in self.standing(trial).values()}) > 1 and self.settled(trial) is None

    # --- all trials ---

    @property
    def people(self) -> list[str]:
        """Whoever has a standing label."""
        return sorted(who for who, records in self._by_person.items() if _last(records, "label") is not None)

    @property
    def trials(self) -> list[str]:
        """Trials with any record, in the order in which they first came."""
        return list(self._by_trial)

    def records(self) -> list[Label]:
        """Every record that stands (labels, skips, settlements), in the order of the file."""
        standing = [label for records in self._by_person.values() for label in records]
        return sorted(standing, key=lambda label: self._order[label.id])

    def disagreements(self, viewer: str = "") -> list[str]:
        """Trials on which people differ and that nobody has settled; with a viewer, those that they may know of."""
        return [
            trial
            for trial in self._by_trial
            if self.disagreed(trial) and (not viewer or self.of(trial, viewer) is not None)
        ]

    def undoable(self, who: str) -> Label | None:
        """This person's latest standing record: what an undo takes back. Undo again for the one before."""
        records = self._by_person.get(who)
        return records[-1] if records else None

    def last_cause(self, who: str) -> Cause | None:
        """The cause that this person gave last: what "same as the last" repeats."""
        for label in reversed(self._by_person.get(who, [])):
            if label.cause is not None:
                return label.cause
        return None

    def as_analysis_labels(self, state: RunState) -> Labels:
        """Causes as `engine.analysis.sensitivity` takes them. A disagreement that nobody settled is ambiguous."""
        found: dict[tuple[str, str, int], str] = {}
        for trial in self._by_trial:
            known = state.trials.get(trial)
            cause = Cause.AMBIGUOUS if self.disagreed(trial) else self.cause(trial)
            if known is not None and cause is not None:
                found[known.task, known.arm, known.attempt] = str(cause)
        return found


def load_labels(run: OpenedRun) -> LabelBook:
    """All labels of a run so far. Raises OSError where they can't be read; a run without labels has an empty book."""
    return LabelBook(open_labels(run).new_labels())


def _last(records: Iterable[Label], kind: str) -> Label | None:
    found = None
    for label in records:
        if label.kind == kind:
            found = label
    return found
