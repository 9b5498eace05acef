"""What a run's events add up to, whatever happened to the run."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import events as ev
from engine.issues import Phase, Severity
from engine.state import RunState
from engine.time_to_go import time_to_go
from engine.trial_state import CANCELLED, FAILED, INTERRUPTED, PASSED, QUEUED, RUNNING, UNSCORED
from tests.engine.random_events import BRIEFLY, EVENTS, EVERY_KIND, STREAMS
from tests.engine.run_events import at, finished, folded, issue, planned, started
from tests.engine.tasks.task_folders import UNTIMED


def check_sums(state: RunState) -> None:
    for name, arm in state.arms.items():
        assert all(count >= 0 for count in arm.counts.values())
        assert sum(arm.counts.values()) == arm.assigned
        for word, count in arm.counts.items():
            assert count == sum(trial.arm == name and trial.state == word for trial in state.trials.values())
    assert sum(arm.assigned for arm in state.arms.values()) == len(state.trials)
    held = [one for trial in state.trials.values() for one in trial.issues] + state.run_issues
    for severity in Severity:
        assert state.severities[severity] == sum(one.severity is severity for one in held)


@BRIEFLY
@given(STREAMS)
def test_events_in_any_order_never_raise_and_always_add_up(events: list[ev.Event]) -> None:
    state = folded(*planned("t1", "t2", arms=("a", "b")), *events)
    check_sums(state)
    assert state.done <= len(state.trials)
    assert state.events == len(events) + 3


@BRIEFLY
@given(STREAMS, st.integers(0, 25))
def test_reading_never_raises_either(events: list[ev.Event], cut: int) -> None:
    state = folded(*events[:cut])
    now = at(100)
    assert (state.elapsed(now) or 0) >= 0
    assert (time_to_go(state, now) or 0) >= 0
    assert (state.cost_usd or 0) >= 0
    for trial in state.trials.values():
        assert (trial.elapsed(now) or 0) >= 0
        assert (trial.phase_elapsed(now) or 0) >= 0
        assert trial.worst in (None, *Severity)
        assert trial.cpu_percent is None or trial.cpu_percent >= 0


@UNTIMED
@given(EVENTS)
def test_an_event_of_an_unknown_trial_is_passed_over(event: ev.Event) -> None:
    state = folded(event)
    check_sums(state)
    if not isinstance(event, ev.TrialPlanned):
        assert state.trials == {}


def test_every_event_that_changes_a_trial_marks_it() -> None:
    state = folded(*planned("t1", "t2"))
    assert state.take_dirty() == {"", "t1", "t2"}
    state.apply(started("t2"))
    assert "t2" in state.take_dirty()
    assert state.take_dirty() == set()


def test_counts_are_the_same_fresh_or_resumed_case_82() -> None:
    names = [f"t{number}" for number in range(1, 11)]
    first = [finished(name, 1.0) for name in names[:4]] + [finished(name, 0.0) for name in names[4:6]]
    session_1 = [
        ev.EngineStarted(at=at(0), pid=1, host="h", session=1),
        *[started(name) for name in names[:7]],
        *first,
    ]
    session_2 = [
        ev.EngineStarted(at=at(100), pid=2, host="h", session=2, resumed=True),
        ev.TrialInterrupted(at=at(100), trial="t7", run_number=1, reason="was cut off"),
        *[started(name, 101, 2 if name == "t7" else 1) for name in names[6:]],
        finished("t7", 1.0),
        *[finished(name, None) for name in names[7:]],
    ]
    state = folded(*planned(*names), *session_1)
    assert (state.done, state.count(PASSED), state.count(FAILED), state.count(RUNNING)) == (6, 4, 2, 1)
    state.apply_all(session_2)
    check_sums(state)
    assert (state.done, len(state.trials)) == (10, 10)
    assert (state.count(PASSED), state.count(FAILED), state.count(UNSCORED)) == (5, 2, 3)
    assert [trial.run_number for trial in state.trials.values()].count(2) == 1


def test_an_interrupted_trial_is_as_good_as_new_and_its_cost_is_kept_case_68() -> None:
    state = folded(
        *planned("t1"),
        started("t1"),
        ev.PhaseStarted(trial="t1", phase=Phase.AGENT),
        ev.AgentStepped(trial="t1", number=1, tokens_in=10, cost_usd=0.05),
        ev.IssueRaised(trial="t1", issue=issue(Severity.ERROR)),
        ev.TrialInterrupted(trial="t1", run_number=1, reason="was cut off", folder="t1/interrupted-1"),
    )
    trial = state.trials["t1"]
    assert (trial.state, trial.phases, trial.issues, trial.started_at) == (INTERRUPTED, [], [], None)
    assert (trial.tokens_in, trial.cost_usd, trial.discarded_cost_usd) == (None, None, 0.05)
    assert state.severities[Severity.ERROR] == 0
    state.apply_all([started("t1", 20, 2), ev.AgentStepped(trial="t1", number=1, cost_usd=0.08)])
    state.apply(finished("t1", 1.0, 30, cost_usd=0.08))
    assert state.cost_usd == pytest.approx(0.13)
    assert state.trials["t1"].run_number == 2


def test_a_trial_interrupted_twice_keeps_both_costs_case_68() -> None:
    run = [started("t1"), ev.AgentStepped(trial="t1", number=1, cost_usd=0.05)]
    cut = ev.TrialInterrupted(trial="t1", run_number=1, reason="was cut off")
    state = folded(*planned("t1"), *run, cut, *run, cut, cut)
    assert state.cost_usd == pytest.approx(0.10)
    assert state.trials["t1"].discarded_cost_usd == pytest.approx(0.10)


def test_steps_and_the_final_word_are_not_added_together() -> None:
    step = ev.AgentStepped(trial="t1", number=1, tokens_in=5, tokens_out=2, cost_usd=0.5)
    state = folded(*planned("t1"), started("t1"), step, step)
    assert (state.trials["t1"].tokens_in, state.cost_usd) == (10, 1.0)
    state.apply(finished("t1", 1.0, tokens_in=10, tokens_out=4, cost_usd=1.0))
    assert (state.trials["t1"].tokens_in, state.cost_usd) == (10, 1.0)


def test_a_trial_ended_by_force_loses_neither_its_cost_nor_its_clock_case_68() -> None:
    state = folded(
        *planned("t1"),
        started("t1", 1),
        ev.PhaseStarted(at=at(2), trial="t1", phase=Phase.AGENT),
        ev.AgentStepped(trial="t1", number=1, tokens_out=7, cost_usd=0.25),
        ev.TrialFinished(at=at(12), trial="t1", outcome="cancelled"),
    )
    trial = state.trials["t1"]
    assert (trial.state, trial.cost_usd, trial.tokens_out) == (CANCELLED, 0.25, 7)
    assert trial.phase_elapsed(at(500)) is None
    assert (trial.phases[0].seconds, trial.phases[0].ok) == (10.0, False)


def test_an_unknown_cost_stays_unknown_and_a_zero_stays_zero_case_68() -> None:
    state = folded(*planned("t1", "t2", "t3"), started("t1"), started("t2"))
    assert state.cost_usd is None
    state.apply_all([finished("t1", 1.0), finished("t2", 1.0, cost_usd=0.0)])
    assert state.cost_usd == 0.0
    assert state.cost_unknown == 1


def test_elapsed_is_the_time_that_engines_worked_not_the_nights_between_case_77() -> None:
    state = folded(*planned("t1"), ev.EngineStarted(at=at(0), pid=1, host="h", session=1))
    assert state.elapsed(at(10)) == 10
    state.apply_all([ev.RunFinished(at=at(60), exit_code=130, seconds=59.0), ev.EngineStopped(at=at(61))])
    assert state.elapsed(at(9999)) == 59.0
    state.apply(ev.EngineStarted(at=at(5000), pid=2, host="h", session=2, resumed=True))
    assert state.elapsed(at(5010)) == 69.0
    state.apply(started("t1", 5020))  # the last sign of life of an engine that is killed
    state.apply(ev.EngineStarted(at=at(8000), pid=3, host="h", session=3, resumed=True))
    assert state.elapsed(at(8001)) == 80.0
    state.apply(ev.RunFinished(at=at(8002), exit_code=0, seconds=2.5))
    assert state.elapsed(at(8003)) == 81.5 == state.took


def test_a_session_that_ends_before_it_began_takes_no_time_from_the_others_case_77() -> None:
    """Somebody set the host's clock back."""
    state = folded(*planned("t1"), ev.EngineStarted(at=at(0), pid=1, host="h", session=1), ev.EngineStopped(at=at(50)))
    state.apply_all([ev.EngineStarted(at=at(9999), pid=2, host="h", session=2), ev.EngineStopped(at=at(60))])
    assert state.took == 50


