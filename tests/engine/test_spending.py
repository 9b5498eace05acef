"""Tokens and money of a trial, from calls the engine saw or from what the agent says of its steps."""

from __future__ import annotations

from datetime import timedelta

import pytest

from engine import events as ev
from engine.analysis.cost import cost
from engine.analysis.from_state import arm_outcomes
from engine.issues import Code
from engine.state import RunState
from engine.trial_state import TrialState
from tests.engine.random_events import START


def fresh() -> RunState:
    state = RunState()
    state.apply(ev.TrialPlanned(trial="t", task="t", arm="a", attempt=1, position=1))
    state.apply(ev.TrialStarted(trial="t", at=START))
    return state


def folded(*events: ev.Event) -> TrialState:
    state = fresh()
    state.apply_all(events)
    return state.trials["t"]


def call(number: int = 1, **facts: object) -> ev.ModelCalled:
    return ev.ModelCalled(trial="t", number=number, **facts)  # type: ignore[arg-type]


def failed(code: Code, status: int | None = None) -> ev.ModelCalled:
    return call(code=str(code), status=status)


def step(number: int = 1, **facts: object) -> ev.AgentStepped:
    return ev.AgentStepped(trial="t", number=number, **facts)  # type: ignore[arg-type]


def test_what_an_agent_says_of_a_call_that_the_engine_saw_is_not_counted_again() -> None:
    """Case 67: whichever comes first."""
    seen = call(tokens_in=100, tokens_cached=40, tokens_out=9, cost_usd=0.5, cost_source="provider")
    said = step(tokens_in=100, tokens_cached=40, tokens_out=9, cost_usd=0.7, cost_source="agent")
    for order in ((seen, said), (said, seen)):
        trial = folded(*order)
        assert (trial.tokens_in, trial.tokens_cached, trial.tokens_out, trial.cost_usd) == (100, 40, 9, 0.5)
        assert (trial.cost_source, trial.steps, trial.model_calls) == ("provider", 1, 1)


def test_steps_count_where_the_engine_saw_no_call() -> None:
    trial = folded(step(1, tokens_in=5, cost_usd=0.1, cost_source="agent"), step(2, tokens_in=6, tokens_reasoning=2))
    assert (trial.tokens_in, trial.tokens_reasoning, trial.cost_usd, trial.cost_source) == (11, 2, 0.1, "agent")
    assert trial.model_calls is None


def test_an_unknown_cost_stays_unknown_and_makes_the_sum_a_lower_bound() -> None:
    """Case 68."""
    unknown = folded(call(1, tokens_out=5), call(2, tokens_out=6))
    assert (unknown.cost_usd, unknown.cost_partial) == (None, True)
    for calls in (
        (call(1, cost_usd=0.25, cost_source="prices 2026-11-01"), call(2)),
        (call(1), call(2, cost_usd=0.25, cost_source="prices 2026-11-01")),
    ):
        trial = folded(*calls)
        assert (trial.cost_usd, trial.cost_partial, trial.cost_source) == (0.25, True, "prices 2026-11-01")


def test_a_real_zero_is_known() -> None:
    trial = folded(call(cost_usd=0.0, cost_source="provider"))
    assert (trial.cost_usd, trial.cost_partial) == (0.0, False)


@pytest.mark.parametrize(
    ("code", "status", "partial"),
    [
        (Code.MODEL_RATE_LIMITED, 429, False),
        (Code.MODEL_UNREACHABLE, None, False),
        (Code.MODEL_TIMEOUT, None, True),
        (Code.MODEL_FAILED, 200, True),
    ],
)
def test_a_failed_call_costs_nothing_unless_the_provider_may_have_worked(
    code: Code, status: int | None, partial: bool
) -> None:
    trial = folded(call(cost_usd=0.5, cost_source="provider"), failed(code, status))
    assert (trial.cost_usd, trial.cost_partial) == (0.5, partial)


def test_failures_and_tries_again_are_counted() -> None:
    limited = failed(Code.MODEL_RATE_LIMITED, 429)
    trial = folded(limited, limited, call(cost_usd=0.1, cost_source="provider"), limited)
    assert (trial.model_calls, trial.model_failures, trial.model_retries) == (1, 3, 2)


def test_costs_of_several_sources_say_so() -> None:
    trial = folded(call(cost_usd=0.1, cost_source="provider"), call(cost_usd=0.1, cost_source="prices 2026-11-01"))
    assert (trial.cost_usd, trial.cost_source) == (0.2, "mixed")


def test_a_discarded_run_keeps_its_cost_and_that_some_of_it_is_unknown() -> None:
    """Case 68: known 0.13 in all, 0.05 of it discarded; a lower bound."""
    state = fresh()
    state.apply_all([call(1, cost_usd=0.05, cost_source="provider"), call(2)])
    state.apply(ev.TrialInterrupted(trial="t", run_number=1, reason="was cut off", cost_usd=0.05, cost_partial=True))
    state.apply(ev.TrialStarted(trial="t", run_number=2, at=START + timedelta(seconds=9)))
    state.apply(ev.TrialFinished(trial="t", outcome="scored", reward=1.0, passed=True, cost_usd=0.08))
    trial = state.trials["t"]
    assert (trial.cost_usd, trial.cost_partial, trial.discarded_cost_usd) == (0.08, False, 0.05)
    assert (trial.discarded_cost_partial, trial.earlier[0].cost_partial) == (True, True)
    assert state.cost_usd == pytest.approx(0.13)
    assert state.cost_unknown == 1
    money = cost(arm_outcomes(state)["a"])
    assert money.total == pytest.approx(0.13)
    assert (money.discarded, money.unknown, money.known) == (0.05, 1, 1)
    assert money.is_lower_bound


def test_the_end_of_a_trial_settles_what_its_events_said() -> None:
    trial = folded(
        call(tokens_in=5, tokens_out=1),
        ev.TrialFinished(trial="t", outcome="unscored", tokens_in=7, cost_usd=0.5, cost_partial=True, model_calls=2),
    )
    assert (trial.tokens_in, trial.tokens_out, trial.cost_usd, trial.model_calls) == (7, 1, 0.5, 2)
    assert trial.cost_partial and not trial.cost_is_complete


def test_a_call_that_was_left_alone_is_no_answer_and_its_cost_unknown() -> None:
    trial = folded(call(cost_usd=0.5, cost_source="provider"), call(hung_up=True))
    assert (trial.model_calls, trial.model_failures, trial.cost_usd, trial.cost_partial) == (1, 0, 0.5, True)
