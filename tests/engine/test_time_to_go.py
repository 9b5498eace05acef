"""The time to go of a run: neither as short as its first trials make it look, nor standing still."""

from __future__ import annotations

from typing import Any

import pytest

from engine import events as ev
from engine.issues import Phase
from engine.state import RunState
from engine.time_to_go import TimeToGo, time_to_go
from tests.engine.run_events import at, finished, folded, started

HOUR = 3600.0


def run(*tasks: str, arms: tuple[str, ...] = ("a",), attempts: int = 1, concurrency: int = 2, **trial: Any) -> RunState:
    """Trials are called `<task>-<arm>-<attempt>`."""
    plan = ev.RunPlanned(
        at=at(0),
        run="r",
        name="run",
        task_set=ev.TaskSetInfo(name="set"),
        arms=tuple(ev.ArmInfo(name=arm, agent="nop") for arm in arms),
        tasks=len(tasks),
        trials=len(tasks) * len(arms) * attempts,
        concurrency=concurrency,
    )
    state = folded(plan, ev.EngineStarted(at=at(0), pid=1, host="h", session=1))
    for attempt in range(1, attempts + 1):
        for task in tasks:
            for arm in arms:
                name = f"{task}-{arm}-{attempt}"
                state.apply(
                    ev.TrialPlanned(at=at(0), trial=name, task=task, arm=arm, attempt=attempt, position=1, **trial)
                )
    return state


def ended(state: RunState, trial: str, begin: float, seconds: float, **more: Any) -> None:
    state.apply_all([started(trial, begin), finished(trial, 1.0, begin + seconds, seconds=seconds, **more)])


def test_nothing_is_said_before_a_few_trials_or_a_fair_share_of_them_have_ended() -> None:
    state = run(*(f"t{number}" for number in range(20)))
    assert time_to_go(state, at(0)) is None
    for number in range(3):
        assert time_to_go(state, at(100)) is None
        ended(state, f"t{number}-a-1", 0, 60)
    assert time_to_go(state, at(100)) is not None
    small = run("t1", "t2", "t3", "t4")
    ended(small, "t1-a-1", 0, 60)
    assert time_to_go(small, at(100)) is not None


def test_short_trials_that_end_first_do_not_make_a_run_of_an_hour_look_like_one_of_a_minute() -> None:
    state = run(*(f"t{number}" for number in range(40)), concurrency=8)
    for number in range(3):
        ended(state, f"t{number}-a-1", 0, 20 * (number + 1))
    state.apply_all([started(f"t{number}-a-1", 0) for number in range(3, 11)])
    early = time_to_go(state, at(60))
    later = time_to_go(state, at(600))
    assert early is not None and later is not None
    assert early > 10 * 60  # 29 that wait, at 40 s each and 8 side by side: 145 s
    assert later > early  # what runs says meanwhile that it isn't short


def test_what_a_task_took_is_what_it_takes_of_the_same_arm_first() -> None:
    state = run("long", "short", arms=("a", "b"), attempts=2, concurrency=1)
    ended(state, "long-a-1", 0, 1000)
    ended(state, "short-a-1", 1000, 10)
    ended(state, "long-b-1", 1010, 2000)
    # short-b-1 10 (of the other arm), long-a-2 1000, short-a-2 10, long-b-2 2000, short-b-2 10
    assert time_to_go(state, at(3010)) == pytest.approx(3030)
    state.apply(started("long-b-2", 3010))
    assert time_to_go(state, at(3510)) == pytest.approx(2530)
    assert time_to_go(state, at(9010)) == pytest.approx(1030 + 500)  # a quarter of it yet


def test_a_run_is_as_fast_as_trials_run_side_by_side_not_as_they_might() -> None:
    """Memory lets two of eight run."""
    state = run("t", attempts=23, concurrency=8)
    for number in range(1, 4):
        ended(state, f"t-a-{number}", 100 * number, 100)
    state.apply_all([started("t-a-4", 400), started("t-a-5", 400)])
    assert time_to_go(state, at(400)) == pytest.approx(20 * 100 / 2)
    state.apply(ev.ConcurrencyChanged(at=at(400), concurrency=1))
    assert time_to_go(state, at(400)) == pytest.approx(20 * 100)


