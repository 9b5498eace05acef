"""Refusals and fallbacks: neither plain failures nor plain successes, so they are counted on their own and scored both
ways. A fallback is a trial in which another model than the session's first answered."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from engine.analysis.trial_facts import ArmFacts, TrialFacts

REFUSAL, FALLBACK = "refused", "fell back"


class BothWays(msgspec.Struct, frozen=True, kw_only=True):
    """`count` trials of `looked_at` whose sessions were read (of `of` finished ones). Rates are passes of finished
    trials: as they are, with all of these counted as successes, with all as failures."""

    benchmark: str
    arm: str
    what: str
    count: int
    passed: int
    looked_at: int
    of: int
    rate: float | None
    as_successes: float | None
    as_failures: float | None


def both_ways(arms: Sequence[ArmFacts], benchmark: str) -> list[BothWays]:
    """Two rows an arm whose sessions somebody read, none of others."""
    found = []
    for arm in arms:
        finished = [fact for fact in arm.of(benchmark) if fact.outcome.finished and not fact.outcome.discarded]
        if any(fact.seen is not None for fact in finished):
            found.append(_row(arm.name, benchmark, REFUSAL, finished, _refused))
            found.append(_row(arm.name, benchmark, FALLBACK, finished, _fell_back))
    return found


def _refused(fact: TrialFacts) -> bool:
    return fact.seen is not None and fact.seen.refused


def _fell_back(fact: TrialFacts) -> bool:
    return fact.seen is not None and fact.seen.fell_back


def _row(
    arm: str, benchmark: str, what: str, finished: Sequence[TrialFacts], is_one: Callable[[TrialFacts], bool]
) -> BothWays:
    of = len(finished)
    ones = [fact for fact in finished if is_one(fact)]
    passed = sum(fact.outcome.resolved for fact in finished)
    their = sum(fact.outcome.resolved for fact in ones)
    return BothWays(
        benchmark=benchmark,
        arm=arm,
        what=what,
        count=len(ones),
        passed=their,
        looked_at=sum(fact.seen is not None for fact in finished),
        of=of,
        rate=passed / of,
        as_successes=(passed - their + len(ones)) / of,
        as_failures=(passed - their) / of,
    )
