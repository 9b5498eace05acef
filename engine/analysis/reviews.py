"""What results cost people beside dollars (minutes of review, rework, issues that came back), and abstentions apart
from errors: an agent that says it can't is another thing than one that hands in something wrong."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import msgspec

from engine.analysis.cost import cost
from engine.analysis.trial_facts import ArmFacts
from engine.tables.review_table import Review, Trial


class ReviewRow(msgspec.Struct, frozen=True, kw_only=True):
    """`reviewed` of `finished` trials have a row. Sums are of what the rows say; None where none says it. `minutes` a
    resolved task are a lower bound where some trial's are unknown. `resolved`, `wrong` (a verdict, not passed, no
    abstention), `abstained` and `no_verdict` add up to `finished`."""

    benchmark: str
    arm: str
    finished: int
    reviewed: int
    resolved: int
    wrong: int
    abstained: int
    no_verdict: int
    minutes: float | None
    minutes_unknown: int
    minutes_per_resolved: float | None
    reworked: int | None
    reopened: float | None
    dollars_per_resolved: float | None
    dollars_are_lower_bound: bool


def review_rows(arms: Sequence[ArmFacts], benchmark: str, reviews: Mapping[Trial, Review]) -> list[ReviewRow]:
    """A row an arm of which something is told, none of others."""
    found = []
    for arm in arms:
        outcomes = [outcome for outcome in arm.outcomes(benchmark) if outcome.finished and not outcome.discarded]
        told = [reviews.get((arm.name, outcome.task, outcome.attempt)) for outcome in outcomes]
        known = [review for review in told if review is not None]
        if not known:
            continue
        minutes = [one.review_minutes for one in known if one.review_minutes is not None]
        reworked = [one.reworked for one in known if one.reworked is not None]
        reopened = [one.reopened for one in known if one.reopened is not None]
        pairs = list(zip(outcomes, told, strict=True))
        abstained = sum(bool(one and one.abstained) and not outcome.resolved for outcome, one in pairs)
        wrong = sum(outcome.scored and not outcome.resolved and not (one and one.abstained) for outcome, one in pairs)
        resolved = sum(outcome.resolved for outcome in outcomes)
        spent = cost(arm.outcomes(benchmark))
        total = math.fsum(minutes) if minutes else None
        found.append(
            ReviewRow(
                benchmark=benchmark,
                arm=arm.name,
                finished=len(outcomes),
                reviewed=len(known),
                resolved=resolved,
                wrong=wrong,
                abstained=abstained,
                no_verdict=len(outcomes) - resolved - wrong - abstained,
                minutes=total,
                minutes_unknown=len(outcomes) - len(minutes),
                minutes_per_resolved=total / resolved if total is not None and resolved else None,
                reworked=sum(reworked) if reworked else None,
                reopened=math.fsum(reopened) if reopened else None,
                dollars_per_resolved=spent.per_resolved,
                dollars_are_lower_bound=spent.unknown > 0,
            )
        )
    return found


def unmatched(arms: Sequence[ArmFacts], reviews: Mapping[Trial, Review]) -> int:
    """Rows that are about no trial of these arms."""
    trials = {(arm.name, fact.outcome.task, fact.outcome.attempt) for arm in arms for fact in arm.facts}
    return len(reviews.keys() - trials)
