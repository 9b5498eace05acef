"""A folder that AgentCompass wrote itself, with each kind of end: what is told of it is what its records say."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from engine.issues import Code, Severity
from engine.readers.agentcompass_plan import trial_id
from engine.readers.open_run import open_run
from engine.readers.reader import Liveness
from tests.engine.readers.foreign import state_of, tree_digest
from tests.shared_data import shared_data

REAL = ("agentcompass", "fake-model_terminal_bench_2_1_claude_code", "r2")


def test_the_real_folder_opens_in_its_true_state() -> None:
    state, liveness = state_of(shared_data(*REAL))
    assert liveness is Liveness.FINISHED
    assert {(trial.task, trial.attempt): trial.state for trial in state.trials.values()} == {
        **{(task, attempt): "failed" for task in ("a-pass", "b-fail") for attempt in (1, 2)},
        **{(task, attempt): "unscored" for task in ("c-noreward", "d-infra", "h-canary") for attempt in (1, 2)},
    }
    assert state.finished is not None and state.finished.exit_code == 3
    assert "Final FATAL issues" in state.finished.reason
    assert state.plan is not None
    assert (state.plan.tasks, state.plan.trials, state.plan.attempts, state.plan.concurrency) == (5, 10, 2, 4)
    (arm,) = state.plan.arms
    assert (arm.agent, arm.agent_version, arm.model) == ("claude_code", "9.9.9 (Fake Claude)", "fake-model")


def test_the_real_folders_times_add_up() -> None:
    state, _ = state_of(shared_data(*REAL))
    for trial in state.trials.values():
        assert trial.seconds is not None
        waited = 5 if trial.task in ("d-infra", "h-canary") else 0.1
        phases = sum(span.seconds or 0 for span in trial.phases)
        assert phases <= trial.seconds + 0.001
        assert trial.seconds - phases <= waited
    whole = state.finished
    assert whole is not None and whole.seconds == pytest.approx(58.82, abs=0.01)


def test_the_warning_that_only_the_real_log_tells_is_an_issue_of_the_run() -> None:
    folder = shared_data(*REAL)
    (issue,) = state_of(folder)[0].run_issues
    assert issue.severity is Severity.WARNING
    assert "resources.storage_mb=1024" in issue.message and "(24 times)" in issue.message
    evidence = issue.evidence[0]
    line = (folder / evidence.file).read_text().splitlines()[evidence.line - 1]
    assert "Ignoring resources.storage_mb=1024" in line


def test_every_piece_of_evidence_of_the_real_folder_leads_to_its_line() -> None:
    folder = shared_data(*REAL)
    state, _ = state_of(folder)
    opened = open_run(folder)
    looked_at = 0
    for name, trial in state.trials.items():
        for issue in trial.issues:
            for evidence in issue.evidence:
                path = opened.trial_folder(name) / evidence.file
                assert path.is_file(), evidence
                assert path.resolve().is_relative_to(folder.resolve())
                line = path.read_text().splitlines()[evidence.line - 1]
                if evidence.label == "run.log":
                    assert evidence.text[:60] in line and trial.task in line
                looked_at += 1
    assert looked_at > 20


def test_retries_of_the_real_folder_are_told_with_their_record() -> None:
    state, _ = state_of(shared_data(*REAL))
    trial = state.trials[trial_id("d-infra", 1)]
    retried, fatal = trial.issues
    assert retried.severity is Severity.WARNING and "tried again (1 of 1) after: apt_lock" in retried.message
    assert retried.evidence[0].file.startswith("retries/")
    assert (fatal.severity, fatal.code) == (Severity.FATAL, Code.VERIFIER_SETUP_FAILED)
    assert [evidence.label for evidence in fatal.evidence] == [
        "run.log",
        "run.log",
        "result.json",
        "exception",
        "verifier output",
    ]


def test_nothing_is_written_into_the_real_folder(tmp_path: Path) -> None:
    folder = tmp_path / "r2"
    shutil.copytree(shared_data(*REAL), folder)
    before = tree_digest(folder)
    state, _ = state_of(folder)
    opened = open_run(folder)
    for name in state.trials:
        assert opened.logs(name)
    assert opened.identity.startswith("r2-fake_model-")
    assert tree_digest(folder) == before
