"""What sessions tell: steps, refusals, and another model that answered."""

from __future__ import annotations

from pathlib import Path

from console.run_condition import load
from engine.analysis.trial_facts import Seen
from engine.readers.open_run import open_run
from engine.trajectories.steps import Step, Trajectory
from screens.read_sessions import read_sessions, seen_in

DEMO = Path(__file__).resolve().parents[2] / "sample_runs" / "recorded" / "demo"


def session(*models: str, errors: tuple[tuple[int, str], ...] = (), ended: str = "") -> Trajectory:
    steps = tuple(Step(number=number, source="agent", model=model) for number, model in enumerate(models, 1))
    return Trajectory(
        path=Path("s"), format="atif", steps=(Step(number=0, source="user"), *steps), errors=errors, ended=ended
    )


def test_only_answers_of_the_model_are_steps() -> None:
    assert seen_in([session("m", "m", "m")]) == Seen(steps=3)
    assert seen_in([session("m"), session("m", "m")]).steps == 3
    assert seen_in([session()]).steps is None


def test_a_refusal_stands_in_errors_or_in_how_the_session_ended() -> None:
    assert seen_in([session("m", errors=((1, "stop_reason: refusal"),))]).refused
    assert seen_in([session("m", ended="refusal")]).refused
    assert not seen_in([session("m", errors=((1, "overloaded_error"),))]).refused


def test_another_model_than_the_first_is_a_fallback_and_an_unnamed_one_is_not() -> None:
    assert seen_in([session("large", "small")]).fell_back
    assert not seen_in([session("large", "", "<synthetic>", "large")]).fell_back
    assert not seen_in([session("one"), session("two")]).fell_back


def test_the_recorded_run_s_sessions_are_read() -> None:
    found = read_sessions(open_run(DEMO), load(DEMO)[0])
    assert len(found) == 30 and all(one.steps and not one.refused for one in found.values())