def test_a_clock_that_goes_back_makes_no_negative_time_case_77() -> None:
    state = folded(*planned("t1"), ev.EngineStarted(at=at(100), pid=1, host="h", session=1), started("t1", 100))
    assert state.elapsed(at(0)) == 0
    assert state.trials["t1"].elapsed(at(0)) == 0


def test_a_resumed_run_is_not_finished_any_more() -> None:
    state = folded(*planned("t1"), ev.RunFinished(exit_code=3, seconds=1))
    assert state.finished is not None
    state.apply(ev.EngineStarted(pid=2, host="h", session=2))
    assert state.finished is None and state.engine_running


def test_a_kept_environment_that_went_is_kept_no_more_whichever_is_told_first() -> None:
    up = ev.ServiceChanged(trial="t1", service="main", state="running", container="0a1b2c")
    end = finished("t1", 0.0, kept=True)
    gone = ev.EnvironmentGone(at=at(9999), trial="t1", container="0a1b2c", reason="swept")
    for told in ((end, gone), (gone, end)):
        trial = folded(*planned("t1"), started("t1"), up, *told).trials["t1"]
        assert (trial.kept, trial.kept_gone, trial.services["main"].state) == (False, "swept", "removed")


def test_what_an_earlier_run_of_a_trial_left_up_says_nothing_of_this_ones() -> None:
    up = ev.ServiceChanged(trial="t1", service="main", state="running", container="0a1b2c")
    earlier = ev.EnvironmentGone(trial="t1", container="ffffff", reason="swept")
    trial = folded(*planned("t1"), started("t1"), up, finished("t1", 0.0, kept=True), earlier).trials["t1"]
    assert (trial.kept, trial.kept_gone, trial.services["main"].state) == (True, "", "running")


