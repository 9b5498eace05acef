"""Every real job folder of Harbor 0.26 in its true state, with what only its logs tell."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest

from engine.issues import Code, Issue, Phase, Severity
from engine.readers.harbor import HARBOR
from engine.readers.open_run import recognise
from engine.readers.reader import Liveness
from engine.state import RunState
from engine.trial_state import TrialState
from tests.engine.readers import foreign
from tests.shared_data import shared_data

JOBS = "harbor-jobs"


def read(name: str) -> tuple[RunState, Liveness]:
    folder = shared_data(JOBS, name)
    found = recognise(folder)
    assert found is not None
    assert (found.kind, found.ours) == ("harbor", False)
    return foreign.state_of(folder)


def only_trial(name: str) -> TrialState:
    (trial,) = read(name)[0].trials.values()
    return trial


def issue(trial: TrialState, code: Code) -> Issue:
    (found,) = [issue for issue in trial.issues if issue.code is code]
    return found


def line_of(folder: Path, trial: str, issue: Issue, number: int = 0) -> str:
    """The very line that a piece of evidence points to."""
    evidence = issue.evidence[number]
    path = HARBOR.trial_folder(folder, trial) / evidence.file
    return path.read_text().splitlines()[evidence.line - 1]


@pytest.mark.parametrize(
    ("name", "liveness", "exit_code", "states"),
    [
        ("finished", Liveness.FINISHED, 0, {"passed": 1}),
        ("eight-attempts", Liveness.FINISHED, 0, {"passed": 8}),
        ("three-tasks", Liveness.FINISHED, 0, {"passed": 3}),
        ("fresh-verifier-failing-hooks", Liveness.FINISHED, 0, {"passed": 1}),
        ("agent-timeout", Liveness.FINISHED, 0, {"passed": 1}),
        ("out-of-memory", Liveness.FINISHED, 0, {"failed": 1}),
        ("no-reward", Liveness.FINISHED, 3, {"unscored": 1}),
        ("bad-build", Liveness.FINISHED, 3, {"unscored": 1}),
        ("unhealthy-sidecar", Liveness.FINISHED, 3, {"unscored": 1}),
        ("retried", Liveness.FINISHED, 3, {"unscored": 1}),
        ("cancelled-twice", Liveness.FINISHED, 130, {"cancelled": 3}),
        ("killed", Liveness.STALE, None, {"interrupted": 2, "queued": 1}),
        ("aborted-by-one-bad-task", Liveness.STALE, None, {"interrupted": 3}),
    ],
)
def test_each_job_opens_in_its_true_state_and_not_a_byte_is_touched(
    name: str, liveness: Liveness, exit_code: int | None, states: dict[str, int]
) -> None:
    folder = shared_data(JOBS, name)
    before = foreign.tree_digest(folder)
    state, found = read(name)
    assert found is liveness
    assert (state.finished.exit_code if state.finished else None) == exit_code
    assert Counter(trial.state for trial in state.trials.values()) == states
    assert foreign.tree_digest(folder) == before
    assert state.plan is not None
    assert state.plan.trials == len(state.trials) == sum(arm.assigned for arm in state.arms.values())
    assert (state.plan.source, state.plan.engine_version) == ("harbor", "Harbor 0.26.0")


def test_every_time_adds_up() -> None:
    """Phases lie inside their trial, trials inside their job, though jobs name no zone and trials do."""
    seen = 0
    for folder in sorted(shared_data(JOBS).iterdir()):
        state, _ = read(folder.name)
        assert state.started_at is not None
        for trial in state.trials.values():
            if trial.finished_at is None or trial.seconds is None or trial.started_at is None:
                continue
            seen += 1
            assert state.started_at <= trial.started_at <= trial.finished_at
            assert sum(span.seconds or 0.0 for span in trial.phases) <= trial.seconds + 1e-6
            assert all(span.seconds is not None and span.seconds >= 0 for span in trial.phases)
            assert all(trial.started_at <= span.started_at <= trial.finished_at for span in trial.phases)
        if state.finished is not None:
            assert state.finished.seconds is not None
            assert max((t.seconds or 0.0) for t in state.trials.values()) <= state.finished.seconds
    assert seen == 21


def test_phases_are_those_that_harbor_measured() -> None:
    trial = only_trial("finished")
    assert [(span.phase, round(span.seconds or 0.0, 3)) for span in trial.phases] == [
        (Phase.PREPARE, 3.984),
        (Phase.AGENT, 1.154),
        (Phase.COLLECT, 0.925),
        (Phase.VERIFY, 1.478),
        (Phase.CLEANUP, 11.158),
    ]
    assert trial.seconds == pytest.approx(18.79979)


def test_attempts_are_numbered_by_their_start() -> None:
    state, _ = read("eight-attempts")
    trials = sorted(state.trials.values(), key=lambda trial: trial.attempt)
    assert [trial.attempt for trial in trials] == list(range(1, 9))
    starts = [trial.started_at for trial in trials if trial.started_at is not None]
    assert starts == sorted(starts)
    assert {(trial.task, trial.arm) for trial in trials} == {("hello", "oracle")}


def test_hooks_that_failed_and_artifacts_that_are_missing_are_told_by_the_log_alone() -> None:
    folder = shared_data(JOBS, "fresh-verifier-failing-hooks")
    trial = only_trial(folder.name)
    assert (trial.state, trial.reward, trial.rewards) == ("passed", 1.0, {"reward": 1.0, "side": 0.5})
    assert [(hook.service, hook.exit_code, hook.timed_out, hook.seconds) for hook in trial.hooks] == [
        ("main", 0, False, None),
        ("main", 3, False, None),
        ("side", 0, False, None),
        ("side", 1, False, None),
        ("side", None, True, 2.0),
    ]
    assert trial.hooks[1].command == "echo main-hook-out; echo main-hook-err >&2; exit 3"
    assert trial.hooks[2].command == "echo '{\"n\":1}' > /data/state.json"
    assert trial.hooks[3].output == "side-out\ncat: /nope: No such file or directory"
    hooks = [found for found in trial.issues if found.code is Code.ARTIFACT_COLLECT_FAILED]
    assert [(found.message, found.severity) for found in hooks] == [
        ("main: hook ended with exit code 3", Severity.WARNING),
        ("side: hook ended with exit code 1", Severity.WARNING),
        ("side: hook timed out after 2 s", Severity.WARNING),
    ]
    assert "exited with code 3" in line_of(folder, trial.trial, hooks[0], 1)
    missing = issue(trial, Code.ARTIFACT_MISSING)
    assert missing.message == "declared artifact side:/data/missing.json is missing"
    assert '"source": "/data/missing.json"' in line_of(folder, trial.trial, missing, 0)
    assert "Failed to download artifact '/data/missing.json'" in line_of(folder, trial.trial, missing, 1)
    assert [(row.service, row.source, row.status) for row in trial.artifacts] == [
        ("main", "/logs/artifacts", "collected"),
        ("main", "/app/out.txt", "collected"),
        ("side", "/data/state.json", "collected"),
        ("side", "/data/missing.json", "missing"),
    ]


def test_each_of_three_tasks_at_once_has_its_own_warnings() -> None:
    state, _ = read("three-tasks")
    assert state.plan is not None
    assert (state.plan.tasks, state.plan.task_set.name) == (3, "ds2")
    assert {trial.task: len(trial.issues) for trial in state.trials.values()} == {"s1": 4, "s2": 4, "s3": 4}


def test_an_oom_that_no_exception_tells_is_a_warning_that_says_what_it_rests_on() -> None:
    folder = shared_data(JOBS, "out-of-memory")
    trial = only_trial(folder.name)
    assert (trial.state, trial.reward, trial.agent_exit) == ("failed", 0.0, 137)
    (found,) = trial.issues
    assert (found.code, found.severity, found.phase) == (Code.OUT_OF_MEMORY, Severity.WARNING, Phase.AGENT)
    assert "probably" in found.message
    assert "Killed" in line_of(folder, trial.trial, found, 0)
    assert line_of(folder, trial.trial, found, 1) == "137"


def test_an_agent_that_ran_out_of_time_says_its_limit() -> None:
    folder = shared_data(JOBS, "agent-timeout")
    trial = only_trial(folder.name)
    assert (trial.state, trial.timed_out) == ("passed", True)
    (found,) = trial.issues
    assert (found.code, found.severity) == (Code.HARNESS_TIMEOUT, Severity.WARNING)
    assert "timed out after 8.0 seconds" in line_of(folder, trial.trial, found)
    span = next(span for span in trial.phases if span.phase is Phase.AGENT)
    assert (span.limit_sec, span.ok, round(span.seconds or 0.0, 2)) == (8.0, False, 8.01)


def test_a_build_that_broke_says_what_the_builder_said_last() -> None:
    folder = shared_data(JOBS, "bad-build")
    trial = only_trial(folder.name)
    found = issue(trial, Code.BUILD_FAILED)
    assert (found.severity, found.phase) == (Severity.FATAL, Phase.PREPARE)
    assert "failed to solve" in found.message
    assert line_of(folder, trial.trial, found).startswith("failed to solve: process")
    assert issue(trial, Code.ARTIFACT_TRANSFER_FAILED).message.startswith("the logs of agent could not be downloaded")
    assert [row.status for row in trial.artifacts] == ["failed"]


def test_an_unhealthy_sidecar_is_named() -> None:
    folder = shared_data(JOBS, "unhealthy-sidecar")
    trial = only_trial(folder.name)
    found = issue(trial, Code.SERVICE_UNHEALTHY)
    assert (found.severity, found.service) == (Severity.FATAL, "side")
    assert line_of(folder, trial.trial, found).endswith("is unhealthy")


def test_a_missing_reward_is_null_and_not_0() -> None:
    trial = only_trial("no-reward")
    assert (trial.state, trial.reward, trial.passed, trial.rewards) == ("unscored", None, None, {})
    assert issue(trial, Code.VERIFIER_RESULT_INVALID).message.startswith("RewardFileNotFoundError: ")


def test_runs_that_were_thrown_away_are_said() -> None:
    folder = shared_data(JOBS, "retried")
    trial = only_trial(folder.name)
    assert trial.run_number == 3
    earlier = [found for found in trial.issues if found.code is Code.HARNESS_FAILED]
    assert len(earlier) == 2
    for found in earlier:
        assert "Retrying in" in line_of(folder, trial.trial, found)
        assert "what that run cost is known to nobody" in found.message


def test_what_was_cut_off_is_interrupted_and_the_last_sign_of_life_is_from_the_content() -> None:
    state, _ = read("killed")
    assert state.last_event_at == datetime(2026, 11, 29, 23, 34, 58, 431915, tzinfo=UTC)
    assert not state.engine_running
    cut = [trial for trial in state.trials.values() if trial.state == "interrupted"]
    assert [found.code for trial in cut for found in trial.issues] == [Code.HARNESS_INTERRUPTED] * 2
    assert "2026-11-29 23:34:58 UTC" in cut[0].issues[0].message


def test_a_trial_cut_off_before_its_config_was_written_still_has_its_task() -> None:
    state, _ = read("aborted-by-one-bad-task")
    assert {trial.trial: trial.task for trial in state.trials.values()} == {
        "ta__Uq8MTxQ": "ta",
        "tb__b6nBP3S": "tb",
        "tc__iuKkdeB": "tc",
    }


def test_jobs_are_known_by_their_uuid() -> None:
    assert HARBOR.identity(shared_data(JOBS, "killed")) == "9ffe9071-cf12-49a4-acd3-f8fc345b98e4"


def test_neither_a_folder_of_jobs_nor_a_trial_is_a_job() -> None:
    jobs = shared_data(JOBS)
    assert recognise(jobs) is None
    assert not HARBOR.is_run(jobs / "finished" / "hello__bZvcdto")


def test_logs_are_the_trial_s_and_the_job_s() -> None:
    folder = shared_data(JOBS, "out-of-memory")
    assert [(log.kind, log.label) for log in HARBOR.logs(folder, "oom__863Rj69")] == [
        ("agent", "exit-code"),
        ("agent", "oracle"),
        ("verifier", "test-stdout"),
        ("verifier", "reward"),
        ("engine", "trial"),
        ("engine", "job"),
    ]
    assert [log.path for log in HARBOR.logs(folder, "one~not-started-1")] == [folder / "job.log"]
    assert [log.path for log in HARBOR.logs(folder, "../finished/hello__bZvcdto")] == [folder / "job.log"]
