"""Which trials stand in the table and in what order: filter, sort and groups, with no terminal in sight."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from datetime import datetime
from time import perf_counter

from engine import trial_state
from engine.state import RunState
from engine.trial_state import TrialState
from screens.causes import Causes, cause_text, wants_decision
from screens.format import arm_letter
from screens.pieces import cells
from screens.trial_columns import ATTENTION, BY_NAME, CHANGING, MISSING, SortKey, sort_key
from screens.trial_fields import Looking, is_problem
from screens.trial_filter import TrialFilter
from screens.trial_group import Group
from screens.trial_order import NO_KEY, PIECE, Entry, Order, entry
from screens.trial_scrap import Scrap

GROUPINGS = ("", "task", "arm", "state")
LARGE = 3_000
"""Trials from which on arranging all of them is done in pieces, between keys."""
MOST_MOVED = 400
"""Trials of a large run that are moved one by one; if more have changed, all is arranged anew."""


class TrialRows:
    """`keys` are the rows from top to bottom, trial ids and, where grouped, keys of `groups`. Set what to show with the
    `set_…` methods, tell it what changed with `update`. A run of up to `LARGE` trials is
    arranged on the spot. A larger one is `behind` after that: call `step` until it isn't; the rows stay till then."""

    def __init__(self, state: RunState) -> None:
        self.state = state
        self.keys: list[str] = []
        self.groups: dict[str, Group] = {}
        self.filter: TrialFilter | None = None
        self.problems = False
        self.sort = "state"
        self.down = False
        self.second = ""
        self.second_down = False
        self.grouping = ""
        self.collapsed: set[str] = set()
        self.marked: set[str] = set()
        self.causes: Causes | None = None
        self.letters: dict[str, str] = {}
        self.problem_keys: set[str] = set()
        self.running: set[str] = set()
        self.longest_task = 0
        self._order = Order()
        self._index: dict[str, int] = {}  # of grouped rows
        self._arm_index: dict[str, int] = {}
        self._late: set[str] = set()
        self._arranges = False
        self._scrap = Scrap()
        self._again: datetime | None = None
        self._work: Iterator[bool] | None = None

    @property
    def shown(self) -> int:
        """Trials that filter and problems let through, those in closed groups among them."""
        return len(self._order)

    @property
    def large(self) -> bool:
        return len(self.state.trials) > LARGE

    @property
    def behind(self) -> bool:
        """Whether `step` has something to do."""
        return self._work is not None

    def index(self, key: str) -> int | None:
        return self._index.get(key) if self.groups else self._order.row(key)

    def trial(self, key: str) -> TrialState | None:
        return self.state.trials.get(key)

    # --- keeping up ---

    def rebuild(self, now: datetime) -> None:
        """Arrange everything, on the spot."""
        self._work = self._arranging(now)
        while self._work is not None:
            self.step(1.0)

    def arrange(self, now: datetime) -> None:
        """Everything; on the spot or, of a large run, from the next `step` on."""
        self._anew(now)

    def step(self, budget_sec: float) -> bool:
        """Go on with what is to be done, for about that long. True once, when new rows are there."""
        work, until = self._work, perf_counter() + budget_sec
        there = False
        while work is not None:
            said = next(work, None)
            if said is None:
                self._work = None
                if self._again is not None:
                    self._anew(self._again)
                break
            there |= said
            if perf_counter() > until:
                break
        return there

    def update(self, dirty: Collection[str], now: datetime) -> bool:
        """After these trials changed: True if any row appeared, went or moved."""
        self._note(dirty)
        if self._arranges:
            self._late.update(dirty)
            return False
        if self._late:
            dirty = self._late.union(dirty)
        many = self.large and (len(dirty) > MOST_MOVED or bool(self.grouping))
        if many or len(self.letters) != len(self.state.arms):
            return self._anew(now)
        return self._moved(dirty, now)

    def tick(self, now: datetime) -> bool:
        """As time goes by: only what asks for something that grows can change."""
        if self.sort not in CHANGING and not (self.filter is not None and self.filter.changes_with_time):
            return False
        return self.update(set(self.running), now)

    # --- what to show ---

    def set_filter(self, wanted: TrialFilter | None, now: datetime) -> None:
        self.filter = wanted
        self._anew(now)

    def set_problems(self, only: bool, now: datetime) -> None:
        self.problems = only
        self._anew(now)

    def set_sort(self, column: str, now: datetime, down: bool | None = None) -> None:
        """The same column again turns the direction round; another one makes it the second key."""
        if column != self.sort:
            self.second, self.second_down = self.sort, self.down
        if down is None:
            down = not self.down if column == self.sort else BY_NAME[column].sort_down
        self.sort, self.down = column, down
        self._anew(now)

    def set_grouping(self, by: str, now: datetime) -> None:
        self.grouping = by
        self.collapsed.clear()
        self._anew(now)

    def set_causes(self, causes: Causes | None, now: datetime) -> None:
        """Also where what they say has changed."""
        self.causes = causes
        asked = self.filter is not None and not self.filter.fields.isdisjoint(("cause", "decided"))
        if not asked and "cause" not in (self.sort, self.second):
            return
        if self._arranges:  # what began is brought to its end: causes come one after the other
            self._again = now
        else:
            self._anew(now)

    def fold(self, key: str, folded: bool | None = None) -> None:
        """Collapse or open a group; None turns it round."""
        if folded is None:
            folded = key not in self.collapsed
        (self.collapsed.add if folded else self.collapsed.discard)(key)
        if self._arranges:
            return
        if self.large:
            self._arranges = True
            self._work = self._folding()
        else:
            for _ in self._composing(self._order):
                pass

    # --- marks ---

    def mark(self, key: str) -> None:
        """Mark a trial or take its mark away; of a group all trials that are shown, or, where all are marked, none."""
        chosen = (
            {key} if key not in self.groups else {trial for trial in self._order.keys if self.group_of(trial) == key}
        )
        if chosen <= self.marked:
            self.marked -= chosen
        else:
            self.marked |= chosen

    def mark_rows(self, first: int, last: int) -> None:
        """All trials from one row to another, whichever is above."""
        low, high = sorted((first, last))
        self.marked.update(key for key in self.keys[low : high + 1] if key not in self.groups)

    def mark_shown(self) -> None:
        self.marked.update(self._order.keys)

    def invert_marks(self) -> None:
        """Of what is shown; a marked trial that the filter hides stays marked."""
        self.marked ^= set(self._order.keys)

    def marks_changed(self, now: datetime) -> bool:
        """True where the filter asks for marks and all is arranged anew."""
        if self.filter is None or "marked" not in self.filter.fields:
            return False
        self._anew(now)
        return True

    def chosen(self, cursor: str | None) -> list[TrialState]:
        """The marked trials, those that are shown first and in their order; without marks the one under the cursor."""
        if not self.marked:
            trial = self.state.trials.get(cursor or "")
            return [trial] if trial is not None else []
        seen = [key for key in self._order.keys if key in self.marked]
        hidden = self.marked.difference(seen)
        return [self.state.trials[key] for key in [*seen, *sorted(hidden)] if key in self.state.trials]

    # --- looking for ---

    def next_problem(self, row: int, step: int) -> int | None:
        """The next row below (`step` 1) or above (-1) whose trial wants a look, past the end from the other side."""
        problems = self.problem_keys
        return self._next(row, step, lambda key: key in problems)

    def next_undecided(self, row: int, step: int) -> int | None:
        """The same for trials that nobody has decided on."""
        trials, problems, causes = self.state.trials, self.problem_keys, self.causes
        return self._next(row, step, lambda key: key in problems and wants_decision(trials[key], causes))

    def _next(self, row: int, step: int, wanted: Callable[[str], bool]) -> int | None:
        keys = self.keys
        if not self.problem_keys or not keys:
            return None
        for away in range(1, len(keys) + 1):
            found = (row + step * away) % len(keys)
            if wanted(keys[found]):
                return found
        return None

    def group_of(self, key: str) -> str | None:
        """The key of the group that a trial stands in."""
        trial = self.state.trials.get(key)
        return self._group_key(trial) if trial is not None and self.grouping else None

    # --- arranging ---

    def _anew(self, now: datetime) -> bool:
        """Arrange all: at once where it costs little, else from the next `step` on."""
        if not self.large:
            before = self.keys
            self.rebuild(now)
            return self.keys != before
        self._arranges = True
        self._scrap.abandon()
        self._work = self._arranging(now)
        return False

    def _arranging(self, now: datetime) -> Iterator[bool]:
        """Yields False between two pieces, and True once the new rows are there."""
        self._again = None
        self._arranges = True
        self._name_arms()
        self._late.clear()
        looking = self._looking(now)
        trials = list(self.state.trials.values())
        work = self._scrap.begin(self.down)
        for start in range(0, len(trials), PIECE):
            piece = trials[start : start + PIECE]
            self._note_all(piece)
            work.parts.append([found for trial in piece if (found := self._entry(trial, looking)) is not None])
            yield False
        for _ in work.order.fill(work.parts, work.buckets):
            yield False
        before = self._order
        for _ in self._composing(work.order):
            yield False
        self._scrap.replace(before)
        self._catch_up(now)
        yield True
        for _ in self._scrap.free():
            yield False

    def _folding(self) -> Iterator[bool]:
        for _ in self._composing(self._order):
            yield False
        self._arranges = False
        yield True

    def _catch_up(self, now: datetime) -> None:
        """With what has changed since it was looked at."""
        self._arranges = False
        late, self._late = self._late, set()
        if late and self.large and (self.grouping or len(late) > MOST_MOVED):
            self._late = late
        elif late:
            self._moved(late, now)

    def _moved(self, dirty: Iterable[str], now: datetime) -> bool:
        looking = self._looking(now)
        moved = False
        for key in dirty:
            trial = self.state.trials.get(key)
            if trial is not None:
                moved |= self._order.put(key, self._entry(trial, looking))
            elif key:  # withdrawn
                moved |= self._order.put(key, None)
        if not self.grouping:
            self.keys = self._order.keys
            return moved
        before = self.keys
        for _ in self._composing(self._order):
            pass
        return self.keys != before

    def _looking(self, now: datetime) -> Looking:
        return Looking(self.letters, now, self.marked, self.causes)

    def _name_arms(self) -> None:
        self._arm_index = {name: index for index, name in enumerate(self.state.arms)}
        self.letters = {name: arm_letter(index) for name, index in self._arm_index.items()}

    def _note(self, dirty: Iterable[str]) -> None:
        trials = self.state.trials
        self._note_all([trials[key] for key in dirty if key in trials])
        gone = [key for key in dirty if key not in trials]
        self.problem_keys.difference_update(gone)
        self.running.difference_update(gone)

    def _note_all(self, trials: Iterable[TrialState]) -> None:
        """What has to be known of all trials at any moment, kept up to date trial by trial."""
        for key, trial in ((trial.trial, trial) for trial in trials):
            (self.problem_keys.add if is_problem(trial) else self.problem_keys.discard)(key)
            (self.running.add if trial.state == trial_state.RUNNING else self.running.discard)(key)
            if len(trial.task) * 2 > self.longest_task:
                self.longest_task = max(self.longest_task, cells(trial.task))

    def _entry(self, trial: TrialState, looking: Looking) -> Entry | None:
        if self.problems and not is_problem(trial):
            return None
        if self.filter is not None and not self.filter(trial, looking):
            return None
        first = self._sort_key(self.sort, trial, looking)
        second = self._sort_key(self.second, trial, looking) if self.second else NO_KEY
        return entry(first, second, self.down, self.second_down, trial.position, trial.trial)

    def _sort_key(self, column: str, trial: TrialState, looking: Looking) -> SortKey:
        if column == "cause":
            text = cause_text(self.causes, trial)
            return (0, 0.0, text) if text else MISSING
        return sort_key(column, trial, self._arm_index.get(trial.arm, 0), looking.now)

    def _composing(self, order: Order) -> Iterator[None]:
        """The rows of an order: itself, or its groups; they take the place of what stood there at the end."""
        if not self.grouping:
            self._order, self.groups, self.keys, self._index = order, {}, order.keys, {}
            return
        members: dict[str, list[str]] = {}
        groups: dict[str, Group] = {}
        names: list[tuple[int, str, str]] = []
        for number, key in enumerate(order.keys):
            trial = self.state.trials.get(key)
            if trial is None:
                continue
            name = self._group_key(trial)
            group = groups.get(name)
            if group is None:
                group = groups[name] = Group(name, self._group_title(trial))
                members[name] = []
                names.append((*self._group_order(name), name))
            members[name].append(key)
            group.counts[trial.state] = group.counts.get(trial.state, 0) + 1
            group.trials += 1
            if number % PIECE == PIECE - 1:
                yield
        keys: list[str] = []
        index: dict[str, int] = {}
        names.sort()
        for _, _, name in names:
            shown = [name] if name in self.collapsed else [name, *members[name]]
            for start in range(0, len(shown), 10 * PIECE):
                piece = shown[start : start + 10 * PIECE]
                index.update(zip(piece, range(len(keys), len(keys) + len(piece)), strict=True))
                keys += piece
                if len(keys) % (10 * PIECE) < len(piece):
                    yield
        self._order, self.groups, self.keys, self._index = order, groups, keys, index

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
