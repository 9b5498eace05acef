"""What only readers of other systems' runs tell: starts learnt late, trials that go."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from engine import events as ev
from engine.issues import Code, Issue, Phase, Severity
from engine.state import RunState

T0 = datetime(2026, 1, 1, tzinfo=UTC)


def at(seconds: float) -> datetime:
    return T0 + timedelta(seconds=seconds)


def planned() -> RunState:
    state = RunState()
    arm = ev.ArmInfo(name="a", agent="a")
    state.apply(
        ev.RunPlanned(at=T0, run="r", name="r", task_set=ev.TaskSetInfo(name="s"), arms=(arm,), tasks=1, trials=2)
    )
    for number in (1, 2):
        state.apply(ev.TrialPlanned(at=T0, trial=f"t{number}", task="t", arm="a", attempt=number, position=number))
    return state


def test_an_observed_start_is_corrected_by_the_written_one() -> None:
    state = planned()
    state.apply_all(
        [
            ev.TrialStarted(at=at(0), trial="t1"),
            ev.PhaseStarted(at=at(10), trial="t1", phase=Phase.AGENT),
            ev.PhaseStarted(at=at(4), trial="t1", phase=Phase.AGENT, limit_sec=30.0),
            ev.PhaseFinished(at=at(12), trial="t1", phase=Phase.AGENT, seconds=8.0),
        ]
    )
    (span,) = state.trials["t1"].phases
    assert (span.started_at, span.seconds, span.limit_sec) == (at(4), 8.0, 30.0)
    assert state.trials["t1"].phase is None


def test_what_was_observed_of_a_trial_gives_way_to_its_own_account_of_itself() -> None:
    """Phases seen from outside begin and end when somebody looked; the record, once it is there, knows better."""
    state = planned()
    state.apply_all(
        [
            ev.TrialStarted(at=at(0), trial="t1"),
            ev.PhaseStarted(at=at(0), trial="t1", phase=Phase.PREPARE),
            ev.PhaseStarted(at=at(9), trial="t1", phase=Phase.COLLECT),
            ev.TrialStarted(at=at(1), trial="t1"),
            ev.PhaseStarted(at=at(1), trial="t1", phase=Phase.PREPARE),
            ev.PhaseFinished(at=at(2), trial="t1", phase=Phase.PREPARE, seconds=1.0),
            ev.PhaseStarted(at=at(2), trial="t1", phase=Phase.AGENT),
            ev.PhaseFinished(at=at(8), trial="t1", phase=Phase.AGENT, seconds=6.0),
        ]
    )
    trial = state.trials["t1"]
    assert [(span.phase, span.seconds) for span in trial.phases] == [(Phase.PREPARE, 1.0), (Phase.AGENT, 6.0)]
    assert (trial.started_at, trial.phase) == (at(1), None)


def test_a_phase_that_comes_again_is_another_one() -> None:
    state = planned()
    state.apply_all(
        [
            ev.TrialStarted(at=at(0), trial="t1"),
            ev.PhaseStarted(at=at(4), trial="t1", phase=Phase.AGENT),
            ev.PhaseFinished(at=at(6), trial="t1", phase=Phase.AGENT, seconds=2.0),
            ev.PhaseStarted(at=at(8), trial="t1", phase=Phase.AGENT),
            ev.PhaseStarted(at=at(8), trial="t1", phase=Phase.AGENT, step="two"),
        ]
    )
    assert [(span.started_at, span.step, span.seconds) for span in state.trials["t1"].phases] == [
        (at(4), "", 2.0),
        (at(8), "", None),
        (at(8), "two", None),
    ]


def test_a_withdrawn_trial_is_in_no_count_any_more() -> None:
    state = planned()
    issue = Issue(Severity.WARNING, Phase.AGENT, Code.HARNESS_INTERRUPTED, "cut off")
    state.apply_all(
        [
            ev.TrialStarted(at=at(1), trial="t1"),
            ev.IssueRaised(at=at(2), trial="t1", issue=issue),
        ]
    )
    state.take_dirty()
    state.apply(ev.TrialWithdrawn(at=at(3), trial="t1", reason="its folder is gone"))
    state.apply(ev.TrialWithdrawn(at=at(3), trial="t1"))
    assert set(state.trials) == {"t2"}
    assert state.arms["a"].assigned == 1
    assert sum(state.arms["a"].counts.values()) == 1
    assert state.severities[Severity.WARNING] == 0
    assert state.take_dirty() == {"", "t1"}
