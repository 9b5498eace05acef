"""The most that a run may spend, and what is said where it can't be held."""

from __future__ import annotations

from engine.issues import Code, Evidence, Issue, Severity
from engine.state import RunState
from engine.trial_state import TrialState
from engine.user_places import prices_file


class SpendCap:
    """`limit` None: nothing is capped. Spend counts while it happens, discarded runs of trials included."""

    def __init__(self, limit: float | None) -> None:
        self.limit = limit
        self._said_blind = False

    def reached(self, state: RunState, waiting: int) -> Issue | None:
        """To be said where nothing more is started."""
        spent = state.cost_usd
        if self.limit is None or spent is None or spent < self.limit:
            return None
        return _warning(
            f"${spent:.2f} spent of --max-cost ${self.limit:.2f}: {waiting} trials are not started",
            "`trialdeck resume --max-cost` goes on",
        )

    def blind(self, trial: TrialState) -> Issue | None:
        """Once: a model whose costs nobody knows is not held by any cap."""
        if self.limit is None or self._said_blind or not trial.model_calls or trial.cost_is_complete:
            return None
        self._said_blind = True
        return _warning(
            f"what arm {trial.arm} spends is not known, or not all of it: --max-cost ${self.limit:.2f} can't hold it",
            f"write the prices of its model into {prices_file()}",
        )


def _warning(message: str, way_out: str) -> Issue:
    return Issue(Severity.WARNING, None, Code.COST_LIMIT_REACHED, message, (Evidence("way out", way_out),))
