"""Which trials stand in the table and in what order: filter, sort and groups, with no terminal in sight."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from engine.state import RunState
from engine.trial_state import TrialState
from screens.format import arm_letter
from screens.trial_columns import ATTENTION, BY_NAME, CHANGING, SortKey, sort_key
from screens.trial_filter import Looking, TrialFilter, is_problem

GROUPINGS = ("", "task", "arm", "state")

_Entry = tuple[SortKey, int, str]


@dataclass
class Group:
    """A header row above its trials. `key` is no trial's id."""

    key: str
    title: str
    trials: int = 0
    counts: dict[str, int] = field(default_factory=dict)


class TrialRows:
    """`keys` are the rows from top to bottom, trial ids and, where grouped, keys of `groups`.

    Set what to show with the `set_…` methods, tell it what changed with `update`; both say whether rows moved.
    """

    def __init__(self, state: RunState) -> None:
        self.state = state
        self.keys: list[str] = []
        self.groups: dict[str, Group] = {}
        self.shown = 0
        self.filter: TrialFilter | None = None
        self.problems = False
        self.sort = "state"
        self.down = False
        self.grouping = ""
        self.collapsed: set[str] = set()
        self.marked: set[str] = set()
        self._entries: dict[str, _Entry] = {}
        self._index: dict[str, int] | None = None
        self.letters: dict[str, str] = {}
        self._arm_index: dict[str, int] = {}

    def index(self, key: str) -> int | None:
        if self._index is None:
            self._index = {key: index for index, key in enumerate(self.keys)}
        return self._index.get(key)

    def trial(self, key: str) -> TrialState | None:
        return self.state.trials.get(key)

    def rebuild(self, now: datetime) -> None:
        self._name_arms()
        looking = Looking(self.letters, now)
        entries = {}
        for trial in self.state.trials.values():
            entry = self._entry(trial, looking)
            if entry is not None:
                entries[trial.trial] = entry
        self._entries = entries
        self._arrange()

    def update(self, dirty: Iterable[str], now: datetime) -> bool:
        """After these trials changed: True if any row appeared, went or moved."""
        if len(self.letters) != len(self.state.arms):
            self.rebuild(now)
            return True
        looking = Looking(self.letters, now)
        moved = False
        for key in dirty:
            trial = self.state.trials.get(key)
            if trial is None:
                continue
            entry = self._entry(trial, looking)
            if entry != self._entries.get(key):
                moved = True
                if entry is None:
                    del self._entries[key]
                else:
                    self._entries[key] = entry
        if moved or self.grouping:
            before = self.keys
            self._arrange()
            return self.keys != before
        return False

    def tick(self, now: datetime) -> bool:
        """As time goes by: only an order by something that grows can change."""
        if self.sort not in CHANGING and self.filter is None:
            return False
        return self.update([trial.trial for trial in self.state.trials.values() if not trial.done], now)

    def set_filter(self, wanted: TrialFilter | None, now: datetime) -> None:
        self.filter = wanted
        self.rebuild(now)

    def set_problems(self, only: bool, now: datetime) -> None:
        self.problems = only
        self.rebuild(now)

    def set_sort(self, column: str, now: datetime, down: bool | None = None) -> None:
        """The same column again turns the direction round."""
        if down is None:
            down = not self.down if column == self.sort else BY_NAME[column].sort_down
        self.sort, self.down = column, down
        self.rebuild(now)

    def set_grouping(self, by: str, now: datetime) -> None:
        self.grouping = by
        self.collapsed.clear()
        self.rebuild(now)

    def fold(self, key: str, folded: bool | None = None) -> None:
        """Collapse or open a group; None turns it round."""
        if folded is None:
            folded = key not in self.collapsed
        (self.collapsed.add if folded else self.collapsed.discard)(key)
        self._arrange()

    def mark(self, key: str) -> None:
        """Mark a trial or take its mark away; of a group all trials that are shown, or, where all are marked, none."""
        chosen = {key} if key not in self.groups else {trial for trial in self._entries if self.group_of(trial) == key}
        if chosen <= self.marked:
            self.marked -= chosen
        else:
            self.marked |= chosen

    def next_problem(self, row: int, step: int) -> int | None:
        """The next row below (`step` 1) or above (-1) whose trial wants a look, past the end from the other side."""
        for away in range(1, len(self.keys) + 1):
            found = (row + step * away) % len(self.keys)
            trial = self.state.trials.get(self.keys[found])
            if trial is not None and is_problem(trial):
                return found
        return None

    def group_of(self, key: str) -> str | None:
        """The key of the group that a trial stands in."""
        trial = self.state.trials.get(key)
        return self._group_key(trial) if trial is not None and self.grouping else None

    # ---

    def _name_arms(self) -> None:
        self._arm_index = {name: index for index, name in enumerate(self.state.arms)}
        self.letters = {name: arm_letter(index) for name, index in self._arm_index.items()}

    def _entry(self, trial: TrialState, looking: Looking) -> _Entry | None:
        if self.problems and not is_problem(trial):
            return None
        if self.filter is not None and not self.filter(trial, looking):
            return None
        key = sort_key(self.sort, trial, self._arm_index.get(trial.arm, 0), looking.now)
        if self.down:  # the list is turned round afterwards: what has no value must still come last
            return ((-key[0], key[1], key[2]), -trial.position, trial.trial)
        return (key, trial.position, trial.trial)

    def _arrange(self) -> None:
        ordered = [entry[2] for entry in sorted(self._entries.values(), reverse=self.down)]
        self.shown = len(ordered)
        self.groups = {}
        self._index = None
        if not self.grouping:
            self.keys = ordered
            return
        members: dict[str, list[str]] = {}
        for key in ordered:
            trial = self.state.trials[key]
            group = self._group_key(trial)
            members.setdefault(group, []).append(key)
            if group not in self.groups:
                self.groups[group] = Group(group, self._group_title(trial))
            counts = self.groups[group].counts
            counts[trial.state] = counts.get(trial.state, 0) + 1
            self.groups[group].trials += 1
        keys: list[str] = []
        for group in sorted(members, key=self._group_order):
            keys.append(group)
            if group not in self.collapsed:
                keys += members[group]
        self.keys = keys

    def _group_key(self, trial: TrialState) -> str:
        return f"\0{self.grouping}\0{self._group_value(trial)}"

    def _group_value(self, trial: TrialState) -> str:
        return {"task": trial.task, "arm": trial.arm}.get(self.grouping, trial.state)

    def _group_title(self, trial: TrialState) -> str:
        value = self._group_value(trial)
        return f"{self.letters.get(value, '')}  {value}" if self.grouping == "arm" else value

    def _group_order(self, key: str) -> tuple[int, str]:
        value = key.rpartition("\0")[2]
        ranks = {"arm": self._arm_index, "state": ATTENTION}.get(self.grouping, {})
        return (ranks.get(value, 0), value)
