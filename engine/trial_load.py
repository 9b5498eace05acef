"""How many trials ran at once: too many of them look like a weak model, whose time is up more often."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from itertools import accumulate

from engine.trial_state import TrialState


def running_beside(trials: Iterable[TrialState]) -> dict[str, float]:
    """Of each trial that was started and is over, how many others ran beside it, on average over its time. By the clock
    of the run's own records; of a trial that ran again, the last time counts."""
    known = [(trial, trial.started_at) for trial in trials if trial.started_at is not None]
    if not known:
        return {}
    zero = min(start for _, start in known)
    spans: dict[str, tuple[float, float]] = {}
    open_ended: list[float] = []
    for trial, started in known:
        start = (started - zero).total_seconds()
        if trial.finished_at is None:
            open_ended.append(start)
        else:
            spans[trial.trial] = (start, max(start, (trial.finished_at - zero).total_seconds()))
    begun = _Passed([*(start for start, _ in spans.values()), *open_ended])
    over = _Passed([end for _, end in spans.values()])

    def worked(until: float) -> float:
        """Seconds that all trials together had run."""
        return begun.since(until) - over.since(until)

    beside: dict[str, float] = {}
    for name, (start, end) in spans.items():
        lasted = end - start
        others = (worked(end) - worked(start)) / lasted - 1 if lasted > 0 else 0.0
        beside[name] = max(0.0, others)
    return beside


class _Passed:
    """The seconds that have passed since each of some moments, together."""

    def __init__(self, moments: Sequence[float]) -> None:
        self._moments = sorted(moments)
        self._sums = [0.0, *accumulate(self._moments)]

    def since(self, until: float) -> float:
        count = bisect_left(self._moments, until)
        return until * count - self._sums[count]