def test_a_sweep_is_no_sign_of_life_of_a_run() -> None:
    state = folded(*planned("t1"), ev.EngineStarted(at=at(1), pid=1, host="h", session=1), started("t1", 2))
    state.apply(ev.EnvironmentGone(at=at(9999), trial="t1", container="0a1b2c"))
    assert state.last_event_at == state.trials["t1"].last_event_at == at(2)
    assert state.took == 1


def test_samples_are_shown_while_the_trial_runs_and_peaks_stay() -> None:
    sample = ev.ResourceSampled(trial="t1", service="main", cpu_percent=50, memory_bytes=100, memory_limit=200)
    state = folded(*planned("t1"), started("t1"), sample)
    trial = state.trials["t1"]
    assert (trial.cpu_percent, trial.memory_bytes, trial.memory_limit) == (50, 100, 200)
    state.apply_all([finished("t1", 1.0), sample])
    assert (trial.cpu_percent, trial.memory_bytes) == (None, None)
    assert trial.services["main"].peak_memory_bytes == 100


def test_services_of_the_two_environments_are_told_apart() -> None:
    state = folded(*planned("t1"), started("t1"))
    for environment in ("agent", "verifier"):
        state.apply(ev.ServiceChanged(trial="t1", service="main", state="running", environment=environment))
    assert set(state.trials["t1"].services) == {"main", "verifier:main"}


def test_the_hosts_sample_is_known_and_is_no_sign_of_progress() -> None:
    state = folded(*planned("t1"))
    before = state.last_event_at
    state.apply(ev.HostSampled(at=at(500), disk_free=7))
    assert state.host is not None and state.host.disk_free == 7
    assert state.last_event_at == before


def test_a_trial_waits_runs_and_ends() -> None:
    state = folded(*planned("t1"), ev.TrialWaiting(trial="t1", reason="memory (needs 16 G)"))
    assert state.trials["t1"].waiting_for == "memory (needs 16 G)"
    state.apply(started("t1"))
    assert state.trials["t1"].waiting_for == ""
    assert state.count(RUNNING) == 1 and state.count(QUEUED) == 0


def test_every_kind_of_event_but_bulk_and_steps_of_others_is_folded() -> None:
    state = RunState()
    assert {kind for kind in EVERY_KIND if not any(state._effects[kind])} == {ev.ThresholdCrossed}


def test_a_new_engine_is_not_paused_nor_cancelling_though_the_one_before_was() -> None:
    events: list[ev.Event] = [
        *planned("t1"),
        ev.EngineStarted(at=at(0), pid=1, host="h", session=1),
        ev.RunPaused(at=at(1)),
        ev.CancelRequested(at=at(2)),
    ]
    left = folded(*events)
    assert left.paused and left.cancelling
    again = folded(*events, ev.EngineStarted(at=at(9), pid=2, host="h", session=2, resumed=True))
    assert not again.paused and not again.cancelling
