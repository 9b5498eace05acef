"""A run's state as outcomes: what counts as completed, what it cost, and what is only money."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from engine import events as ev
from engine.analysis.compare import compare
from engine.analysis.cost import cost
from engine.analysis.from_state import arm_outcomes
from engine.issues import Code, Issue, Phase, Severity
from engine.state import RunState

START = datetime(2025, 11, 30, tzinfo=UTC)


def at(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def run_of(*trials: tuple[str, str]) -> RunState:
    """Trials (task, arm), planned."""
    state = RunState()
    arms = tuple(ev.ArmInfo(name=name, agent="oracle") for name in ("a", "b"))
    state.apply(
        ev.RunPlanned(
            at=START, run="r", name="r", task_set=ev.TaskSetInfo(name="s"), arms=arms, tasks=2, trials=len(trials)
        )
    )
    for position, (task, arm) in enumerate(trials):
        state.apply(ev.TrialPlanned(at=START, trial=f"{task}-{arm}", task=task, arm=arm, attempt=1, position=position))
    return state


def end(state: RunState, trial: str, *, started: bool = True, **given: object) -> None:
    if started:
        state.apply(ev.TrialStarted(at=at(1), trial=trial))
    state.apply(ev.TrialFinished(at=at(9), trial=trial, seconds=8, **given))  # type: ignore[arg-type]


def test_states_become_outcomes_of_their_arm() -> None:
    state = run_of(("t1", "a"), ("t1", "b"), ("t2", "a"), ("t2", "b"))
    end(state, "t1-a", outcome="scored", reward=1.0, passed=True, cost_usd=0.5)
    end(state, "t1-b", outcome="unscored")
    end(state, "t2-a", outcome="scored", reward=0.0, passed=False, cost_usd=0.1)
    found = arm_outcomes(state)
    assert list(found) == ["a", "b"]
    first, second = found["a"]
    assert (first.passed, first.completed, first.scored, first.cost_usd) == (True, True, True, 0.5)
    assert (second.passed, second.reward) == (False, 0.0)
    unscored, waiting = found["b"]
    assert (unscored.passed, unscored.completed, unscored.finished, unscored.cost_usd) == (None, False, True, None)
    assert not waiting.finished


def test_a_trial_that_used_its_time_completed_even_without_a_verdict() -> None:
    state = run_of(("t1", "a"), ("t1", "b"))
    end(state, "t1-a", outcome="unscored", timed_out=True)
    crashed = Issue(Severity.FATAL, Phase.VERIFY, Code.VERIFIER_CRASHED, "crashed")
    state.apply(ev.IssueRaised(at=at(5), trial="t1-b", issue=crashed))
    end(state, "t1-b", outcome="unscored", timed_out=True)
    found = arm_outcomes(state)
    assert found["a"][0].completed and not found["a"][0].scored
    assert not found["b"][0].completed


def test_what_never_ran_costs_nothing_only_where_costs_are_known() -> None:
    state = run_of(("t1", "a"), ("t2", "a"), ("t1", "b"), ("t2", "b"))
    end(state, "t1-a", outcome="scored", reward=1.0, passed=True, cost_usd=0.5)
    end(state, "t2-a", started=False, outcome="refused")
    end(state, "t1-b", outcome="scored", reward=1.0, passed=True)
    end(state, "t2-b", started=False, outcome="refused")
    found = arm_outcomes(state)
    assert cost(found["a"]).total == 0.5 and not cost(found["a"]).is_lower_bound
    assert cost(found["b"]).total is None


def test_an_interrupted_run_of_a_trial_stays_in_the_books() -> None:
    state = run_of(("t1", "a"))
    state.apply(ev.TrialStarted(at=at(1), trial="t1-a"))
    state.apply(ev.TrialInterrupted(at=at(2), trial="t1-a", run_number=1, reason="killed", cost_usd=0.05))
    waiting, discarded = arm_outcomes(state)["a"]
    assert not waiting.finished and discarded.discarded and discarded.cost_usd == 0.05
    state.apply(ev.TrialStarted(at=at(3), trial="t1-a", run_number=2))
    state.apply(ev.TrialFinished(at=at(9), trial="t1-a", outcome="scored", reward=1.0, passed=True, cost_usd=0.08))
    money = cost(arm_outcomes(state)["a"])
    assert money.total is not None and abs(money.total - 0.13) < 1e-9
    assert money.discarded == 0.05


def test_both_sides_of_a_run_compare() -> None:
    state = run_of(("t1", "a"), ("t1", "b"), ("t2", "a"), ("t2", "b"))
    for trial, passed in (("t1-a", True), ("t1-b", False), ("t2-a", True)):
        end(state, trial, outcome="scored", reward=float(passed), passed=passed)
    found = compare(*arm_outcomes(state).values())
    assert (found.tasks, found.table.a_only, found.unfinished) == (1, 1, 1)
