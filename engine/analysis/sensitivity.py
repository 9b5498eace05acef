"""Every score beside what it would be if the doubtful trials had gone otherwise.

Causes come from labels, as a mapping (task, arm, attempt) -> cause; only `infrastructure` and `ambiguous`
change anything here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import msgspec

from engine.analysis.bootstrap import DRAWS, SEED
from engine.analysis.labels import AMBIGUOUS, INFRASTRUCTURE, Labels
from engine.analysis.outcomes import TrialOutcome, attempts_by_task
from engine.analysis.pairs import difference, form_pairs

AS_ASSIGNED = "as assigned"
INFRASTRUCTURE_EXCLUDED = "infrastructure excluded"
AMBIGUOUS_PASSED = "ambiguous all passed"
AMBIGUOUS_FAILED = "ambiguous all failed"


class SensitivityView(msgspec.Struct, frozen=True, kw_only=True):
    """Rates are passes of the finished trials in this view, fractions; `difference` is of task means.
    `left_out` counts pairs of trials, `changed` the trials whose verdict this view sets.
    """

    name: str
    tasks: int
    left_out: int
    changed: int
    rate_a: float | None
    rate_b: float | None
    difference: float | None
    low: float | None
    high: float | None


def sensitivity(
    a: Iterable[TrialOutcome],
    b: Iterable[TrialOutcome],
    labels: Labels | None = None,
    *,
    draws: int = DRAWS,
    seed: int = SEED,
) -> tuple[SensitivityView, ...]:
    """The four views of `measurement.md`, always all four and in this order.

    Trials that a label excluded go with the confirmed infrastructure, and in a pair both sides go: attempt
    i of one arm takes attempt i of the other with it, counted in order.
    """
    labels = labels or {}
    a, b = _common(a, b)
    as_assigned: SensitivityView | None = None

    def view(
        name: str, left: list[TrialOutcome], right: list[TrialOutcome], left_out: int = 0, changed: int = 0
    ) -> SensitivityView:
        if as_assigned is not None and not left_out and not changed:
            return msgspec.structs.replace(as_assigned, name=name)
        pairs = form_pairs(left, right)
        delta = difference(pairs, draws=draws, seed=seed)
        return SensitivityView(
            name=name,
            tasks=len(pairs),
            left_out=left_out,
            changed=changed,
            rate_a=_rate(left),
            rate_b=_rate(right),
            difference=delta.estimate,
            low=delta.low,
            high=delta.high,
        )

    def decided(name: str, passed: bool) -> SensitivityView:
        def as_decided(trial: TrialOutcome) -> TrialOutcome:
            return msgspec.structs.replace(trial, passed=passed) if is_ambiguous(trial) else trial

        changed = sum(is_ambiguous(trial) for trial in (*a, *b))
        return view(name, [as_decided(trial) for trial in a], [as_decided(trial) for trial in b], 0, changed)

    def is_ambiguous(trial: TrialOutcome) -> bool:
        return _cause(labels, trial) == AMBIGUOUS

    def is_infrastructure(trial: TrialOutcome) -> bool:
        return trial.excluded or _cause(labels, trial) == INFRASTRUCTURE

    as_assigned = view(AS_ASSIGNED, a, b)
    kept_a, kept_b, left_out = _without_pairs(a, b, is_infrastructure)
    return (
        as_assigned,
        view(INFRASTRUCTURE_EXCLUDED, kept_a, kept_b, left_out),
        decided(AMBIGUOUS_PASSED, True),
        decided(AMBIGUOUS_FAILED, False),
    )


def _cause(labels: Labels, trial: TrialOutcome) -> str:
    return labels.get((trial.task, trial.arm, trial.attempt), "")


def _rate(trials: list[TrialOutcome]) -> float | None:
    finished = [trial for trial in trials if trial.finished]
    return sum(trial.resolved for trial in finished) / len(finished) if finished else None


def _common(a: Iterable[TrialOutcome], b: Iterable[TrialOutcome]) -> tuple[list[TrialOutcome], list[TrialOutcome]]:
    side_a, side_b = attempts_by_task(a), attempts_by_task(b)
    tasks = [task for task in side_a if task in side_b]
    return [trial for task in tasks for trial in side_a[task]], [trial for task in tasks for trial in side_b[task]]


def _without_pairs(
    a: list[TrialOutcome], b: list[TrialOutcome], leave_out: Callable[[TrialOutcome], bool]
) -> tuple[list[TrialOutcome], list[TrialOutcome], int]:
    side_a, side_b = attempts_by_task(a), attempts_by_task(b)
    gone = {
        (task, index)
        for side in (side_a, side_b)
        for task, trials in side.items()
        for index, trial in enumerate(trials)
        if leave_out(trial)
    }

    def kept(side: Mapping[str, list[TrialOutcome]]) -> list[TrialOutcome]:
        return [
            trial for task, trials in side.items() for index, trial in enumerate(trials) if (task, index) not in gone
        ]

    return kept(side_a), kept(side_b), len(gone)
