"""What only other trials tell: tasks that fail for everybody, attempts that disagree, outages."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine import events as ev
from engine.issues import Code, Phase, Severity
from engine.triage.causes import Cause
from engine.triage.proposal import Strength
from tests.engine.run_events import at
from tests.engine.triage.trials import Run, issue


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run(tmp_path)


UNHEALTHY = issue(Code.SERVICE_UNHEALTHY, "service main is unhealthy", severity=Severity.FATAL)
POOL = issue(Code.ADDRESS_POOL_EXHAUSTED, severity=Severity.FATAL)


def test_an_error_of_every_arm_on_one_task_alone_points_at_the_task(run: Run) -> None:
    """Case 13: same verdict for every model."""
    run.trial(reward=None, issues=[UNHEALTHY]).trial("u", None, arm="b", issues=[UNHEALTHY])
    run.trial("v", 1.0, task="other")
    proposal = run.propose()
    assert (proposal.cause, proposal.findings[0].rule) == (Cause.TASK, "fails_for_everybody")
    assert run.found("health_check") is not None


def test_an_error_of_one_arm_or_of_many_tasks_is_infrastructure(run: Run) -> None:
    run.trial(reward=None, issues=[UNHEALTHY]).trial("u", 1.0, arm="b").trial("v", 1.0, task="other")
    assert run.propose().cause is Cause.INFRASTRUCTURE
    everywhere = Run(run.folder).trial(reward=None, issues=[UNHEALTHY]).trial("u", None, arm="b", issues=[UNHEALTHY])
    everywhere.trial("v", None, task="other", issues=[UNHEALTHY])
    assert everywhere.propose().cause is Cause.INFRASTRUCTURE


def test_a_full_host_is_nobody_s_task(run: Run) -> None:
    """Case 16."""
    run.trial(reward=None, issues=[POOL]).trial("u", None, arm="b", issues=[POOL]).trial("v", 1.0, task="other")
    assert run.propose().cause is Cause.INFRASTRUCTURE


@pytest.mark.parametrize(("oracle", "cause"), [(0.0, Cause.TASK), (1.0, Cause.MODEL)])
def test_a_task_whose_own_solution_fails_is_broken(run: Run, oracle: float, cause: Cause) -> None:
    """Case 52."""
    run.trial().trial("u", oracle, arm="o")
    assert run.propose().cause is cause
    assert ("solution_passes" in run.rules()) == (oracle == 1.0)


def test_an_oracle_that_was_struck_by_something_else_proves_nothing(run: Run) -> None:
    run.trial().trial("u", 0.0, arm="o", issues=[issue(Code.DISK_FULL)])
    assert run.found("solution_fails") is None


def test_a_solution_that_is_judged_both_ways_is_flaky(run: Run) -> None:
    """Case 55."""
    run.trial(arm="o").trial("u", 1.0, arm="o", attempt=2)
    proposal = run.propose()
    assert (proposal.cause, proposal.findings[0].rule, proposal.strength) == (Cause.GRADER, "flaky", Strength.STRONG)


def _handed(trial: str, sha256: str) -> list[ev.Event]:
    return [
        ev.ArtifactRecorded(
            at=at(5), trial=trial, service="main", source="/app/out", status="collected", bytes=3, sha256=sha256
        )
    ]


def test_equal_artifacts_with_another_verdict_are_flaky(run: Run) -> None:
    """Case 55: a task with mixed verdicts on equal artifacts."""
    run.trial(events=_handed("t", "aa")).trial("u", 1.0, attempt=2, events=_handed("u", "aa"))
    assert (run.propose().cause, run.propose().findings[0].rule) == (Cause.GRADER, "attempts_disagree")
    assert run.propose("u").cause is Cause.GRADER


def test_attempts_that_worked_differently_are_no_sign_of_flakiness(run: Run) -> None:
    run.trial(events=_handed("t", "aa")).trial("u", 1.0, attempt=2, events=_handed("u", "bb"))
    assert run.propose().cause is Cause.MODEL
    assert "attempts_differ" in run.rules()
    assert run.propose("u").cause is None


def test_a_task_that_nop_passes_makes_every_pass_of_it_doubtful(run: Run) -> None:
    """Case 52."""
    run.trial(reward=1.0).trial("u", 1.0, arm="n")
    assert run.propose().cause is Cause.TASK


def test_many_that_fail_alike_within_minutes_are_an_outage(run: Run) -> None:
    for number in range(4):
        run.trial(f"t{number}", None, task=f"task{number}", issues=[POOL], second=100 + number)
    found = run.found("many_at_once", "t0")
    assert found is not None
    assert found.cause is Cause.INFRASTRUCTURE
    assert found.text.startswith("4 of 4 trials")


def test_trials_that_never_got_an_answer_at_one_time_point_at_the_provider(run: Run) -> None:
    """Case 62."""
    for number in range(3):
        run.trial(f"t{number}", 0.0, task=f"task{number}", tokens_in=0, tokens_out=0, second=100 + number)
    found = run.found("many_at_once", "t0")
    assert found is not None
    assert found.cause is Cause.PROVIDER
    assert run.propose("t0").cause is Cause.PROVIDER


def test_the_same_spread_over_hours_is_no_outage(run: Run) -> None:
    for number in range(4):
        run.trial(f"t{number}", None, task=f"task{number}", issues=[POOL], second=100 + 3600 * number)
    assert run.found("many_at_once", "t0") is None


def test_a_task_that_could_not_be_read_is_the_task_s(run: Run) -> None:
    invalid = issue(Code.TASK_INVALID, "task.toml: no [verifier]", severity=Severity.FATAL)
    run.trial(reward=None, outcome="refused", issues=[invalid])
    assert (run.propose().cause, run.propose().strength) == (Cause.TASK, Strength.STRONG)


def test_a_trial_that_is_not_over_has_no_proposal(run: Run) -> None:
    run.state.apply(ev.TrialPlanned(at=at(0), trial="later", task="fix", arm="a", attempt=9, position=1))
    assert run.propose("later").cause is None
    assert run.propose("later").findings == ()


def test_a_task_that_an_arm_s_agent_can_t_take_is_no_fault_of_the_task(run: Run) -> None:
    words = "task t needs an SSE MCP server (db); agent codex takes stdio, streamable-http"
    run.trial(reward=None, issues=[issue(Code.AGENT_INCOMPATIBLE, words, severity=Severity.FATAL)])
    proposal = run.propose()
    assert (proposal.cause, proposal.strength, proposal.findings[0].text) == (Cause.AGENT, Strength.STRONG, words)


@pytest.mark.parametrize("phase", [None, Phase.AGENT])
def test_a_key_that_a_person_did_not_give_is_no_fault_of_the_agent(run: Run, phase: Phase | None) -> None:
    words = "no key for m: OPENAI_API_KEY is not set"
    run.trial(reward=None, issues=[issue(Code.AGENT_UNAVAILABLE, words, severity=Severity.FATAL, phase=phase)])
    proposal = run.propose()
    assert (proposal.cause, proposal.strength) == (Cause.INFRASTRUCTURE, Strength.STRONG)
    assert (proposal.findings[0].rule, proposal.findings[0].text) == ("agent_unavailable", words)
    assert {finding.cause for finding in proposal.findings} == {Cause.INFRASTRUCTURE}
