"""The grader: whether it started, ran its tests, said something, and was the one who said it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from engine import events as ev
from engine.issues import Code, Phase, Severity
from engine.triage.causes import Cause
from engine.triage.proposal import Strength
from tests.engine.run_events import at
from tests.engine.triage.trials import Run, ends, evidence, issue, prints, runs


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run(tmp_path)


def _ctrf(*statuses: str, **summary: int) -> str:
    counts = {name: statuses.count(name) for name in ("passed", "failed", "skipped", "pending", "other")}
    tests = [{"name": f"test {number}", "status": status} for number, status in enumerate(statuses, 1)]
    return json.dumps({"results": {"summary": {"tests": len(statuses), **counts, **summary}, "tests": tests}})


def test_a_verifier_that_could_not_start_is_the_grader_s(run: Run) -> None:
    """Case 20."""
    found = issue(
        Code.VERIFIER_SETUP_FAILED, "test.sh could not be started: exec format error", severity=Severity.FATAL
    )
    run.trial(reward=None, issues=[found])
    proposal = run.propose()
    assert (proposal.cause, proposal.strength) == (Cause.GRADER, Strength.STRONG)
    assert proposal.findings[0].rule == "verifier_not_started"


@pytest.mark.parametrize(
    "sign",
    [
        "Temporary failure resolving 'packages.example.org'",
        "E: Failed to fetch http://packages.example.org/x  Connection failed",
        "curl: (28) Operation timed out",
    ],
)
def test_a_verifier_without_its_network_is_infrastructure(run: Run, sign: str) -> None:
    found = issue(
        Code.VERIFIER_SETUP_FAILED,
        f"the verifier never got to its tests: {sign}",
        severity=Severity.FATAL,
        evidence=(evidence(sign, "verifier/test-stdout.txt", 7, "sign"),),
    )
    run.trial(reward=None, issues=[found])
    assert run.propose().cause is Cause.INFRASTRUCTURE


def test_a_missing_reward_is_the_grader_s_and_never_a_loss(run: Run) -> None:
    """Case 59."""
    missing = issue(
        Code.VERIFIER_RESULT_INVALID,
        "the verifier wrote neither reward.json nor reward.txt; test.sh ended with exit code 0",
        severity=Severity.WARNING,
        evidence=(evidence("boom", "verifier/test-stdout.txt", 1),),
    )
    run.trial(reward=None, issues=[missing])
    proposal = run.propose()
    assert (proposal.cause, proposal.findings[0].rule) == (Cause.GRADER, "missing_reward")
    assert proposal.findings[0].evidence[0].file == "verifier/test-stdout.txt"


def test_what_killed_the_environment_outranks_the_reward_that_is_missing(run: Run) -> None:
    died = issue(Code.ENVIRONMENT_DIED, "main died while the agent's command ran", service="main")
    missing = issue(Code.VERIFIER_RESULT_INVALID, severity=Severity.WARNING)
    run.trial(reward=None, issues=[died, missing])
    assert run.propose().cause is Cause.INFRASTRUCTURE
    assert run.found("missing_reward") is not None


def test_a_report_whose_tests_did_not_run_says_so(run: Run) -> None:
    run.trial().file("verifier/ctrf.json", _ctrf(*["skipped"] * 11))
    found = run.found("no_tests_collected")
    assert found is not None
    assert (found.text, found.strength, found.cause) == ("0 of 11 tests ran", Strength.STRONG, Cause.GRADER)
    assert found.evidence[0].file == "verifier/ctrf.json"


def test_a_report_with_failures_is_the_models_and_names_them(run: Run) -> None:
    run.trial().file("verifier/ctrf.json", _ctrf("passed", "failed"))
    proposal = run.propose()
    assert (proposal.cause, proposal.strength) == (Cause.MODEL, Strength.WEAK)
    assert proposal.findings[0].text == "1 of 2 tests failed: test 2"


@pytest.mark.parametrize(
    ("output", "cause", "line"),
    [
        ("== test session starts ==\ncollected 0 items\n\n=== no tests ran in 0.01s ===\n", Cause.GRADER, 2),
        ("collected 0 items / 1 error\n!!!!!! Interrupted: 1 error during collection !!!!!!\n", Cause.AMBIGUOUS, 2),
    ],
)
def test_pytest_s_own_lines_say_that_nothing_was_collected(run: Run, output: str, cause: Cause, line: int) -> None:
    run.trial().file("verifier/test-stdout.txt", output)
    found = run.found("no_tests_collected")
    assert found is not None
    assert (found.cause, found.evidence[0].line) == (cause, line)


@pytest.mark.parametrize(
    "output",
    [
        "collected 3 items\nE   assert 'collected 0 items' in out\ncollected 0 items\n1 failed\n",
        "the log said: collected 0 items\n",
    ],
)
def test_the_same_words_elsewhere_prove_nothing(run: Run, output: str) -> None:
    run.trial().file("verifier/test-stdout.txt", output)
    assert run.found("no_tests_collected") is None


@pytest.mark.parametrize(
    "command",
    [
        "echo 1 > /logs/verifier/reward.txt",
        "mkdir -p /logs/verifier; echo '{\"reward\": 1}' >/logs/verifier/reward.json",
        "echo 1 | tee /logs/verifier/reward.txt",
        "cp /tmp/one /logs/verifier/reward.txt",
        "cd /logs/verifier && echo 1 > reward.txt",
        "echo 1 >| /logs/verifier/reward.txt",
        "sed -i s/0/1/ /logs/verifier/reward.txt",
        "python3 -c \"open('/logs/verifier/reward.txt', 'w').write('1')\"",
    ],
)
@pytest.mark.parametrize("reward", [0.0, 1.0])
def test_a_reward_that_the_agent_wrote_is_found_in_its_commands(run: Run, command: str, reward: float) -> None:
    run.trial(reward=reward).session(runs(command), prints(""), ends())
    found = run.found("reward_by_agent")
    assert found is not None
    assert (found.cause, found.strength, found.step) == (Cause.GRADER, Strength.STRONG, 1)
    assert run.propose().cause is Cause.GRADER


@pytest.mark.parametrize(
    "command",
    [
        "cat /logs/verifier/reward.txt",
        "ls /logs/verifier/",
        "grep reward /tests/test.sh",
        "cat /tests/test.sh",
        "cd /logs/verifier; cat reward.txt > /tmp/x",
        "cat /logs/verifier/reward.txt > /tmp/x",
    ],
)
def test_looking_at_the_verifier_s_folder_writes_no_reward(run: Run, command: str) -> None:
    run.trial().session(runs(command), prints("echo 1 > /logs/verifier/reward.txt"), ends())
    assert run.found("reward_by_agent") is None


def test_a_reward_older_than_the_verifier_is_told_by_its_time(run: Run) -> None:
    verify = ev.PhaseStarted(at=at(50), trial="t", phase=Phase.VERIFY)
    run.trial(reward=1.0, events=[verify]).file("verifier/reward.txt", "1")
    place = run.folder / "t" / "verifier" / "reward.txt"
    assert run.found("reward_by_agent") is None
    os.utime(place, (at(20).timestamp(), at(20).timestamp()))
    found = run.found("reward_by_agent")
    assert found is not None
    assert found.strength is Strength.WEAK


def test_only_a_planted_conftest_makes_a_pass_doubtful(run: Run) -> None:
    """Case 52."""
    changes = {"added": ["/app/conftest.py", "/app/__pycache__/x.pyc"], "changed": [], "deleted": []}
    run.trial(reward=1.0).file("changes.json", json.dumps(changes))
    assert run.propose().cause is Cause.GRADER
    changes["added"].append("/app/main.py")
    run.file("changes.json", json.dumps(changes))
    assert run.propose().cause is None


def test_a_planted_conftest_is_not_all_where_work_may_lie_unseen(run: Run) -> None:
    changes = {"added": ["/app/conftest.py"], "unseen": ["/data"]}
    run.trial(reward=1.0).file("changes.json", json.dumps(changes))
    assert run.propose().cause is None


def test_a_pass_in_which_nothing_changed_points_at_the_task(run: Run) -> None:
    """Case 52."""
    run.trial(reward=1.0, issues=[issue(Code.PASSED_WITHOUT_CHANGES, severity=Severity.WARNING)])
    assert run.propose().cause is Cause.TASK


def test_nothing_handed_over_is_the_task_s_unless_others_handed_something_over(run: Run) -> None:
    """Case 40."""
    nothing = issue(Code.NOTHING_HANDED_OVER, severity=Severity.WARNING, phase=Phase.VERIFY)
    run.trial(issues=[nothing])
    assert run.propose().cause is Cause.TASK
    run.trial("u", 1.0, arm="o")
    found = run.found("nothing_handed_over")
    assert found is not None
    assert found.cause is Cause.MODEL and "; 1 other trial of this task handed" in found.text
    run.trial("w", 1.0, arm="b")
    found = run.found("nothing_handed_over")
    assert found is not None and "; 2 other trials of this task handed" in found.text


def test_a_hook_that_fails_for_those_who_pass_explains_no_failure(run: Run) -> None:
    hook = issue(Code.ARTIFACT_COLLECT_FAILED, severity=Severity.WARNING, phase=Phase.COLLECT)
    run.trial(issues=[hook])
    assert run.found("collect_failed") is not None
    run.trial("u", 1.0, arm="o", issues=[])
    run.trial("v", 1.0, arm="b", events=[ev.IssueRaised(at=at(5), trial="v", issue=hook)])
    assert run.found("collect_failed") is None


@pytest.mark.parametrize(
    "content", ["", "{", "[1]", '{"results": 3}', '{"results": {"summary": {"tests": "x"}}}', "\x00"]
)
def test_half_written_and_hostile_files_raise_nothing(run: Run, content: str) -> None:
    """Case 80."""
    run.trial()
    for name in ("verifier/ctrf.json", "changes.json", "agent/trajectory.json", "verifier/test-stdout.txt"):
        run.file(name, content)
    assert run.propose().cause is Cause.MODEL


def test_a_link_out_of_the_folder_is_not_read(run: Run, tmp_path: Path) -> None:
    outside = tmp_path / "outside.txt"
    outside.write_text("collected 0 items\n")
    run.trial().file("verifier/reward.txt", "0")
    (run.folder / "t" / "verifier" / "test-stdout.txt").symlink_to(outside)
    assert run.found("no_tests_collected") is None
