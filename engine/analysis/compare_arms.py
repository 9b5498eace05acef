"""Arms of one run or several compared: A against B in full, and every arm against the baseline in short."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from engine.analysis.arms import ArmTrials
from engine.analysis.bootstrap import DRAWS, SEED
from engine.analysis.compare import Comparison, compare
from engine.analysis.many_arms import Adjusted, against_baseline, ranks
from engine.analysis.outcomes import assigned, only_first_attempts
from engine.analysis.pairs import Attempts, difference, form_pairs
from engine.analysis.rates import Rate, live_rate
from engine.analysis.run_differences import CONTROLLED, PRODUCT, Differences, of_arms
from engine.analysis.wording import listed, many
from engine.state import RunState
from engine.tables.near_equal import near_equal_note


class TasksDiffer(ValueError):
    """Tasks on one side only, and nobody said that the common ones may be compared alone."""

    def __init__(self, only_in_a: Sequence[str], only_in_b: Sequence[str], common: int) -> None:
        self.only_in_a, self.only_in_b, self.common = tuple(only_in_a), tuple(only_in_b), common
        parts = [
            f"{many(len(tasks), 'task')} only in {side}: {listed(tasks)}"
            for side, tasks in (("A", self.only_in_a), ("B", self.only_in_b))
            if tasks
        ]
        super().__init__(f"the arms have different tasks, {common:,} in common. {'; '.join(parts)}")


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """One of several arms: its rate, its rank by overlap of intervals, and how it differs from the baseline (A − it);
    `difference` and `adjusted` are None for the baseline itself."""

    name: str
    rate: Rate
    rank: int
    difference: float | None
    low: float | None
    high: float | None
    adjusted: Adjusted | None


class Compared(msgspec.Struct, frozen=True, kw_only=True):
    """`found` is the baseline against one other arm; `standings` are there with more than two arms, baseline first."""

    found: Comparison
    differences: Differences
    standings: tuple[Standing, ...] = ()

    @property
    def adjusted(self) -> Adjusted | None:
        """Of the other arm, where more than one was looked at."""
        other = self.found.arms[1].name
        return next((arm.adjusted for arm in self.standings if arm.name == other), None)


def compare_arms(
    arms: Sequence[ArmTrials],
    other: int,
    runs: Mapping[str, RunState],
    *,
    attempts: Attempts = "all",
    common_tasks: bool = False,
    labelled: bool = True,
    draws: int = DRAWS,
    seed: int = SEED,
    said: Differences | None = None,
    families: Mapping[str, str] | None = None,
    separator: str = "",
) -> Compared:
    """The first of `arms` is the baseline A, `arms[other]` is B. `labelled` False leaves every label out. `said` is
    what the run cards of both say beside their events; its question is the one that they were written for.
    `families` and `separator` are as `families_of` takes them.

    Raises TasksDiffer, or ValueError as `compare` does.
    """
    a, b = arms[0], arms[other]
    if {ref.run for ref in a.arm.refs} != {ref.run for ref in b.arm.refs}:
        _check_tasks(a, b, common_tasks)
    apart = _with_cards(of_arms(a.arm, b.arm, runs), said or Differences())
    found = compare(
        a.outcomes,
        b.outcomes,
        attempts=attempts,
        draws=draws,
        seed=seed,
        labels={**a.labels, **b.labels} if labelled else None,
        card_differences=apart.cards,
        card_unknowns=apart.unknown,
        names=(a.name, b.name),
        question=apart.question,
        families=families,
        separator=separator,
    )
    note = near_equal_note({outcome.task for arm in (a, b) for outcome in arm.outcomes})
    if note:
        found = msgspec.structs.replace(found, notes=(*found.notes, note))
    standings = _standings(arms, attempts, draws, seed) if len(arms) > 2 else ()
    return Compared(found=found, differences=apart, standings=standings)


def _with_cards(found: Differences, said: Differences) -> Differences:
    cards = (*found.cards, *said.cards)
    if said.question == CONTROLLED and found.question == PRODUCT:
        cards += (f'the card asks about a "{CONTROLLED}", yet more than the model differs between the arms',)
    return msgspec.structs.replace(found, cards=cards, unknown=(*found.unknown, *said.unknown))


def _check_tasks(a: ArmTrials, b: ArmTrials, common_tasks: bool) -> None:
    tasks_a, tasks_b = ({trial.task for trial in assigned(arm.outcomes)} for arm in (a, b))
    common = tasks_a & tasks_b
    if tasks_a != tasks_b and not (common_tasks and common):
        raise TasksDiffer(sorted(tasks_a - tasks_b), sorted(tasks_b - tasks_a), len(common))


def _standings(arms: Sequence[ArmTrials], attempts: Attempts, draws: int, seed: int) -> tuple[Standing, ...]:
    outcomes = {
        arm.name: only_first_attempts(arm.outcomes) if attempts == "first" else list(arm.outcomes) for arm in arms
    }
    adjusted = against_baseline(outcomes, arms[0].name)
    rates = {name: live_rate(trials, draws=draws, seed=seed) for name, trials in outcomes.items()}
    ranked = ranks([rate.interval for rate in rates.values()])
    standings = []
    for arm, rank in zip(arms, ranked, strict=True):
        delta = None
        if arm is not arms[0]:
            delta = difference(form_pairs(outcomes[arms[0].name], outcomes[arm.name]), draws=draws, seed=seed)
        standings.append(
            Standing(
                name=arm.name,
                rate=rates[arm.name],
                rank=rank,
                difference=delta.estimate if delta is not None else None,
                low=delta.low if delta is not None else None,
                high=delta.high if delta is not None else None,
                adjusted=adjusted.get(arm.name),
            )
        )
    return tuple(standings)
