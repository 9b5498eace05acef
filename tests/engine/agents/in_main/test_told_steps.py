"""Steps told while they come: reported once, and written as they grow."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from engine.agents.arms import parse_arm
from engine.agents.in_main.told_steps import ToldSteps
from engine.models.model_call import CostSource
from engine.trajectories import draft
from engine.trajectories.read import read_trajectory
from engine.trajectories.steps import Call, Observation, Step
from tests.engine.agents.sessions import Session


@pytest.fixture
def session(tmp_path: Path) -> Session:
    return Session(tmp_path, parse_arm("claude_code:model=x"))


def told(session: Session) -> ToldSteps:
    return ToldSteps(session.given, agent="some-agent", version="3")


def written(session: Session) -> tuple[Step, ...]:
    found = read_trajectory(session.folder / "trajectory.json")
    assert found is not None and found.problems == ()
    return found.steps


def test_what_comes_back_completes_a_step_that_is_written_already(session: Session) -> None:
    steps, found = told(session), draft.Session("x")
    step = found.begin("agent")
    step.calls.append(Call(tool="Bash", text="ls", id="c1"))
    steps.tell(found)
    assert written(session)[0].observations == ()
    step.observations.append(Observation(text="a b", call="c1"))
    step.changed()
    steps.tell(found)
    assert written(session)[0].observations[0].text == "a b"
    assert session.steps == [] and session.activities[-1] == "step 1 · Bash: ls"


def test_only_steps_of_the_agent_are_reported_and_counted(session: Session) -> None:
    steps, found = told(session), draft.Session("x")
    for source in ("user", "agent", "system", "agent", "user"):
        found.begin(source).messages.append(source)
        steps.tell(found)
    steps.finish(ended="done")
    assert [step.what for step in session.steps] == ["agent", "agent"] and steps.made == 2
    assert [step.source for step in written(session)] == ["user", "agent", "system", "agent", "user"]


def test_a_step_is_not_over_because_something_else_was_said(session: Session) -> None:
    steps, found = told(session), draft.Session("x")
    found.begin("agent").messages.append("working")
    found.begin("user").messages.append("a reminder")
    steps.tell(found)
    assert session.steps == []
    found.begin("agent").messages.append("on")
    steps.tell(found)
    assert [step.what for step in session.steps] == ["working"]


def test_a_session_that_is_read_anew_each_time_is_told_once(session: Session) -> None:
    steps = told(session)
    for count in (1, 2, 2, 3):
        found = draft.Session("x")
        for number in range(count):
            found.begin("agent").messages.append(f"step {number}")
        steps.tell(found)
    steps.finish()
    assert [step.what for step in session.steps] == ["step 0", "step 1", "step 2"]
    assert [step.message for step in written(session)] == ["step 0", "step 1", "step 2"]


def test_a_cost_of_the_whole_session_stands_at_its_last_step(session: Session) -> None:
    """Case 68: and at no other, since nobody knows more."""
    steps, found = told(session), draft.Session("x")
    for source in ("agent", "agent", "user"):
        found.begin(source).messages.append("x")
    steps.tell(found)
    steps.finish(cost_usd=0.25, cost_source=CostSource.AGENT)
    assert [(step.cost_usd, step.cost_source) for step in session.steps] == [(None, None), (0.25, CostSource.AGENT)]
    assert [step.cost_usd for step in written(session)] == [None, 0.25, None]


def test_a_session_without_a_step_reports_nothing(session: Session) -> None:
    steps = told(session)
    steps.tell(draft.Session("x"))
    steps.finish(cost_usd=1.0, cost_source=CostSource.AGENT)
    assert session.steps == [] and not (session.folder / "trajectory.json").exists()


def test_what_a_format_says_less_of_than_it_seems_can_be_left_out(session: Session) -> None:
    steps = ToldSteps(
        session.given, agent="a", version="1", as_told=lambda step: msgspec.structs.replace(step, tokens_out=None)
    )
    found = draft.Session("x")
    found.begin("agent").tokens_out = 1
    steps.tell(found)
    steps.finish()
    assert session.steps[0].tokens_out is None and written(session)[0].tokens_out is None


def test_a_step_that_says_nothing_is_named_by_its_calls(session: Session) -> None:
    steps, found = told(session), draft.Session("x")
    step = found.begin("agent")
    step.calls += [Call(tool="Read", text="a.py"), Call(tool="Stop", text="")]
    steps.tell(found)
    steps.finish()
    assert session.steps[0].what == "Read: a.py; Stop"


def test_what_comes_back_makes_no_second_activity_of_one_step(session: Session) -> None:
    steps, found = told(session), draft.Session("x")
    for name in ("c1", "c2"):
        step = found.begin("agent")
        step.calls.append(Call(tool="Bash", text="make", id=name))
        steps.tell(found)
        step.observations.append(Observation(text="built", call=name))
        step.changed()
        steps.tell(found)
        found.begin("user").messages.append("a reminder")
        steps.tell(found)
    assert session.activities == ["step 1 · Bash: make", "step 2 · Bash: make"]
