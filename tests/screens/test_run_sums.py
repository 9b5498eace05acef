"""Sums kept while a run goes on, against those of its whole state."""

from __future__ import annotations

import pytest

from engine import events as ev
from engine.state import RunState
from engine.time_to_go import time_to_go
from screens.run_sums import RunSums
from tests.screens import fake_run


def test_sums_kept_trial_by_trial_are_those_of_the_whole_state() -> None:
    state = RunState()
    sums = RunSums(state)
    for event in fake_run.story():
        state.apply(event)
        sums.update(state.take_dirty())
        expected = state.cost_usd
        assert sums.cost_usd == (pytest.approx(expected) if expected is not None else None)
        eta = time_to_go(state, fake_run.at(1500))
        assert sums.eta(fake_run.at(1500)) == (pytest.approx(eta) if eta is not None else None)


def test_a_verdict_that_no_start_was_told_of_has_a_cost_that_may_be_unknown() -> None:
    state = RunState()
    for event in fake_run.plan(2):
        state.apply(event)
    one, two = list(state.trials)[:2]
    for trial, cost in ((one, 0.5), (two, None)):
        state.apply(ev.TrialFinished(trial=trial, outcome="scored", reward=1.0, passed=True, cost_usd=cost))
    sums = RunSums(state)
    sums.update(set(state.trials))
    assert (sums.cost_usd, sums.cost_unknown) == (0.5, 1) == (state.cost_usd, state.cost_unknown)
