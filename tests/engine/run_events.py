"""Streams of events for tests, written in a few words."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from engine import events as ev
from engine.issues import Code, Issue, Phase, Severity
from engine.state import RunState

START = datetime(2026, 1, 1, tzinfo=UTC)


def at(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def planned(*trials: str, arms: tuple[str, ...] = ("a",), **plan: Any) -> list[ev.Event]:
    """A plan with these trials, dealt to the arms in turn."""
    given: dict[str, Any] = {"concurrency": 2, **plan}
    head = ev.RunPlanned(
        at=at(0),
        run="r",
        name="run",
        task_set=ev.TaskSetInfo(name="set"),
        arms=tuple(ev.ArmInfo(name=arm, agent="nop") for arm in arms),
        tasks=len(trials),
        trials=len(trials),
        **given,
    )
    return [head] + [
        ev.TrialPlanned(at=at(0), trial=name, task=name, arm=arms[number % len(arms)], attempt=1, position=number + 1)
        for number, name in enumerate(trials)
    ]


def started(trial: str, second: float = 1, run_number: int = 1) -> ev.TrialStarted:
    return ev.TrialStarted(at=at(second), trial=trial, run_number=run_number)


def finished(trial: str, reward: float | None, second: float = 10, **more: Any) -> ev.TrialFinished:
    given: dict[str, Any] = {
        "outcome": "unscored" if reward is None else "scored",
        "passed": None if reward is None else reward == 1,
        "seconds": 9.0,
        **more,
    }
    return ev.TrialFinished(at=at(second), trial=trial, reward=reward, **given)


def issue(
    severity: Severity = Severity.WARNING, code: Code = Code.ARTIFACT_MISSING, message: str = "m", **more: Any
) -> Issue:
    return Issue(severity, Phase.COLLECT, code, message, **more)


def folded(*events: ev.Event) -> RunState:
    state = RunState()
    state.apply_all(events)
    return state
