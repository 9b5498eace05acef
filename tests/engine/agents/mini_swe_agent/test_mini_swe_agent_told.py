"""What mini-swe-agent really tells (recorded with a scripted model), as steps and issues."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.agents.mini_swe_agent.ended import MiniSweAgentEnd
from engine.issues import Code, Issue
from engine.trajectories.mini_swe_agent import MiniSweAgentFold
from engine.trajectories.steps import Trajectory
from engine.trajectories.untyped import decoded

RECORDED = Path(__file__).with_name("recorded")
LOG = "agent/mini_swe_agent.txt"


def told(name: str) -> tuple[Trajectory, MiniSweAgentEnd, Issue | None]:
    fold, end = MiniSweAgentFold(), MiniSweAgentEnd(LOG)
    for number, line in enumerate((RECORDED / f"{name}.txt").read_bytes().splitlines(), 1):
        if (record := decoded(line)) is not None:
            fold.take(number, record)
            end.watch(number, record)
    return fold.session.trajectory(RECORDED), end, end.issue()


@pytest.mark.parametrize("name", ["done", "done_anthropic", "done_responses"])
def test_a_solved_task_is_three_steps_in_every_protocol(name: str) -> None:
    found, end, issue = told(name)
    steps = [step for step in found.steps if step.source == "agent"]
    assert [(step.message, [call.text for call in step.calls]) for step in steps] == [
        ("I write it.", ["echo 42 > answer.txt; cat answer.txt"]),
        ("", ["exit 3"]),
        ("It is written.", ["echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"]),
    ]
    assert steps[0].thought == "It wants a number." and steps[1].observations[0].exit_code == 3
    assert [(step.tokens_in, step.tokens_cached, step.tokens_out) for step in steps] == [(1200, 1000, 60)] * 3
    assert all(step.seconds is not None and step.line for step in steps[:2])
    assert (found.agent_version, found.ended, end.ended, issue) == ("2.4.6", "Submitted", "Submitted", None)


def test_case_68_a_cost_that_nobody_knows_is_not_zero() -> None:
    found, _, _ = told("done")
    assert found.cost_usd is None and all(step.cost_usd is None for step in found.steps)


def test_case_71_a_limit_of_its_own_is_a_limit_and_no_failure() -> None:
    found, _, issue = told("step_limit")
    assert issue is not None and issue.code is Code.AGENT_LIMIT_REACHED and "2 answers" in issue.message
    assert found.ended == "LimitsExceeded" and found.errors == ()


@pytest.mark.parametrize(
    ("name", "code", "status"),
    [
        ("unauthorized", Code.MODEL_AUTH_FAILED, "AuthenticationError"),
        ("overloaded", Code.MODEL_OVERLOADED, "ServiceUnavailableError"),
        ("context_full", Code.MODEL_CONTEXT_FULL, "BadRequestError"),
        ("filtered", Code.MODEL_FILTERED, "BadRequestError"),
        ("cut_off", Code.MODEL_CALL_MALFORMED, "RepeatedFormatError"),
        ("refused", Code.MODEL_CALL_MALFORMED, "RepeatedFormatError"),
    ],
)
def test_cases_62_and_64_why_it_gave_up_has_the_code_and_the_line_of_its_last_word(
    name: str, code: Code, status: str
) -> None:
    _, end, issue = told(name)
    assert issue is not None and issue.code is code and status in issue.message and end.ended == status
    evidence = issue.evidence[0]
    line = (RECORDED / f"{name}.txt").read_text().splitlines()[evidence.line - 1]
    assert evidence.file == LOG and '"role": "exit"' in line and evidence.text


def test_an_answer_without_a_call_is_complained_of_and_goes_on() -> None:
    found, end, issue = told("malformed_call")
    assert end.ended == "Submitted" and issue is None
    assert len([step for step in found.steps if step.source == "agent"]) == 3
