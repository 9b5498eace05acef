"""Real containers: every kind of failure has its own code and evidence, and none stops the others."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.issues import Severity
from engine.state import RunState
from tests.end_to_end.deck import codes, everything_labelled, only_run, state_of, trial_of, trialdeck
from tests.end_to_end.small_tasks import DOCKERFILE, small_task

pytestmark = pytest.mark.docker

UNHEALTHY = """
services:
  db:
    image: debian:bookworm-slim
    init: true
    command: [sleep, "600"]
    healthcheck: {test: [CMD-SHELL, "echo no database here; exit 1"], interval: 200ms, retries: 2}
"""
SIDECAR = """
services:
  db: {image: debian:bookworm-slim, init: true, command: [sleep, "600"]}
"""
BAKED = "FROM debian:bookworm-slim\nCOPY test.sh /tests/test.sh\n"


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> tuple[RunState, Path, int]:
    """One run over all of them."""
    place = tmp_path_factory.mktemp("failures")
    tasks = place / "tasks"
    small_task(tasks / "good")
    small_task(tasks / "fraction", test="echo 0.5 > /logs/verifier/reward.txt\n")
    small_task(tasks / "bad-build", environment__Dockerfile=DOCKERFILE + "RUN echo about to fail; exit 7\n")
    small_task(tasks / "unhealthy", **{"environment__docker-compose_dot_yaml": UNHEALTHY})
    small_task(
        tasks / "failing-hook",
        toml='[verifier]\n[[verifier.collect]]\ncommand = "echo no such table >&2; exit 3"\nservice = "db"\n',
        **{"environment__docker-compose_dot_yaml": SIDECAR},
    )
    small_task(tasks / "missing-artifact", toml='artifacts = ["/app/never-made.txt"]\n')
    small_task(tasks / "no-reward", test="echo I looked around\nexit 4\n")
    small_task(tasks / "crashed-verifier", test="kill -9 $$\n")
    small_task(
        tasks / "no-verifier",
        toml='[verifier]\nenvironment_mode = "separate"\n',
        test="no-such-test-runner --all\n",
        tests__Dockerfile=BAKED,
    )
    small_task(
        tasks / "greedy",
        toml="[environment]\nmemory_mb = 64\n",
        solve="tail /dev/zero\n",
        test="echo 0 > /logs/verifier/reward.txt\n",
    )
    small_task(tasks / "no-toml")
    (tasks / "no-toml" / "task.toml").write_text("schema_version = [\n")
    small_task(tasks / "needs-a-gpu", toml="[environment]\ngpus = 1\n")
    answer = trialdeck("run", str(tasks), "--agent", "oracle", "--plain", cwd=place)
    folder = only_run(place)
    return state_of(folder), folder, answer.returncode


def test_the_others_run_and_the_exit_code_says_that_some_have_no_score(ended: tuple[RunState, Path, int]) -> None:
    state, folder, code = ended
    assert code == 3
    assert state.done == len(state.trials) == 12
    assert trial_of(state, "good").state == "passed"
    assert everything_labelled(folder) == {}


def test_a_fraction_is_kept_and_fails(ended: tuple[RunState, Path, int]) -> None:
    trial = trial_of(ended[0], "fraction")
    assert (trial.reward, trial.passed, trial.state) == (0.5, False, "failed")


@pytest.mark.parametrize(
    ("task", "code", "severity", "evidence"),
    [
        ("bad-build", "image_build_failed", Severity.FATAL, "about to fail"),
        ("unhealthy", "service_unhealthy", Severity.FATAL, "no database here"),
        ("no-verifier", "verifier_setup_failed", Severity.FATAL, "no-such-test-runner"),
        ("crashed-verifier", "verifier_crashed", Severity.ERROR, ""),
        ("no-reward", "verifier_result_invalid", Severity.WARNING, "I looked around"),
        ("no-toml", "task_invalid", Severity.FATAL, ""),
        ("needs-a-gpu", "task_refused", Severity.FATAL, ""),
    ],
)
def test_an_unscored_trial_says_why(
    ended: tuple[RunState, Path, int], task: str, code: str, severity: Severity, evidence: str
) -> None:
    trial = trial_of(ended[0], task)
    assert trial.state in ("unscored", "refused")
    assert trial.reward is None and trial.passed is None
    (issue,) = (issue for issue in trial.issues if issue.code == code)
    assert issue.severity is severity
    assert evidence in " ".join((issue.message, *(item.text for item in issue.evidence)))


def test_a_scored_trial_keeps_its_verdict_beside_a_failing_hook(ended: tuple[RunState, Path, int]) -> None:
    trial = trial_of(ended[0], "failing-hook")
    assert trial.state == "passed"
    (issue,) = (issue for issue in trial.issues if issue.code == "artifact_collect_failed")
    assert (issue.severity, issue.service) == (Severity.WARNING, "db")
    assert "exit 3" in issue.message
    assert any("no such table" in item.text for item in issue.evidence)


def test_a_missing_artifact_is_recorded_and_shown(ended: tuple[RunState, Path, int]) -> None:
    trial = trial_of(ended[0], "missing-artifact")
    assert trial.state == "passed"
    assert "artifact_missing" in codes(trial)
    assert ("/app/never-made.txt", "missing") in {(row.source, row.status) for row in trial.artifacts}


def test_case_17_a_memory_limit_is_the_engines_own_record(ended: tuple[RunState, Path, int]) -> None:
    trial = trial_of(ended[0], "greedy")
    assert trial.state == "failed"
    assert "out_of_memory" in codes(trial)
    assert "killed_cause_unknown" not in codes(trial)
    assert trial.out_of_memory
