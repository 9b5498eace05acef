"""The cheaper arm first, the other on what it leaves unresolved: an estimate from paired outcomes, never a result."""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec

from engine.analysis.outcomes import TrialOutcome


class Cascade(msgspec.Struct, frozen=True, kw_only=True):
    """B on every task, A on those that B's first attempt didn't resolve. Dollars; None where a cost is unknown, and
    `per_resolved` also where nothing is resolved."""

    tasks: int
    resolved: int
    cost_total: float | None
    per_resolved: float | None


def cascade(first: Sequence[tuple[TrialOutcome, TrialOutcome]]) -> Cascade | None:
    """`first`: both first attempts of each task, A's before B's. None without a pair."""
    if not first:
        return None
    costs = [b.cost_usd for _, b in first] + [a.cost_usd for a, b in first if not b.resolved]
    known = [usd for usd in costs if usd is not None]
    resolved = sum(a.resolved or b.resolved for a, b in first)
    total = math.fsum(known) if len(known) == len(costs) else None
    return Cascade(
        tasks=len(first),
        resolved=resolved,
        cost_total=total,
        per_resolved=total / resolved if total is not None and resolved else None,
    )
