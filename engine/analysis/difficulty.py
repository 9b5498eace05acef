"""How hard tasks turned out to be, from the results themselves; and results by what tasks say of themselves."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from engine.analysis.rates import arm_rate
from engine.analysis.trial_facts import ArmFacts, TrialFacts

TRIVIAL, EASY, MEDIUM, HARD, CHALLENGING = "trivial", "easy", "medium", "hard", "challenging"
TIERS = {
    TRIVIAL: "every run solves it",
    EASY: "more than 66 %, not all",
    MEDIUM: "more than 33 % to 66 %",
    HARD: "some, at most 33 %",
    CHALLENGING: "no run solves it",
}


class ArmTier(msgspec.Struct, frozen=True, kw_only=True):
    """How an arm does on the tasks of a tier; fractions. The tier was made from these very runs: it describes them."""

    arm: str
    passed: int
    of: int
    rate: float | None


class Tier(msgspec.Struct, frozen=True, kw_only=True):
    """Tasks of one benchmark whose runs, of all arms together, were solved this often. `runs`: (fewest, most) runs of
    one of its tasks; a tier from few runs is a guess."""

    benchmark: str
    tier: str
    meaning: str
    tasks: tuple[str, ...]
    runs: tuple[int, int]
    arms: tuple[ArmTier, ...]


class GroupRate(msgspec.Struct, frozen=True, kw_only=True):
    """An arm on the tasks of one category, or of one stated difficulty ("" where tasks state none)."""

    benchmark: str
    group: str
    arm: str
    tasks: int
    passed: int
    of: int
    rate: float | None
    interval: tuple[float, float] | None


def tier_of(passed: int, runs: int) -> str:
    """Shares are compared in whole numbers. Raises ValueError of no runs."""
    if not 0 <= passed <= runs or runs == 0:
        raise ValueError(f"{passed} of {runs} runs is no share")
    if passed == runs:
        return TRIVIAL
    if passed == 0:
        return CHALLENGING
    return EASY if 100 * passed > 66 * runs else MEDIUM if 100 * passed > 33 * runs else HARD


def tiers(arms: Sequence[ArmFacts], benchmark: str) -> list[Tier]:
    """All five, also the empty ones, over runs that came to their end: a broken environment makes no task hard. Tasks
    without such a run are in none of them, see `untiered`."""
    by_task: dict[str, list[tuple[str, bool]]] = {}
    for arm in arms:
        for task, facts in arm.by_task(benchmark).items():
            done = [(arm.name, fact.outcome.resolved) for fact in facts if _came_to_its_end(fact)]
            if done:
                by_task.setdefault(task, []).extend(done)
    placed: dict[str, list[str]] = {tier: [] for tier in TIERS}
    for task in sorted(by_task):
        verdicts = [passed for _, passed in by_task[task]]
        placed[tier_of(sum(verdicts), len(verdicts))].append(task)
    found = []
    for tier, tasks in placed.items():
        counts = [len(by_task[task]) for task in tasks]
        found.append(
            Tier(
                benchmark=benchmark,
                tier=tier,
                meaning=TIERS[tier],
                tasks=tuple(tasks),
                runs=(min(counts, default=0), max(counts, default=0)),
                arms=tuple(_arm_tier(arm.name, [run for task in tasks for run in by_task[task]]) for arm in arms),
            )
        )
    return found


def untiered(arms: Sequence[ArmFacts], benchmark: str) -> list[str]:
    """Tasks of which no run came to its end."""
    facts = [fact for arm in arms for fact in arm.of(benchmark) if not fact.outcome.discarded]
    placed = {fact.outcome.task for fact in facts if _came_to_its_end(fact)}
    return sorted({fact.outcome.task for fact in facts} - placed)


def _came_to_its_end(fact: TrialFacts) -> bool:
    return fact.outcome.finished and fact.outcome.completed and not fact.outcome.excluded


def _arm_tier(name: str, runs: Sequence[tuple[str, bool]]) -> ArmTier:
    own = [passed for arm, passed in runs if arm == name]
    return ArmTier(arm=name, passed=sum(own), of=len(own), rate=sum(own) / len(own) if own else None)


def by_category(arms: Sequence[ArmFacts], benchmark: str) -> list[GroupRate]:
    return _grouped(arms, benchmark, lambda fact: fact.category)


def by_difficulty(arms: Sequence[ArmFacts], benchmark: str) -> list[GroupRate]:
    """As tasks state it."""
    return _grouped(arms, benchmark, lambda fact: fact.difficulty)


def _grouped(arms: Sequence[ArmFacts], benchmark: str, of: Callable[[TrialFacts], str]) -> list[GroupRate]:
    """Nothing where no task says anything; a group that some tasks lack is ""."""
    facts = {arm.name: [fact for fact in arm.of(benchmark) if fact.outcome.finished] for arm in arms}
    groups = sorted({of(fact) for own in facts.values() for fact in own}, key=lambda group: (not group, group))
    if not any(groups):
        return []
    found = []
    for group in groups:
        for arm, own in facts.items():
            rate = arm_rate([fact.outcome for fact in own if of(fact) == group])
            if rate.of:
                found.append(
                    GroupRate(
                        benchmark=benchmark,
                        group=group,
                        arm=arm,
                        tasks=rate.tasks,
                        passed=rate.passed,
                        of=rate.of,
                        rate=rate.rate,
                        interval=rate.interval,
                    )
                )
    return found
