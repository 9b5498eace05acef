"""Sums over all trials of a run, at the price of the trials that changed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Generic, TypeVar

from engine.state import RunState
from engine.trial_state import TrialState

Share = TypeVar("Share")


class TrialShares(Generic[Share]):
    """What each trial adds: `share` says it of one trial, and two of them are equal where they add the same."""

    def __init__(self, state: RunState, share: Callable[[TrialState], Share]) -> None:
        self._state = state
        self._share = share
        self._shares: dict[str, Share] = {}

    def __len__(self) -> int:
        return len(self._shares)

    def changes(self, dirty: Iterable[str]) -> Iterator[tuple[str, Share, int]]:
        """For each of these trials that adds something else now: what it added, with -1, then what it adds, with 1. A
        trial that was withdrawn adds nothing any more."""
        trials, shares = self._state.trials, self._shares
        for key in dirty:
            trial, old = trials.get(key), shares.get(key)
            new = self._share(trial) if trial is not None else None
            if new == old:
                continue
            if old is not None:
                yield key, shares.pop(key), -1
            if new is not None:
                shares[key] = new
                yield key, new, 1
