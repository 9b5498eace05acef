"""Which arms of which runs are compared, and the numbers worked out from them, in a thread. No widget."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from engine.analysis.arms import Arm, ArmRef, ArmTrials, NoSuchArm, arm_refs, pick, trials_of
from engine.analysis.compare_arms import Compared, TasksDiffer, compare_arms
from engine.analysis.given_families import families_in
from engine.analysis.labels import Labels
from engine.analysis.movers import Mover, movers
from engine.analysis.pairs import Attempts
from engine.runs.card_words import card_words
from engine.text import clean_line
from screens.runs_together import LabelsOf, RunsTogether
from screens.source import RunSource


@dataclass(frozen=True)
class Worked:
    """What a thread found. `problem` says why there is no comparison; `tasks_differ`: the common tasks can be asked
    for. `trials` are A's and B's, `key` what was asked."""

    key: object
    compared: Compared | None = None
    trials: tuple[ArmTrials, ArmTrials] | None = None
    movers: tuple[Mover, ...] = ()
    problem: str = ""
    tasks_differ: bool = False


@dataclass(frozen=True)
class Wish:
    """What a person asked for before the runs were read: names of arms (all where there are none) and how."""

    arms: tuple[str, ...] = ()
    baseline: str = ""
    attempts: Attempts = "all"
    common_tasks: bool = False
    join: bool = False
    labelled: bool = True
    families: str = ""
    """`category`, `prefix:SEPARATOR`, a CSV file with task,family, or nothing."""


class Comparing(RunsTogether):
    """`arms` are chosen, the first is the baseline; `other` is the place of B among them. Without a choice these are
    all arms of all runs, the same arm of several runs joined where `join` says so.

    Belongs to the UI thread, but for what `job` returns.
    """

    def __init__(self, sources: Sequence[RunSource], wish: Wish | None = None) -> None:
        wish = wish or Wish()
        super().__init__(sources)
        self.arms: list[Arm] = []
        self.other = 1
        self.attempts: Attempts = wish.attempts
        self.common_tasks = wish.common_tasks
        self.join = wish.join
        self.labelled = wish.labelled
        self.families = wish.families
        self.problem = ""
        self._wish = wish
        self._chosen = False
        self._baseline: tuple[ArmRef, ...] = ()
        self._against: tuple[ArmRef, ...] = ()
        """Of the arms that a person stepped to as A and as B."""

    # --- runs and arms ---

    @property
    def by_label(self) -> dict[str, RunSource]:
        return {label: source for source, label in self.labels.items()}

    @property
    def refs(self) -> list[ArmRef]:
        return arm_refs({label: source.state for source, label in self.labels.items()})

    def add(self, source: RunSource) -> None:
        if source not in self.sources:
            self.sources.append(source)

    def choose(self, arms: Sequence[Arm], other: int = 1) -> None:
        self.arms = list(arms)
        self.other = other
        self._chosen = True
        self._against = ()

    def settle(self) -> None:
        """Arms that have come since are taken in as long as nobody has chosen; those that are gone leave."""
        refs = self.refs
        if self._chosen:
            known = set(refs)
            self.arms = [arm for arm in self.arms if all(ref in known for ref in arm.refs)]
        else:
            states = {label: source.state for source, label in self.labels.items()}
            try:
                every = pick(states, self._wish.arms, self._wish.baseline, join=self.join)
            except NoSuchArm as error:  # it may be in a run that is yet to be read
                every, self.problem = [], clean_line(str(error))
            else:
                self.problem = ""
            # in the order of the runs, whichever was read first; a baseline that was stepped to stays in front
            first = next((place for place, arm in enumerate(every) if arm.refs == self._baseline), 0)
            self.arms = [*every[first:], *every[:first]]
        against = next((place for place, arm in enumerate(self.arms) if place and arm.refs == self._against), None)
        self.other = against if against is not None else self.other
        self.other = min(max(1, self.other), max(1, len(self.arms) - 1))

    @property
    def a(self) -> Arm | None:
        return self.arms[0] if self.arms else None

    @property
    def b(self) -> Arm | None:
        return self.arms[self.other] if self.other < len(self.arms) else None

    def step(self, step: int) -> bool:
        """Another arm as B. False where there is none."""
        others = len(self.arms) - 1
        if others < 2:
            return False
        self.other = 1 + (self.other - 1 + step) % others
        self._against = self.arms[self.other].refs
        return True

    def rotate(self) -> bool:
        """The next arm becomes the baseline."""
        if len(self.arms) < 2:
            return False
        self.arms = [*self.arms[1:], self.arms[0]]
        self.other = 1
        self._baseline, self._against = self.arms[0].refs, ()
        return True

    # --- what is known before any number ---

    @property
    def several_attempts(self) -> bool:
        joins = any(len(arm.refs) > 1 for arm in self.arms)
        return joins or any(plan.attempts > 1 for source in self.sources if (plan := source.state.plan) is not None)

    @property
    def context(self) -> str:
        """The task sets and the cards, each named once."""
        plans = [source.state.plan for source in self._shown_sources() if source.state.plan is not None]
        sets = [f"{plan.task_set.name} {plan.task_set.version[:12]}".strip() for plan in plans]
        digests = [(plan.card_digest or plan.task_set.digest).removeprefix("sha256:")[:7] for plan in plans]
        words = [clean_line(" and ".join(dict.fromkeys(word for word in sets if word)))]
        cards = list(dict.fromkeys(digest for digest in digests if digest))
        if cards:
            words.append(f"{'card' if len(cards) == 1 else 'cards'} {clean_line(', '.join(cards))}")
        return " · ".join(word for word in words if word)

    def _shown_sources(self) -> list[RunSource]:
        by_label = self.by_label
        labels = [ref.run for arm in (self.a, self.b) if arm is not None for ref in arm.refs]
        return [by_label[label] for label in dict.fromkeys(labels) if label in by_label]

    # --- numbers ---

    @property
    def key(self) -> object:
        return (tuple(self.arms), self.other, self.attempts, self.common_tasks, self.labelled, self.families)

    def job(self, labels_of: LabelsOf) -> Callable[[], Worked]:
        """To be called in a thread. Labels are taken now."""
        states = {label: source.state for source, label in self.labels.items()}
        labels: Mapping[str, Labels] = {}
        if self.labelled:
            labels = {label: labels_of(source) for source, label in self.labels.items()}
        arms, other, attempts = list(self.arms), self.other, self.attempts
        common, labelled, key, asked = self.common_tasks, self.labelled, self.key, self.families
        folders = {label: source.folder for source, label in self.labels.items() if source.run.ours}

        def work() -> Worked:
            try:
                families, separator = families_in(asked, states.values())
                trials = [trials_of(arm, states, labels) for arm in arms]
                compared = compare_arms(
                    trials,
                    other,
                    states,
                    attempts=attempts,
                    common_tasks=common,
                    labelled=labelled,
                    families=families,
                    separator=separator,
                    said=card_words(arms[0], arms[other], folders),
                )
            except TasksDiffer as error:
                return Worked(key, problem=clean_line(str(error)), tasks_differ=error.common > 0)
            except OSError as error:
                return Worked(key, problem=clean_line(f"{error.filename}: {error.strerror or error}"))
            except ValueError as error:
                return Worked(key, problem=clean_line(str(error)))
            a, b = trials[0], trials[other]
            moving = movers(a.outcomes, b.outcomes, {**a.labels, **b.labels}) if labelled else ()
            return Worked(key, compared, (a, b), moving)

        return work

    def trial(self, worked: Worked, side: int, task: str, attempt: int) -> tuple[RunSource, str] | None:
        """Where a trial of the comparison is: side 0 is A."""
        if worked.trials is None:
            return None
        found = worked.trials[side].origin.get((task, attempt))
        source = self.by_label.get(found[0]) if found is not None else None
        return (source, found[1]) if source is not None and found is not None else None
