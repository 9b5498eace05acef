"""Everything that `trialdeck analyse` says of arms over one benchmark or several. Fractions, seconds and dollars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from engine.analysis.benchmark_index import Index, indices
from engine.analysis.bootstrap import DRAWS, SEED
from engine.analysis.conditions import FactorRow, TimeBlocks, time_blocks, timeout_factors
from engine.analysis.difficulty import GroupRate, Tier, by_category, by_difficulty, tiers, untiered
from engine.analysis.effort_sweep import EffortSweep, effort_sweeps
from engine.analysis.expected import Expected, expected
from engine.analysis.hierarchical import FamilyDifference, family_difference
from engine.analysis.many_arms import ranks
from engine.analysis.pairs import form_pairs
from engine.analysis.pass_at_k import PassAtK, pass_at_k
from engine.analysis.rates import live_rate
from engine.analysis.refusals import BothWays, both_ways
from engine.analysis.reviews import ReviewRow, review_rows, unmatched
from engine.analysis.score_by_steps import StepCurve, step_curve
from engine.analysis.trial_facts import ArmFacts, benchmarks_of
from engine.analysis.wording import listed, many
from engine.tables.near_equal import near_equal_note
from engine.tables.review_table import Review, Trial

_MOST_K = 10


class Ranked(msgspec.Struct, frozen=True, kw_only=True):
    """An arm on one benchmark: passes of `of` assigned trials (`rate_of` "finished" while some are missing), its rank
    by overlap of intervals among the arms there, and pass@k for k from 2 to the attempts of a task, at most 10."""

    benchmark: str
    arm: str
    rank: int
    tasks: int
    attempts: int
    assigned: int
    completed: int
    scored: int
    excluded: int
    passed: int
    of: int
    rate_of: str
    rate: float | None
    interval: tuple[float, float] | None
    interval_method: str
    pass_at_k: tuple[PassAtK, ...]


class Analysis(msgspec.Struct, frozen=True, kw_only=True):
    """Lists are by benchmark, then by arm. A list is empty where nothing in the runs speaks of it."""

    version: int = 1
    benchmarks: tuple[str, ...]
    arms: tuple[str, ...]
    ranked: tuple[Ranked, ...]
    indices: tuple[Index, ...]
    tiers: tuple[Tier, ...]
    categories: tuple[GroupRate, ...]
    difficulties: tuple[GroupRate, ...]
    timeout_factors: tuple[FactorRow, ...]
    time_blocks: tuple[TimeBlocks, ...]
    expected: tuple[Expected, ...]
    step_curves: tuple[StepCurve, ...]
    effort_sweeps: tuple[EffortSweep, ...]
    refusals: tuple[BothWays, ...]
    reviews: tuple[ReviewRow, ...] = ()
    sources: tuple[str, ...] = ()
    families: tuple[FamilyDifference, ...]
    notes: tuple[str, ...]
    draws: int
    seed: int


def analyse(
    arms: Sequence[ArmFacts],
    *,
    also: Sequence[str] = (),
    weights: Mapping[str, float] | None = None,
    attempts: int | None = None,
    families: Mapping[str, str] | None = None,
    separator: str = "",
    reviews: Mapping[Trial, Review] | None = None,
    sources: Sequence[str] = (),
    notes: Sequence[str] = (),
    draws: int = DRAWS,
    seed: int = SEED,
) -> Analysis:
    """The first arm is the baseline of differences. `also` are benchmarks that belong to the index though no run is of
    them; `attempts` states a task's attempts anew; `families` leads from a task to its family, `separator` ends the
    family in a task's name, and without both the category is it; `reviews` are what
    people did with results afterwards, `sources` say where the runs come from. Raises ValueError as `indices` does."""
    there = benchmarks_of(arms)
    benchmarks = [*there, *(name for name in also if name not in there)]
    on = {benchmark: [arm for arm in arms if arm.of(benchmark)] for benchmark in there}
    return Analysis(
        benchmarks=tuple(benchmarks),
        arms=tuple(arm.name for arm in arms),
        ranked=tuple(row for name, own in on.items() for row in _ranked(own, name, draws, seed)),
        indices=tuple(indices(arms, benchmarks, weights=weights, attempts=attempts, draws=draws, seed=seed)),
        tiers=tuple(row for name, own in on.items() for row in tiers(own, name)),
        categories=tuple(row for name, own in on.items() for row in by_category(own, name)),
        difficulties=tuple(row for name, own in on.items() for row in by_difficulty(own, name)),
        timeout_factors=tuple(row for name, own in on.items() for row in timeout_factors(own, name)),
        time_blocks=tuple(time_blocks(own, name) for name, own in on.items()),
        expected=tuple(row for arm in arms for row in expected(arm, there)),
        step_curves=tuple(
            curve for name, own in on.items() for arm in own if (curve := step_curve(arm, name, seed=seed)) is not None
        ),
        effort_sweeps=tuple(
            sweep for name, own in on.items() for sweep in effort_sweeps(own, name, draws=draws, seed=seed)
        ),
        refusals=tuple(row for name, own in on.items() for row in both_ways(own, name)),
        reviews=tuple(row for name, own in on.items() for row in review_rows(own, name, reviews or {})),
        families=tuple(
            row for name, own in on.items() for row in _families(own, name, families or {}, separator, draws, seed)
        ),
        sources=tuple(sources),
        notes=(*_notes(arms, on), *_of_reviews(arms, reviews), *notes),
        draws=draws,
        seed=seed,
    )


def _of_reviews(arms: Sequence[ArmFacts], reviews: Mapping[Trial, Review] | None) -> list[str]:
    lost = unmatched(arms, reviews) if reviews else 0
    return [f"{many(lost, 'row')} of the reviews about no trial of these arms"] if lost else []


def _ranked(arms: Sequence[ArmFacts], benchmark: str, draws: int, seed: int) -> list[Ranked]:
    rates = [live_rate(arm.outcomes(benchmark), draws=draws, seed=seed) for arm in arms]
    found = []
    for arm, rate, rank in zip(arms, rates, ranks([rate.interval for rate in rates]), strict=True):
        trials = [fact.outcome for facts in arm.by_task(benchmark).values() for fact in facts]
        most = max((len(facts) for facts in arm.by_task(benchmark).values()), default=0)
        found.append(
            Ranked(
                benchmark=benchmark,
                arm=arm.name,
                rank=rank,
                tasks=len(arm.by_task(benchmark)),
                attempts=most,
                assigned=len(trials),
                completed=sum(trial.completed for trial in trials),
                scored=sum(trial.scored for trial in trials),
                excluded=sum(trial.excluded for trial in trials),
                passed=rate.passed,
                of=rate.of,
                rate_of="assigned" if rate.of == len(trials) else "finished",
                rate=rate.rate,
                interval=rate.interval,
                interval_method=rate.method,
                pass_at_k=tuple(pass_at_k(trials, k, draws=draws, seed=seed) for k in range(2, min(most, _MOST_K) + 1)),
            )
        )
    return found


def _families(
    arms: Sequence[ArmFacts], benchmark: str, given: Mapping[str, str], separator: str, draws: int, seed: int
) -> list[FamilyDifference]:
    """Nothing where every task is a family of its own."""
    if not given and not separator:
        given = {fact.outcome.task: fact.category for arm in arms for fact in arm.of(benchmark) if fact.category}
    found = []
    for arm in arms[1:]:
        pairs = form_pairs(arms[0].outcomes(benchmark), arm.outcomes(benchmark))
        row = family_difference(
            (arms[0].name, arm.name), pairs, given, separator, benchmark=benchmark, draws=draws, seed=seed
        )
        found += [row] if row is not None else []
    return found


def _notes(arms: Sequence[ArmFacts], on: Mapping[str, Sequence[ArmFacts]]) -> list[str]:
    notes = []
    for benchmark, own in on.items():
        sets = {frozenset(arm.by_task(benchmark)) for arm in own}
        if len(sets) > 1:
            common = len(frozenset.intersection(*sets))
            notes.append(
                f"{benchmark}: arms have different tasks, {many(common, 'task')} in common; ranks and rates are of "
                "each arm's own tasks"
            )
        without = untiered(own, benchmark)
        if without:
            notes.append(
                f"{benchmark}: {many(len(without), 'task')} without a run that came to its end, in no tier of "
                f"difficulty: {listed(without, 3)}"
            )
        waiting = sum(not fact.outcome.finished for arm in own for fact in arm.of(benchmark))
        if waiting:
            notes.append(f"{benchmark}: {many(waiting, 'trial')} not finished, rates are of finished trials")
        for row in own:
            excluded = sum(fact.outcome.excluded for fact in row.of(benchmark))
            if excluded:
                notes.append(
                    f"{benchmark}: {many(excluded, 'trial')} of {row.name} labelled infrastructure, still assigned here"
                )
    near = near_equal_note({fact.outcome.task for arm in arms for fact in arm.facts})
    return [*notes, *([near] if near else [])]
