"""One trial as the numbers see it: who tried what, what the verdict was, what it cost. Nothing here knows
a run folder.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import msgspec


class TrialOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """The words are those of `measurement.md`: *completed* ran to its verdict or its end by its own budget, *scored*
    has a valid reward, *excluded* was left out by a label. `passed` follows the acceptance rule that was stated before
    the run and is None without a verdict. Cost None is unknown, which is not zero; with `cost_partial` there was more
    that nobody knows. A *discarded* record (an interrupted or retried attempt) counts for its money only. `finished` is
    False while the trial runs or waits. `refused`: the plan did not let it run.
    """

    task: str
    arm: str
    attempt: int
    reward: float | None
    passed: bool | None
    completed: bool
    scored: bool
    excluded: bool
    cost_usd: float | None
    seconds: float | None
    discarded: bool = False
    finished: bool = True
    cost_partial: bool = False
    refused: bool = False

    @classmethod
    def of_verdict(
        cls, task: str, arm: str, attempt: int, passed: bool | None, cost_usd: float | None, *, discarded: bool = False
    ) -> TrialOutcome:
        """A trial of which only its verdict and its cost are known; without a verdict it did not complete."""
        return cls(
            task=task,
            arm=arm,
            attempt=attempt,
            reward=None if passed is None else float(passed),
            passed=passed,
            completed=passed is not None,
            scored=passed is not None,
            excluded=False,
            cost_usd=cost_usd,
            seconds=None,
            discarded=discarded,
        )

    @property
    def resolved(self) -> bool:
        """A missing verdict is not a pass; it is also never dropped from what was assigned."""
        return self.passed is True


def assigned(outcomes: Iterable[TrialOutcome]) -> list[TrialOutcome]:
    """What the plan asked for: everything but discarded records."""
    return [outcome for outcome in outcomes if not outcome.discarded]


def attempts_by_task(outcomes: Iterable[TrialOutcome]) -> dict[str, list[TrialOutcome]]:
    """Assigned trials by task, tasks sorted by name, attempts in order.

    Raises ValueError where a task has the same attempt twice: attempts or a mistake, the caller has to say
    which.
    """
    trials = assigned(outcomes)
    counts = Counter((trial.task, trial.attempt) for trial in trials)
    doubled = sorted(key for key, count in counts.items() if count > 1)
    if doubled:
        shown = ", ".join(f"{task} attempt {attempt}" for task, attempt in doubled[:5])
        more = f" and {len(doubled) - 5} more" if len(doubled) > 5 else ""
        raise ValueError(f"the same attempt occurs twice: {shown}{more}")
    found: dict[str, list[TrialOutcome]] = {}
    for trial in sorted(trials, key=lambda trial: (trial.task, trial.attempt)):
        found.setdefault(trial.task, []).append(trial)
    return found


def only_first_attempts(outcomes: Iterable[TrialOutcome]) -> list[TrialOutcome]:
    """As if one attempt had been made: each task's first attempt, with the discarded records that led to
    it.
    """
    outcomes = list(outcomes)
    first = {task: trials[0].attempt for task, trials in attempts_by_task(outcomes).items()}
    return [outcome for outcome in outcomes if outcome.attempt <= first.get(outcome.task, outcome.attempt)]
