"""The harness, its budget, and what it never did."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from engine import events as ev
from engine.issues import Code, Severity
from engine.triage.causes import Cause
from engine.triage.proposal import Strength
from tests.engine.run_events import at
from tests.engine.triage.trials import Run, ends, issue, prints, runs, says


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run(tmp_path)


def _exit(code: int | None, **more: object) -> list[ev.Event]:
    return [ev.AgentFinished(at=at(9), trial="t", exit_code=code, seconds=7, timed_out=bool(more.get("timed_out")))]


TRACEBACK = """\
working
Traceback (most recent call last):
  File "/opt/agent/main.py", line 3, in <module>
    run()
  File "/opt/agent/loop.py", line 9, in run
    raise KeyError("tool")
KeyError: 'tool'
"""
NODE = """\
working
file:///opt/agent/cli.js:10
TypeError: Cannot read properties of undefined
    at run (file:///opt/agent/cli.js:10:3)
    at node:internal/main:1:1

Node.js v22.1.0
"""


@pytest.mark.parametrize(
    ("log", "line"), [(TRACEBACK, 7), (NODE, 3), ("thread 'main' panicked at src/main.rs:3:5:\nboom\n", 1)]
)
def test_an_exit_code_with_the_harness_s_own_crash_is_the_harness(run: Run, log: str, line: int) -> None:
    run.trial(events=_exit(1)).file("agent/agent.log", log)
    proposal = run.propose()
    assert (proposal.cause, proposal.strength) == (Cause.AGENT, Strength.STRONG)
    assert proposal.findings[0].rule == "harness_crashed"
    assert proposal.findings[0].evidence[0].line == line


def test_a_traceback_without_an_exit_code_is_a_command_s(run: Run) -> None:
    run.trial(events=_exit(0)).file("agent/agent.log", TRACEBACK)
    assert run.rules() == {"tests_failed"}


def test_a_traceback_that_the_harness_went_on_after_is_a_command_s(run: Run) -> None:
    run.trial(events=_exit(1)).file("agent/agent.log", TRACEBACK + "fixed it\n" * 20)
    assert run.found("harness_crashed") is None


def test_commands_that_fail_in_a_session_are_no_crash_of_the_harness(run: Run) -> None:
    run.trial(events=_exit(1)).session(runs("python x.py"), prints(TRACEBACK, failed=True), ends())
    assert run.found("harness_crashed") is None


def test_the_harness_s_own_failure_is_strong(run: Run) -> None:
    """Case 46: a time-out inside of it is no limit of ours."""
    failed = issue(Code.HARNESS_FAILED, "the agent's own code failed after 0.2 s: TimeoutError: inner")
    run.trial(issues=[failed])
    proposal = run.propose()
    assert (proposal.cause, proposal.strength) == (Cause.AGENT, Strength.STRONG)
    assert run.found("time_limit") is None


def test_an_exit_code_alone_is_weak(run: Run) -> None:
    """Case 71: the verdict outranks it."""
    run.trial(events=_exit(1), issues=[issue(Code.AGENT_EXIT_NONZERO, severity=Severity.WARNING)])
    proposal = run.propose()
    assert (proposal.cause, proposal.strength) == (Cause.AGENT, Strength.WEAK)


def test_a_pass_with_an_exit_code_needs_no_decision(run: Run) -> None:
    """Case 71, agent A."""
    run.trial(reward=1.0, events=_exit(1), issues=[issue(Code.AGENT_EXIT_NONZERO, severity=Severity.WARNING)])
    assert run.propose().cause is None


def test_spent_time_is_budget_and_no_infrastructure(run: Run) -> None:
    """Case 53."""
    run.trial(issues=[issue(Code.HARNESS_TIMEOUT, severity=Severity.WARNING)], timed_out=True)
    assert (run.propose().cause, run.propose().strength) == (Cause.BUDGET, Strength.STRONG)


def test_whose_word_it_is_that_the_time_was_up_is_told(tmp_path: Path) -> None:
    """No clock of ours ran in another tool's run."""
    for source, said in (("trialdeck", "engine's clock"), ("terminal-bench", "terminal-bench's record")):
        run = Run(tmp_path / source, source=source)
        run.trial(issues=[issue(Code.HARNESS_TIMEOUT, severity=Severity.WARNING)], timed_out=True)
        assert run.propose().findings[0].source == said


def test_spent_time_without_an_issue_is_budget_too(run: Run) -> None:
    run.trial(timed_out=True, agent_seconds=61.0, limit=60.0)
    found = run.found("time_limit")
    assert found is not None
    assert found.text == "the agent's time was up after 61 s (limit 60 s)"


def test_a_turn_limit_is_budget_by_the_harness_s_last_word(run: Run) -> None:
    """Case 71, agent B."""
    run.trial(events=_exit(3)).file("agent/agent.log", "working\nMaxTurnError: 250\n")
    assert (run.propose().cause, run.propose().strength) == (Cause.BUDGET, Strength.STRONG)


@pytest.mark.parametrize("word", ["error_max_turns", "error_max_budget_usd"])
def test_a_limit_in_the_session_s_own_end_is_budget(run: Run, word: str) -> None:
    run.trial().session(says(), ends(word, error=True))
    found = run.found("limit_reached")
    assert found is not None
    assert (run.propose().cause, found.strength) == (Cause.BUDGET, Strength.STRONG)


def test_a_limit_that_the_engine_saw_is_budget_and_told_once(run: Run) -> None:
    """Case 71: the verdict stands beside the limit."""
    run.trial(issues=[issue(Code.AGENT_LIMIT_REACHED, severity=Severity.WARNING)]).session(
        says(), ends("error_max_turns", error=True)
    )
    found = run.found("limit_reached")
    assert found is not None and found.source == "the agent's end"
    assert (run.propose().cause, found.strength) == (Cause.BUDGET, Strength.STRONG)


def test_a_limit_in_the_middle_of_a_log_is_no_end(run: Run) -> None:
    run.trial(events=_exit(1)).file("agent/agent.log", "MaxTurnError: 250\n" + "more\n" * 9)
    assert run.found("limit_reached") is None


def _at(minutes: float) -> dict[str, Any]:
    return {"timestamp": (datetime(2020, 1, 1, tzinfo=UTC) + timedelta(minutes=minutes)).isoformat()}


def test_steps_later_than_the_limit_allows_are_told_by_one_clock(run: Run) -> None:
    """Case 77: the session's times are years off ours, which says nothing."""
    run.trial(reward=1.0, limit=60.0).session(
        says(message="m1", **_at(0)), says(message="m2", **_at(1)), says(message="m3", **_at(5)), ends()
    )
    found = run.found("agent_past_its_time")
    assert found is not None
    assert (found.strength, found.step, run.propose().cause) == (Strength.STRONG, 3, Cause.AGENT)


def test_a_session_within_its_limit_is_not_late(run: Run) -> None:
    run.trial(reward=1.0, limit=600.0).session(says(message="m1", **_at(0)), says(message="m2", **_at(5)), ends())
    assert run.propose().cause is None


def test_a_pass_after_time_out_is_doubtful_where_the_tool_lets_agents_go_on(tmp_path: Path) -> None:
    run = Run(tmp_path, source="harbor").trial(reward=1.0, timed_out=True)
    assert run.found("agent_past_its_time") is not None
    ours = Run(tmp_path).trial(reward=1.0, timed_out=True)
    assert ours.found("agent_past_its_time") is None


def test_no_token_at_all_is_told_and_unknown_is_not_zero(run: Run) -> None:
    run.trial(tokens_in=0, tokens_out=0).trial("u", arm="b")
    assert run.found("zero_tokens") is not None
    assert run.found("zero_tokens", "u") is None


def test_an_agent_that_asks_no_model_spends_no_tokens(run: Run) -> None:
    run.trial(arm="o", tokens_in=0, tokens_out=0)
    assert run.found("zero_tokens") is None


SHELL = "start\n/solution/solve.sh: line 3:    28 Killed                  perl big.pl\nrc=137\n"


def test_a_kill_that_nobody_recorded_is_told_where_shell_and_exit_code_agree(tmp_path: Path) -> None:
    """Case 17: the tool that made the run keeps no record of Docker's."""
    run = Run(tmp_path, source="harbor").trial(arm="o").file("agent/oracle.txt", SHELL)
    assert run.found("killed_in_the_log") is None
    run.file("agent/exit-code.txt", "137")
    found = run.found("killed_in_the_log")
    assert found is not None
    assert (found.cause, found.strength, found.evidence[0].line) == (Cause.INFRASTRUCTURE, Strength.WEAK, 2)


def test_where_docker_s_record_is_kept_the_shell_s_word_is_not_needed(run: Run) -> None:
    run.trial(events=_exit(137)).file("agent/agent.log", SHELL)
    assert run.found("killed_in_the_log") is None
