"""What a resolved task costs: all money over what was resolved. Unknown is not 0, nothing resolved is not
0 either.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import msgspec

from engine.analysis.bootstrap import DRAWS, SEED, ratio_interval
from engine.analysis.outcomes import TrialOutcome


class Cost(msgspec.Struct, frozen=True, kw_only=True):
    """Dollars. `total` is the sum of all known costs, failures and discarded records included; None where none is.
    `known` and `unknown` count records; one whose cost is known in part is among the unknown. With unknown ones every
    sum and `per_resolved` are lower bounds. `per_resolved` is None where nothing was resolved or no cost is known;
    `infrastructure` is what trials cost that never completed.
    """

    total: float | None
    discarded: float
    infrastructure: float
    known: int
    unknown: int
    resolved: int
    per_resolved: float | None
    is_lower_bound: bool


def cost(outcomes: Iterable[TrialOutcome]) -> Cost:
    records = list(outcomes)
    spent = [(record, record.cost_usd) for record in records if record.cost_usd is not None]
    for record, usd in spent:
        if not math.isfinite(usd) or usd < 0:
            raise ValueError(f"{record.task} attempt {record.attempt}: a cost of {usd} is no amount of money")
    total = math.fsum(usd for _, usd in spent) if spent else None
    # A trial that still waits has no cost yet; that is no unknown cost.
    unknown = sum(
        (record.cost_usd is None or record.cost_partial) and (record.finished or record.discarded) for record in records
    )
    resolved = sum(record.resolved and not record.discarded for record in records)
    return Cost(
        total=total,
        discarded=math.fsum(usd for record, usd in spent if record.discarded),
        infrastructure=math.fsum(
            usd for record, usd in spent if record.finished and not record.completed and not record.discarded
        ),
        known=sum(not record.cost_partial for record, _ in spent),
        unknown=unknown,
        resolved=resolved,
        per_resolved=total / resolved if total is not None and resolved else None,
        is_lower_bound=unknown > 0,
    )


def cost_interval(
    outcomes: Iterable[TrialOutcome], *, draws: int = DRAWS, seed: int = SEED
) -> tuple[float, float | None] | None:
    """Of the cost per resolved task, by resampling tasks. The upper end is None (unbounded) where too
    many resamples resolve nothing; all of it is None where `per_resolved` is, or rests on unknown costs.
    """
    records = list(outcomes)
    summary = cost(records)
    if summary.per_resolved is None or summary.is_lower_bound:
        return None
    tasks = sorted({record.task for record in records})
    place = {task: index for index, task in enumerate(tasks)}
    dollars, resolved = [0.0] * len(tasks), [0.0] * len(tasks)
    for record in records:
        dollars[place[record.task]] += record.cost_usd or 0.0
        resolved[place[record.task]] += record.resolved and not record.discarded
    spread = ratio_interval(dollars, resolved, draws=draws, seed=seed)
    return spread.low, spread.high if math.isfinite(spread.high) else None
