"""What `trialdeck replay` says when it is over."""

from __future__ import annotations

from console.commands.replay import _beside
from engine.trial_state import TrialState


def _trial(cost: float | None, tokens: int | None) -> TrialState:
    return TrialState(
        trial="t", task="t", arm="a", attempt=1, state="passed", reward=1.0, cost_usd=cost, tokens_in=tokens
    )


def test_then_and_now_stand_side_by_side() -> None:
    assert _beside(_trial(None, None), [_trial(None, None)]) == ["then: passed, reward 1", "now:  passed, reward 1"]


def test_a_recording_s_cost_is_not_taken_for_money_spent_again() -> None:
    for again in (_trial(0.5, None), _trial(None, 12)):
        assert "nothing was spent again" in _beside(_trial(0.5, 12), [again])[-1]