def test_no_trial_takes_longer_than_its_limits_allow() -> None:
    limits = {Phase.PREPARE: 10.0, Phase.AGENT: 120.0, Phase.VERIFY: 10.0}
    tasks = [f"t{number}" for number in range(12)]
    guessed: list[float | None] = []
    for given in (dict[Phase, float](), limits):
        state = run(*tasks, concurrency=4, limits=given)
        for number in range(3):
            ended(state, f"t{number}-a-1", 0, 10)
        for number in range(3, 7):
            name = f"t{number}-a-1"
            agent = ev.PhaseStarted(at=at(20), trial=name, phase=Phase.AGENT, limit_sec=given.get(Phase.AGENT))
            state.apply_all([started(name, 10), agent])
        guessed.append(time_to_go(state, at(130)))
    free, limited = guessed
    assert free is not None and limited is not None
    assert limited <= (4 * 30 + 5 * 180) / 4 + 180 < free  # whole minutes, and a moment for what is about to end


def test_limits_of_some_phases_alone_bound_nothing() -> None:
    limits = {Phase.PREPARE: 1.0, Phase.AGENT: 1.0, Phase.CLEANUP: 1.0}
    state = run("t1", "t2", "t3", limits=limits, concurrency=1)
    ended(state, "t1-a-1", 0, 100)
    assert (time_to_go(state, at(100)) or 0) > 190


def test_the_end_is_that_of_the_last_one_not_the_mean_of_all() -> None:
    state = run("long", "short", attempts=2, concurrency=4)
    ended(state, "long-a-1", 0, HOUR)
    ended(state, "short-a-1", 0, 60)
    state.apply_all([started("long-a-2", HOUR), started("short-a-2", HOUR)])
    assert time_to_go(state, at(HOUR)) == pytest.approx(HOUR)


def test_cancelled_trials_and_verdicts_without_times_say_nothing_and_a_run_that_is_over_has_no_end() -> None:
    state = run(*(f"t{number}" for number in range(6)))
    ended(state, "t1-a-1", 0, 5, outcome="cancelled", passed=None)
    state.apply(ev.TrialFinished(at=at(5), trial="t2-a-1", outcome="cancelled"))
    state.apply(ev.TrialFinished(at=at(5), trial="t3-a-1", outcome="scored", reward=1.0, passed=True))
    assert time_to_go(state, at(10)) is None
    for number in (0, 4, 5):
        ended(state, f"t{number}-a-1", 5, 60)
    assert time_to_go(state, at(70)) == 0
    state.apply(ev.RunFinished(at=at(71), exit_code=3, seconds=71))
    assert time_to_go(state, at(72)) is None


def test_what_is_kept_up_to_date_is_what_is_reckoned_anew() -> None:
    state = run("t1", "t2", "t3", arms=("a", "b"), attempts=3, concurrency=3)
    kept = TimeToGo(state)
    events: list[ev.Event] = []
    names = list(state.trials)
    for number, name in enumerate(names[:12]):
        events += [started(name, number), finished(name, 1.0, number + 40, seconds=40.0 + number)]
    again = ev.TrialInterrupted(at=at(100), trial=names[0], run_number=1, reason="wanted again")
    events += [
        again,
        started(names[0], 101, 2),
        ev.TrialWithdrawn(at=at(102), trial=names[13]),
        started(names[14], 103),
    ]
    said = 0
    for event in events:
        state.apply(event)
        kept.update(state.take_dirty())
        fresh = time_to_go(state, at(200))
        assert kept.seconds(at(200)) == (pytest.approx(fresh) if fresh is not None else None)
        said += fresh is not None
    assert said > 10
