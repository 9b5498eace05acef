"""How often each cause struck each arm, and whether two arms differ in it by more than chance."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from itertools import combinations

import msgspec

from engine.analysis.labels import Labels
from engine.analysis.many_arms import holm
from engine.state import RunState
from engine.triage.causes import Cause
from engine.trial_state import FAILED, PASSED, REFUSED, UNSCORED

UNLIKELY = 0.05
"""An adjusted p below this is flagged."""


class ArmCauses(msgspec.Struct, frozen=True, kw_only=True):
    """Counts of one arm. `failures` are trials without a pass that are over; `undecided` of those have no cause yet.
    `causes` counts labels, those on `passes` included."""

    arm: str
    assigned: int
    failures: int
    undecided: int
    causes: dict[Cause, int]
    passes: int = 0

    def of_assigned(self, cause: Cause) -> float | None:
        return self.causes.get(cause, 0) / self.assigned if self.assigned else None

    def of_failures(self, cause: Cause) -> float | None:
        return self.causes.get(cause, 0) / self.failures if self.failures else None


class Asymmetry(msgspec.Struct, frozen=True, kw_only=True):
    """One cause in two arms, of all assigned trials: Fisher's exact p, two-sided, raw and by Holm's method over
    `looked_at` such comparisons."""

    cause: Cause
    a: str
    b: str
    count_a: int
    count_b: int
    p: float
    adjusted: float
    looked_at: int

    @property
    def flagged(self) -> bool:
        return self.adjusted < UNLIKELY


def causes_by_arm(state: RunState, labels: Labels) -> list[ArmCauses]:
    """Arms in the plan's order; `labels` as `LabelBook.as_analysis_labels` gives them."""
    failures: Counter[str] = Counter()
    undecided: Counter[str] = Counter()
    passes: Counter[str] = Counter()
    counts: dict[str, Counter[Cause]] = {arm: Counter() for arm in state.arms}
    for trial in state.trials.values():
        cause = labels.get((trial.task, trial.arm, trial.attempt))
        if trial.state in (FAILED, UNSCORED, REFUSED):
            failures[trial.arm] += 1
            undecided[trial.arm] += cause is None
        if cause is not None:
            counts[trial.arm][Cause(cause)] += 1
            passes[trial.arm] += trial.state == PASSED
    return [
        ArmCauses(
            arm=name,
            assigned=arm.assigned,
            failures=failures[name],
            undecided=undecided[name],
            causes=dict(counts[name]),
            passes=passes[name],
        )
        for name, arm in state.arms.items()
    ]


def asymmetries(arms: list[ArmCauses]) -> list[Asymmetry]:
    """Every cause that occurs, between every two arms; the least likely first.

    Trials are taken as independent, which several attempts of one task are not: with many attempts the p is too small.
    """
    occurring = [cause for cause in Cause if any(arm.causes.get(cause) for arm in arms)]
    looked = [(cause, a, b) for cause in occurring for a, b in combinations(arms, 2) if a.assigned and b.assigned]
    raw = [
        fisher_exact(a.causes.get(cause, 0), a.assigned, b.causes.get(cause, 0), b.assigned) for cause, a, b in looked
    ]
    found = [
        Asymmetry(
            cause=cause,
            a=a.arm,
            b=b.arm,
            count_a=a.causes.get(cause, 0),
            count_b=b.causes.get(cause, 0),
            p=p,
            adjusted=after,
            looked_at=len(looked),
        )
        for (cause, a, b), p, after in zip(looked, raw, holm(raw), strict=True)
    ]
    return sorted(found, key=lambda each: (each.adjusted, each.p))


def fisher_exact(count_a: int, of_a: int, count_b: int, of_b: int) -> float:
    """Two-sided: the probability, margins given, of a split as unlikely as this one or more so. 1 where a margin is
    empty. Raises ValueError for counts outside their totals."""
    if not (0 <= count_a <= of_a and 0 <= count_b <= of_b):
        raise ValueError(f"{count_a} of {of_a} and {count_b} of {of_b} are no counts")
    struck, total = count_a + count_b, of_a + of_b
    low, high = max(0, struck - of_b), min(struck, of_a)
    if low == high:
        return 1.0
    whole = _log_choose(total, struck)
    logs = [_log_choose(of_a, k) + _log_choose(of_b, struck - k) - whole for k in range(low, high + 1)]
    seen = logs[count_a - low]
    return min(1.0, math.fsum(math.exp(each) for each in logs if each <= seen + 1e-7))


def _log_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def proposals_by_arm(state: RunState, proposed: Mapping[str, Cause | None]) -> dict[str, Counter[Cause]]:
    """What the rules propose, counted as labels are: an asymmetry there shows before anybody has decided."""
    counts: dict[str, Counter[Cause]] = {arm: Counter() for arm in state.arms}
    for trial in state.trials.values():
        cause = proposed.get(trial.trial)
        if cause is not None:
            counts[trial.arm][cause] += 1
    return counts
