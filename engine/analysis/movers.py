"""Which labelled trials the sensitivity rests on, and how far each alone moves A − B."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import msgspec

from engine.analysis.labels import AMBIGUOUS, INFRASTRUCTURE, Labels
from engine.analysis.outcomes import TrialOutcome, attempts_by_task
from engine.analysis.pairs import form_pairs


class Mover(msgspec.Struct, frozen=True, kw_only=True):
    """A labelled trial of side "a" or "b". `low` and `high` are how much A − B (a fraction) changes where this trial
    alone is read the other way: for `infrastructure` both are what leaving its pair out does, for `ambiguous` what
    failing and passing it do. None where nothing would be left to compare."""

    task: str
    side: str
    attempt: int
    cause: str
    passed: bool | None
    low: float | None
    high: float | None


def movers(a: Iterable[TrialOutcome], b: Iterable[TrialOutcome], labels: Labels) -> tuple[Mover, ...]:
    """The farthest movers first. Costs one pass over the tasks, whatever the number of labels."""
    sides = (attempts_by_task(a), attempts_by_task(b))
    pairs = form_pairs([trial for trials in sides[0].values() for trial in trials], _flat(sides[1].values()))
    deltas = {pair.task: _share(pair.a) - _share(pair.b) for pair in pairs}
    if not deltas:
        return ()
    total, count = math.fsum(deltas.values()), len(deltas)
    found: list[Mover] = []
    for side, trials_of in zip("ab", sides, strict=True):
        for task, trials in trials_of.items():
            for place, trial in enumerate(trials):
                cause = labels.get((trial.task, trial.arm, trial.attempt), "")
                if task not in deltas or not trial.finished or cause not in (INFRASTRUCTURE, AMBIGUOUS):
                    continue
                both = (list(sides[0][task]), list(sides[1][task]))
                own = both[0] if side == "a" else both[1]
                if cause == INFRASTRUCTURE:
                    for one in both:
                        if place < len(one):
                            del one[place]
                    change = _change(both, deltas[task], total, count)
                    low = high = change
                else:
                    changes = []
                    for passed in (False, True):
                        own[place] = msgspec.structs.replace(trial, passed=passed)
                        changes.append(_change(both, deltas[task], total, count) or 0.0)
                    low, high = min(changes), max(changes)
                found.append(
                    Mover(
                        task=task,
                        side=side,
                        attempt=trial.attempt,
                        cause=cause,
                        passed=trial.passed,
                        low=low,
                        high=high,
                    )
                )
    return tuple(sorted(found, key=lambda mover: (-_reach(mover), mover.task, mover.side, mover.attempt)))


def _flat(groups: Iterable[Sequence[TrialOutcome]]) -> list[TrialOutcome]:
    return [trial for trials in groups for trial in trials]


def _change(
    both: tuple[list[TrialOutcome], list[TrialOutcome]], before: float, total: float, count: int
) -> float | None:
    """In the mean over tasks where this task's trials become `both`; a task that loses a side leaves it."""
    finished = [[trial for trial in side if trial.finished] for side in both]
    if finished[0] and finished[1]:
        return (_share(finished[0]) - _share(finished[1]) - before) / count
    if count == 1:
        return None
    return (total - before) / (count - 1) - total / count


def _share(trials: Sequence[TrialOutcome]) -> float:
    return sum(trial.resolved for trial in trials) / len(trials)


def _reach(mover: Mover) -> float:
    return max(abs(change) for change in (mover.low or 0.0, mover.high or 0.0))
