"""The most that a run may spend: held by live costs, and said where they are not known."""

from __future__ import annotations

import pytest

from engine import events as ev
from engine.issues import Code
from engine.runs.spend_cap import SpendCap
from engine.state import RunState


@pytest.fixture
def state() -> RunState:
    state = RunState()
    for trial in ("t", "u"):
        state.apply(ev.TrialPlanned(trial=trial, task=trial, arm="a", attempt=1, position=1))
        state.apply(ev.TrialStarted(trial=trial))
    return state


def call(trial: str, cost: float | None) -> ev.ModelCalled:
    return ev.ModelCalled(trial=trial, number=1, cost_usd=cost, cost_source="" if cost is None else "provider")


def test_calls_of_trials_that_still_run_count(state: RunState) -> None:
    cap = SpendCap(1.0)
    state.apply(call("t", 0.6))
    assert cap.reached(state, 4) is None
    state.apply(call("u", 0.6))
    issue = cap.reached(state, 4)
    assert issue is not None and issue.code is Code.COST_LIMIT_REACHED
    assert issue.message == "$1.20 spent of --max-cost $1.00: 4 trials are not started"
    assert SpendCap(None).reached(state, 4) is None


def test_a_model_without_prices_is_said_once_to_be_held_by_nothing(state: RunState) -> None:
    cap = SpendCap(1.0)
    state.apply_all([call("t", 0.1), call("u", 0.1), call("u", None)])
    assert cap.blind(state.trials["t"]) is None
    issue = cap.blind(state.trials["u"])
    assert issue is not None and "can't hold it" in issue.message and "prices.toml" in issue.evidence[0].text
    assert cap.blind(state.trials["u"]) is None
    assert SpendCap(None).blind(state.trials["u"]) is None
