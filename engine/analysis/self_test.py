"""The known answers of the numbers' contract, worked out anew: what a person runs before believing this installation.

The two real arms are Terminal-Bench runs of 80 tasks with five attempts each, kept here as nothing but how many tasks
differ by how many fifths.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from engine.analysis import wording as say
from engine.analysis.bootstrap import clustered_standard_error, mean_interval
from engine.analysis.compare import compare
from engine.analysis.many_arms import holm, ranks
from engine.analysis.mcnemar import mcnemar
from engine.analysis.outcomes import TrialOutcome
from engine.analysis.pass_at_k import all_of, any_of
from engine.analysis.power import detectable, detectable_from_discordance, tasks_needed
from engine.analysis.rates import count, wilson

FIFTHS = {-4: 3, -2: 3, -1: 10, 0: 47, 1: 7, 2: 5, 3: 1, 4: 4}
"""Tasks by A's passes minus B's, of five attempts each."""


class KnownAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """One quantity: what it must be and what it came out as, within `within` (absolute)."""

    what: str
    expected: float
    found: float
    within: float

    @property
    def ok(self) -> bool:
        return abs(self.found - self.expected) <= self.within


def known_answers() -> list[KnownAnswer]:
    """About twenty, in under a second. A quantity that can't be worked out is a NaN, which is never ok."""
    found: list[KnownAnswer] = []
    for group in (_worked_example, _mcnemar, _rates, _several_attempts, _power, _many_arms, _attempts):
        for what, expected, within, work in group():
            found.append(KnownAnswer(what=what, expected=expected, found=_worked(work), within=within))
    return found


def self_test_lines(answers: Sequence[KnownAnswer]) -> list[str]:
    lines = [f"{'':6}{'quantity':<62}{'known':>12}{'found':>12}"]
    for answer in answers:
        mark = "✓ ok  " if answer.ok else "✗ OFF "
        lines.append(f"{mark}{say.fit(answer.what, 62)}{answer.expected:>12.5g}{answer.found:>12.5g}")
    off = sum(not answer.ok for answer in answers)
    lines.append(f"{say.many(len(answers), 'known answer')}, {'every one is met' if not off else f'{off} OFF'}")
    return lines


_Work = tuple[str, float, float, Callable[[], float | None]]
"""What, the known answer, the tolerance, and how to work it out."""


def _worked(work: Callable[[], float | None]) -> float:
    try:
        found = work()
    except (ValueError, ArithmeticError):
        found = None
    return float("nan") if found is None else float(found)


def _trial(task: int, arm: str, passed: bool | None, cost: float = 0.0, attempt: int = 1) -> TrialOutcome:
    return TrialOutcome.of_verdict(f"t{task:03}", arm, attempt, passed, cost)


def _worked_example() -> list[_Work]:
    verdicts = [(True, True)] * 50 + [(True, False)] * 20 + [(False, True)] * 10 + [(False, False)] * 20
    a = [_trial(task, "A", pair[0], 2.0) for task, pair in enumerate(verdicts)]
    b = [_trial(task, "B", pair[1], 1.2) for task, pair in enumerate(verdicts)]
    both = compare(a, b)
    broken = count([_trial(task, "A", True if task < 70 else None if task < 80 else False) for task in range(100)])
    return [
        ("2×2 of the worked example: both", 50, 0, lambda: both.table.both),
        ("2×2: A only", 20, 0, lambda: both.table.a_only),
        ("2×2: B only", 10, 0, lambda: both.table.b_only),
        ("2×2: neither", 20, 0, lambda: both.table.neither),
        ("paired bootstrap: A − B", 0.10, 1e-12, lambda: both.difference.estimate),
        ("paired bootstrap: lower end", 0.00, 0.01 + 1e-9, lambda: both.difference.low),
        ("paired bootstrap: upper end", 0.21, 0.01 + 1e-9, lambda: both.difference.high),
        ("cost per resolved: $200/70", 2.86, 0.005, lambda: both.arms[0].cost_per_resolved),
        ("cost per resolved: $120/60", 2.00, 1e-9, lambda: both.arms[1].cost_per_resolved),
        ("cascade: resolved", 80, 0, lambda: both.cascade.resolved if both.cascade else None),
        ("cascade: dollars", 200, 1e-9, lambda: both.cascade.cost_total if both.cascade else None),
        ("cascade: dollars a resolved task", 2.50, 1e-9, lambda: both.cascade.per_resolved if both.cascade else None),
        ("70 of 100 assigned, 10 environments broken: headline", 0.70, 1e-12, lambda: broken.rate),
        ("the same, of completed alone", 0.778, 0.0005, lambda: broken.rate_completed),
    ]


