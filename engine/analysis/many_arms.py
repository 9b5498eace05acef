"""Several arms against one baseline: each looked at is one more chance to be wrong, so p-values are adjusted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from engine.analysis.mcnemar import mcnemar
from engine.analysis.outcomes import TrialOutcome
from engine.analysis.pairs import firsts, form_pairs, tabulate


class Adjusted(msgspec.Struct, frozen=True, kw_only=True):
    """The exact McNemar p of one arm against the baseline, raw and by Holm's method over `looked_at` comparisons."""

    arm: str
    exact: float
    holm: float
    looked_at: int


def against_baseline(arms: Mapping[str, Iterable[TrialOutcome]], baseline: str) -> dict[str, Adjusted]:
    """Every other arm against `baseline`, of first attempts. Raises ValueError as `compare` does."""
    reference = list(arms[baseline])
    raw: dict[str, float] = {}
    for arm, outcomes in arms.items():
        if arm != baseline:
            table = tabulate(firsts(form_pairs(reference, outcomes)))
            raw[arm] = mcnemar(table.a_only, table.b_only).exact
    adjusted = holm(raw.values())
    return {
        arm: Adjusted(arm=arm, exact=p, holm=after, looked_at=len(raw))
        for (arm, p), after in zip(raw.items(), adjusted, strict=True)
    }


def holm(p_values: Iterable[float]) -> list[float]:
    """Adjusted p-values in the order given (Holm 1979): the smallest times n, the next times n − 1, never falling."""
    raw = list(p_values)
    adjusted = [0.0] * len(raw)
    highest = 0.0
    for rank, index in enumerate(sorted(range(len(raw)), key=raw.__getitem__)):
        highest = max(highest, min(1.0, (len(raw) - rank) * raw[index]))
        adjusted[index] = highest
    return adjusted


def ranks(intervals: Iterable[tuple[float, float] | None]) -> list[int]:
    """By overlap of intervals: 1 + the number of arms whose lower bound exceeds this one's upper bound. An arm without
    an interval is behind nobody."""
    known = list(intervals)
    return [
        1 + sum(1 for other in known if other is not None and own is not None and other[0] > own[1]) for own in known
    ]
