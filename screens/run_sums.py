"""Sums over all trials of a run, kept up to date trial by trial: cost, and the time to go."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

import msgspec

from engine.state import RunState
from engine.time_to_go import TimeToGo
from engine.trial_shares import TrialShares
from engine.trial_state import TrialState


class _Share(msgspec.Struct, frozen=True, gc=False):
    """What one trial adds."""

    cost: float | None
    cost_unknown: bool


class RunSums:
    """The same figures as `RunState.cost_usd` and `time_to_go`, at the price of the trials that changed."""

    def __init__(self, state: RunState) -> None:
        self._shares = TrialShares(state, _share)
        self._cost = 0.0
        self._priced = 0
        self.cost_unknown = 0
        """Finished trials whose cost nobody knows; one that still runs may yet say."""
        self._time = TimeToGo(state)

    @property
    def cost_usd(self) -> float | None:
        return self._cost if self._priced else None

    def update(self, dirty: Iterable[str]) -> None:
        self._time.update(dirty)
        for _, share, sign in self._shares.changes(dirty):
            self._add(share, sign)

    def eta(self, now: datetime) -> float | None:
        """Seconds to go; see `engine.time_to_go`."""
        return self._time.seconds(now)

    def _add(self, share: _Share, sign: int) -> None:
        if share.cost is not None:
            self._cost += sign * share.cost
            self._priced += sign
        self.cost_unknown += sign * share.cost_unknown


def _share(trial: TrialState) -> _Share:
    costs = [cost for cost in (trial.cost_usd, trial.discarded_cost_usd) if cost is not None]
    return _Share(
        cost=sum(costs) if costs else None,
        cost_unknown=trial.discarded_cost_partial or (trial.done and trial.ran and not trial.cost_is_complete),
    )
