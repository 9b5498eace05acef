"""Sums over all trials of a run, kept up to date trial by trial: cost, durations, what is left."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from engine import trial_state
from engine.state import RunState
from engine.trial_state import TrialState


@dataclass(frozen=True)
class _Share:
    """What one trial adds."""

    arm: str
    cost: float | None
    cost_unknown: bool
    seconds: float | None
    left: bool
    running: bool


class RunSums:
    """The same figures as `RunState.cost_usd` and `RunState.eta`, at the price of the trials that changed."""

    def __init__(self, state: RunState) -> None:
        self._state = state
        self._shares: dict[str, _Share] = {}
        self._cost = 0.0
        self._priced = 0
        self.cost_unknown = 0
        """Finished trials whose cost nobody knows; one that still runs may yet say."""
        self._seconds: dict[str, tuple[float, int]] = {}
        self._left: dict[str, int] = {}
        self._running: set[str] = set()

    @property
    def cost_usd(self) -> float | None:
        return self._cost if self._priced else None

    def update(self, dirty: Iterable[str]) -> None:
        trials = self._state.trials
        for key in dirty:
            trial, old = trials.get(key), self._shares.get(key)
            new = _share(trial) if trial is not None else None  # None: it was withdrawn
            if new == old:
                continue
            if old is not None:
                self._add(key, self._shares.pop(key), -1)
            if new is not None:
                self._add(key, new, 1)
                self._shares[key] = new

    def eta(self, now: datetime) -> float | None:
        """Seconds to go, as `RunState.eta` reckons; None until something has finished."""
        total, many = (sum(pair[index] for pair in self._seconds.values()) for index in (0, 1))
        if not many or self._state.finished is not None:
            return None
        mean = total / many
        typical = {arm: seconds / count for arm, (seconds, count) in self._seconds.items() if count}
        left = sum(count * typical.get(arm, mean) for arm, count in self._left.items())
        longest = max((typical.get(arm, mean) for arm, count in self._left.items() if count), default=0.0)
        for key in self._running:
            trial = self._state.trials[key]
            rest = max(0.0, typical.get(trial.arm, mean) - (trial.elapsed(now) or 0.0))
            left += rest
            longest = max(longest, rest)
        return max(longest, left / max(1, self._state.concurrency))

    def _add(self, key: str, share: _Share, sign: int) -> None:
        if share.cost is not None:
            self._cost += sign * share.cost
            self._priced += sign
        self.cost_unknown += sign * share.cost_unknown
        if share.seconds is not None:
            seconds, count = self._seconds.get(share.arm, (0.0, 0))
            self._seconds[share.arm] = (seconds + sign * share.seconds, count + sign)
        if share.left:
            self._left[share.arm] = self._left.get(share.arm, 0) + sign
        if share.running:
            (self._running.add if sign > 0 else self._running.discard)(key)


def _share(trial: TrialState) -> _Share:
    costs = [cost for cost in (trial.cost_usd, trial.discarded_cost_usd) if cost is not None]
    running = trial.state == trial_state.RUNNING
    timed = trial.done and trial.started_at is not None
    return _Share(
        arm=trial.arm,
        cost=sum(costs) if costs else None,
        cost_unknown=trial.discarded_cost_partial or (trial.done and trial.ran and not trial.cost_is_complete),
        seconds=trial.seconds if timed else None,
        left=not trial.done and not running,
        running=running,
    )