def _mcnemar() -> list[_Work]:
    return [
        ("McNemar exact, 20 against 10", 0.0987, 5e-5, lambda: mcnemar(20, 10).exact),
        ("mid-p, 20 against 10", 0.0708, 5e-5, lambda: mcnemar(20, 10).mid_p),
        ("mid-p, 1 against 1", 1.0, 0, lambda: mcnemar(1, 1).mid_p),
        ("McNemar exact, nothing discordant", 1.0, 0, lambda: mcnemar(0, 0).exact),
        ("McNemar exact, 2,600 against 2,400", 0.0048836, 5e-8, lambda: mcnemar(2_600, 2_400).exact),
        ("first attempts of the real arms, 5 against 9", 0.4240, 5e-5, lambda: mcnemar(5, 9).exact),
    ]


def _rates() -> list[_Work]:
    return [
        ("Wilson, 4 of 10: lower end", 0.168, 0.0005, lambda: wilson(4, 10)[0]),
        ("Wilson, 4 of 10: upper end", 0.687, 0.0005, lambda: wilson(4, 10)[1]),
        ("Wilson, 10 of 10: lower end", 0.7225, 5e-5, lambda: wilson(10, 10)[0]),
        ("Wilson, 0 of 50: upper end", 0.0713, 5e-5, lambda: wilson(0, 50)[1]),
    ]


def _several_attempts() -> list[_Work]:
    values = [fifths / 5 for fifths, tasks in FIFTHS.items() for _ in range(tasks)]
    spread = mean_interval(values)
    return [
        ("80 tasks × 5: difference", 0.020, 1e-9, lambda: spread.estimate),
        ("80 tasks × 5: clustered standard error", 0.03272, 5e-6, lambda: clustered_standard_error(values)),
        ("80 tasks × 5: lower end", -0.040, 0.01, lambda: spread.low),
        ("80 tasks × 5: upper end", 0.085, 0.01, lambda: spread.high),
    ]


def _power() -> list[_Work]:
    return [
        ("66 tasks with 16 discordant detect", 0.17, 0.005, lambda: detectable_from_discordance(66, 16)),
        ("80 tasks × 5 detect", 0.09, 0.005, lambda: detectable(0.03272)),
        ("two points need so many tasks", 4_750, 10, lambda: tasks_needed(0.02, 16 / 66)),
    ]


def _many_arms() -> list[_Work]:
    ranked = ranks([wilson(118, 200), wilson(112, 200)])
    return [
        ("118/200 ranks", 1, 0, lambda: ranked[0]),
        ("112/200 ranks", 1, 0, lambda: ranked[1]),
        ("Holm, the third of 0.01, 0.04, 0.03, 0.005", 0.06, 1e-12, lambda: holm([0.01, 0.04, 0.03, 0.005])[2]),
    ]


def _attempts() -> list[_Work]:
    return [
        ("pass@2 of 1 in 5", 0.4, 1e-12, lambda: any_of(5, 1, 2)),
        ("pass@2 of 1 in 3", 0.6667, 5e-5, lambda: any_of(3, 1, 2)),
        ("pass^2 of 3 in 4", 0.5, 1e-12, lambda: all_of(4, 3, 2)),
        ("pass@3 where each try passes with 0.4", 0.784, 1e-3, lambda: any_of(10_000, 4_000, 3)),
    ]
