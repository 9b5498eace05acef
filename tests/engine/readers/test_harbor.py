"""Job folders of Harbor that tests make: their times, arms, steps, exceptions; half-written and hostile ones."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from engine.events import TrialFinished
from engine.issues import Code, Phase, Severity
from engine.readers.harbor import HARBOR
from engine.readers.open_run import recognise
from engine.readers.reader import Liveness
from tests.engine.readers import foreign
from tests.engine.readers.harbor_samples import Job, Watching, agent, exception, moment, span

T0 = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def job_folder(tmp_path: Path) -> Path:
    return tmp_path / "jobs" / "job"


@pytest.mark.parametrize("hours", [0, 9])
def test_local_times_without_a_zone_beside_utc_ones_shift_nothing(job_folder: Path, hours: int) -> None:
    """Case 77."""
    job = Job(job_folder, hours=hours)
    job.end("one__aaaaaaa")
    job.says(30, finished=True)
    state, _ = foreign.state_of(job_folder)
    assert state.started_at == T0
    assert state.finished is not None
    assert (state.finished.at, state.finished.seconds) == (T0 + timedelta(seconds=30), 30.0)


def test_a_clock_set_back_gives_no_negative_duration(job_folder: Path) -> None:
    """Case 77."""
    job = Job(job_folder)
    job.end("one__aaaaaaa", start=50, agent_execution=span(54, 10), verifier=span(12, 9), finished_at=moment(5))
    job.says(30, finished=True)
    state, _ = foreign.state_of(job_folder)
    (trial,) = state.trials.values()
    assert trial.state == "passed"
    assert trial.seconds is not None
    assert trial.seconds >= 0
    assert all((span.seconds or 0.0) >= 0 for span in trial.phases)


def test_a_record_that_ends_before_it_began_lasts_as_long_as_its_phases(job_folder: Path) -> None:
    """Case 77: another month, and an end before the start."""
    job = Job(job_folder)
    job.end("one__aaaaaaa", started_at="2025-10-25T02:30:00", finished_at="2025-10-25T02:10:00+01:00")
    job.says(30, finished=True)
    (trial,) = foreign.state_of(job_folder)[0].trials.values()
    assert trial.seconds == sum(span.seconds or 0.0 for span in trial.phases) > 0


def test_times_that_a_record_lacks_are_unknown(job_folder: Path) -> None:
    job = Job(job_folder)
    none: dict[str, Any] = dict.fromkeys(
        ("environment_setup", "agent_setup", "agent_execution", "verifier", "started_at")
    )
    job.end("one__a", **none, finished_at=None)
    job.end("one__b", **none)
    job.says(60, finished=True)
    trials = foreign.state_of(job_folder)[0].trials
    assert (trials["one__a"].state, trials["one__a"].started_at, trials["one__a"].finished_at) == ("passed", None, None)
    assert trials["one__b"].finished_at is not None
    assert [trial.seconds for trial in trials.values()] == [None, None]
    assert [trial.agent_seconds for trial in trials.values()] == [None, None]


def test_a_folder_that_somebody_keeps_in_a_job_is_no_trial_case_82(job_folder: Path) -> None:
    job = Job(job_folder)
    job.end("one__aaaaaaa")
    job.says(30, finished=True)
    (job_folder / "my notes").mkdir()
    (job_folder / "my notes" / "todo.txt").write_text("ask ada")
    assert list(foreign.state_of(job_folder)[0].trials) == ["one__aaaaaaa"]


def test_arms_are_told_apart_by_model_agent_and_what_differs(job_folder: Path) -> None:
    secret = "sk-abcdefgh"
    agents = (
        agent("codex", model_name="openai/x", kwargs={"effort": "low", "api_key": secret, "note": f"Bearer {secret}"}),
        agent("codex", model_name="openai/x", kwargs={"effort": "high"}, base_url=f"https://u:{secret}@host"),
        agent("codex", model_name="openai/y", env={"OPENAI_API_KEY": secret}),
    )
    job = Job(job_folder, agents=agents)
    for number, one in enumerate(agents):
        job.end(f"one__aaaaaa{number}", one=one, start=2 + number)
    job.says(30, finished=True)
    state, _ = foreign.state_of(job_folder)
    assert {trial.trial: trial.arm for trial in state.trials.values()} == {
        "one__aaaaaa0": "openai/x codex kwargs.effort=low",
        "one__aaaaaa1": "openai/x codex kwargs.effort=high",
        "one__aaaaaa2": "openai/y codex",
    }
    info = state.arms["openai/y codex"].info
    assert (info.agent, info.agent_version, info.model, info.parameters) == ("codex", "1.2.3", "openai/y", {})
    assert secret not in repr(state.plan)


def test_two_tasks_of_one_name_are_two_tasks(job_folder: Path) -> None:
    """Case 89."""
    job = Job(job_folder, ("first/same", "second/same"))
    job.end("same__aaaaaaa", "first/same")
    job.end("same__bbbbbbb", "second/same", start=9)
    job.says(40, finished=True)
    state, _ = foreign.state_of(job_folder)
    assert sorted((trial.task, trial.attempt) for trial in state.trials.values()) == [
        ("first/same", 1),
        ("second/same", 1),
    ]


def test_steps_have_their_own_phases_and_rewards(job_folder: Path) -> None:
    job = Job(job_folder)
    steps = [
        {"step_name": name, "agent_execution": span(start, start + 3), "verifier": span(start + 4, start + 6),
         "verifier_result": {"rewards": {"reward": reward}}, "exception_info": raised,
         "agent_result": {"n_input_tokens": 10, "n_cache_tokens": None, "n_output_tokens": 2, "cost_usd": 0.5}}
        for name, start, reward, raised in (
            ("plan", 6, 1.0, None),
            ("build", 12, 0.0, exception("AgentTimeoutError", "timed out after 3.0 seconds", 15)),
        )
    ]  # fmt: skip
    folder = job.end(
        "one__aaaaaaa",
        agent_execution=None,
        verifier=None,
        agent_result=None,
        reward=0.5,
        step_results=steps,
        log="Starting step 1/2: plan\nRunning collect hook in service 'main': 'false'\n"
        "Collect hook in service 'main' exited with code 1: 'false'. stdout: None stderr: None\n",
    )
    log = folder / "steps" / "build" / "agent" / "codex.txt"
    log.parent.mkdir(parents=True)
    log.write_text("x")
    report = folder / "steps" / "plan" / "verifier" / "ctrf.json"
    report.parent.mkdir(parents=True)
    report.write_text(json.dumps({"results": {"summary": {"tests": 5, "passed": 4}}}))
    job.says(30, finished=True)
    state, _ = foreign.state_of(job_folder)
    (trial,) = state.trials.values()
    assert [(span.phase, span.step, span.seconds) for span in trial.phases if span.step] == [
        (Phase.AGENT, "plan", 3.0),
        (Phase.COLLECT, "plan", 1.0),
        (Phase.VERIFY, "plan", 2.0),
        (Phase.AGENT, "build", 3.0),
        (Phase.COLLECT, "build", 1.0),
        (Phase.VERIFY, "build", 2.0),
    ]
    assert {name: found["reward"] for name, found in trial.step_rewards.items()} == {"plan": 1.0, "build": 0.0}
    assert (trial.state, trial.reward, trial.timed_out, trial.tests_passed) == ("failed", 0.5, True, 4)
    assert (trial.tokens_in, trial.tokens_cached, trial.tokens_out, trial.cost_usd) == (20, None, 4, 1.0)
    assert {(found.code, found.step) for found in trial.issues} == {
        (Code.ARTIFACT_COLLECT_FAILED, "plan"),
        (Code.HARNESS_TIMEOUT, "build"),
    }
    assert ("agent", "build: codex") in [(log.kind, log.label) for log in HARBOR.logs(job_folder, trial.trial)]


@pytest.mark.parametrize(
    ("kind", "message", "at", "code", "severity"),
    [
        ("EnvironmentStartTimeoutError", "too slow", 4, Code.START_TIMEOUT, Severity.FATAL),
        ("HealthcheckError", "failed after 3", 4, Code.HEALTHCHECK_FAILED, Severity.FATAL),
        ("AgentSetupTimeoutError", "360", 5, Code.AGENT_SETUP_FAILED, Severity.FATAL),
        ("NonZeroAgentExitCodeError", "Command failed (exit 1)", 11, Code.AGENT_EXIT_NONZERO, Severity.WARNING),
        ("ApiRateLimitError", "429", 11, Code.HARNESS_FAILED, Severity.ERROR),
        ("VerifierTimeoutError", "600", 18, Code.VERIFIER_TIMEOUT, Severity.FATAL),
        ("VerifierOutputParseError", "not a number", 18, Code.VERIFIER_RESULT_INVALID, Severity.WARNING),
        ("KeyError", "'x'", 4, Code.ENVIRONMENT_FAILED, Severity.FATAL),
        ("KeyError", "'x'", 11, Code.HARNESS_FAILED, Severity.ERROR),
        ("KeyError", "'x'", 18, Code.VERIFIER_CRASHED, Severity.FATAL),
    ],
)
def test_exceptions_become_issues_of_the_phase_they_came_in(
    job_folder: Path, kind: str, message: str, at: int, code: Code, severity: Severity
) -> None:
    job = Job(job_folder)
    folder = job.end("one__aaaaaaa", reward=None, exception_info=exception(kind, message, at))
    (folder / "exception.txt").write_text(f"Traceback (most recent call last):\n  ...\nharbor.{kind}: {message}\n")
    job.says(30, finished=True)
    state, _ = foreign.state_of(job_folder)
    (trial,) = state.trials.values()
    (found,) = trial.issues
    assert (trial.state, found.code, found.severity) == ("unscored", code, severity)
    assert found.message == f"{kind}: {message}"
    assert (found.evidence[0].file, found.evidence[0].line) == ("exception.txt", 3)


@pytest.mark.parametrize(
    ("last", "code"),
    [
        ("failed to register layer: write /x: no space left on device", Code.DISK_FULL),
        ("Error response from daemon: all predefined address pools have been fully subnetted",
         Code.ADDRESS_POOL_EXHAUSTED),
        ("toomanyrequests: You have reached your pull rate limit", Code.PULL_RATE_LIMITED),
        ("Error response from daemon: pull access denied for nobody/nothing", Code.PULL_FAILED),
        ("Cannot connect to the Docker daemon at unix:///var/run/docker.sock.", Code.DAEMON_UNREACHABLE),
        ("dependency failed to start: container one__aaaaaaa__env-db-1 exited (1)", Code.SERVICE_EXITED),
        ("something else", Code.ENVIRONMENT_FAILED),
    ],
)  # fmt: skip
def test_what_compose_says_last_tells_what_is_wrong(job_folder: Path, last: str, code: Code) -> None:
    job = Job(job_folder)
    noise = "\n".join(["#9 no space left on device, prints the build"] + [f"#9 line {n}" for n in range(30)])
    message = (
        "Docker compose command failed for environment one. Command: docker compose up --detach --wait. "
        f"Return code: 1. Stdout: {noise}\n{last}\n. Stderr: None. "
    )
    job.end("one__aaaaaaa", reward=None, exception_info=exception("RuntimeError", message, 4))
    job.says(30, finished=True)
    state, _ = foreign.state_of(job_folder)
    (found,) = next(iter(state.trials.values())).issues
    assert (found.code, found.message) == (code, f"RuntimeError: {last}")
    assert found.service == ("db" if code is Code.SERVICE_EXITED else "")


def test_a_reward_that_harbor_does_not_count_is_no_verdict(job_folder: Path) -> None:
    job = Job(job_folder, attempts=2)
    job.end("one__aaaaaaa", reward=1.0, exception_info=exception("ApiOverloadedError", "529", 11), reward_valid=False)
    job.end("one__bbbbbbb", reward={"style": 0.2, "speed": 0.7}, start=4)
    job.says(30, finished=True)
    state, _ = foreign.state_of(job_folder)
    first, second = state.trials.values()
    assert (first.state, first.reward, first.rewards) == ("unscored", None, {"reward": 1.0})
    assert "does not count this trial's reward" in first.issues[-1].message
    assert (second.state, second.reward, second.rewards) == ("unscored", None, {"style": 0.2, "speed": 0.7})


def test_one_sign_of_a_kill_alone_is_no_oom(job_folder: Path) -> None:
    job = Job(job_folder, attempts=2)
    bare = job.end("one__aaaaaaa", reward=0.0)
    said = job.end("one__bbbbbbb", reward=0.0, start=5)
    for folder, name, text in (
        (bare, "exit-code.txt", "137"),
        (said, "oracle.txt", "x: line 3:    28 Killed   perl\n"),
    ):
        (folder / "agent").mkdir()
        (folder / "agent" / name).write_text(text)
    (said / "agent" / "more.txt").write_text("the word Killed and the number 137 in a text\n")
    job.says(40, finished=True)
    state, _ = foreign.state_of(job_folder)
    assert [[found.code for found in trial.issues] for trial in state.trials.values()] == [[Code.KILLED_UNKNOWN]] * 2


def test_half_written_files_break_one_trial_and_are_read_again(
    job_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Case 80."""
    job = Job(job_folder, attempts=3)
    job.end("one__aaaaaaa")
    whole = (job.end("one__bbbbbbb", start=5) / "result.json").read_text()
    (job_folder / "one__bbbbbbb" / "result.json").write_text(whole[:40])
    job.end("one__ccccccc", start=9)
    (job_folder / "one__ccccccc" / "config.json").write_text('{"task": ')
    said = (job_folder / "result.json").read_text()
    (job_folder / "result.json").write_text("")
    assert HARBOR.identity(job_folder) == job.id
    watching = Watching(job_folder, monkeypatch)
    state = watching.look()
    assert {name: trial.state for name, trial in state.trials.items()} == {
        "one__aaaaaaa": "passed",
        "one__bbbbbbb": "interrupted",
        "one__ccccccc": "passed",
    }
    watching.look()
    assert watching.reader.liveness() is Liveness.STALE
    assert "result.json is not whole JSON" in state.trials["one__bbbbbbb"].issues[0].message
    assert [found.evidence[0].file for found in state.run_issues] == ["result.json"]
    (job_folder / "one__bbbbbbb" / "result.json").write_text(whole)
    (job_folder / "result.json").write_text(said)
    job.says(60, finished=True)
    state = watching.look()
    assert [trial.state for trial in state.trials.values()] == ["passed"] * 3
    assert watching.reader.liveness() is Liveness.FINISHED


def test_files_that_are_missing_leave_a_job_that_opens(job_folder: Path) -> None:
    job = Job(job_folder)
    job.end("one__aaaaaaa")
    for name in ("lock.json", "result.json", "job.log"):
        (job_folder / name).unlink()
    state, liveness = foreign.state_of(job_folder)
    assert liveness is Liveness.STALE
    assert [trial.state for trial in state.trials.values()] == ["passed"]


def _mad(value: object) -> dict[str, Any]:
    keys = ("id", "config", "agent_info", "agent_result", "verifier_result", "exception_info", "started_at",
            "finished_at", "environment_setup", "agent_setup", "agent_execution", "verifier",
            "step_results")  # fmt: skip
    return dict.fromkeys(keys, value)


@pytest.mark.parametrize("value", [None, 0, -1, 1e308, True, "x", [], [[]], {}, {"rewards": []}, [{"step_name": 1}]])
def test_values_of_the_wrong_kind_raise_nothing(job_folder: Path, value: object) -> None:
    job = Job(job_folder)
    job.end("one__aaaaaaa")
    for name in ("one__aaaaaaa/result.json", "one__aaaaaaa/artifacts/manifest.json", "one__aaaaaaa/verifier/ctrf.json"):
        job.write(name, _mad(value))
    foreign.state_of(job_folder)
    job.write("config.json", {"agents": value, "tasks": value, "datasets": value, "n_attempts": value})
    job.write("lock.json", {"trials": value, "created_at": value, "harbor": value})
    job.write("result.json", {"id": value, "started_at": value, "finished_at": value, "stats": value})
    state, _ = foreign.state_of(job_folder)
    assert set(state.trials) == {"one__aaaaaaa"}
    assert isinstance(HARBOR.identity(job_folder), str)


def test_hostile_folders_raise_nothing_lead_nowhere_and_stay_as_they_are(job_folder: Path) -> None:
    job = Job(job_folder, attempts=2)
    outside = Job(job_folder.parent / "outside").end("one__secret")
    (outside / "agent").mkdir()
    (outside / "agent" / "oracle.txt").write_text("secret")
    strange = "one\x1b]0;x\x07\n__b[red]"
    job.end(strange)
    deep = job.start("one__deep")
    (deep / "result.json").write_bytes(b'{"config":' + b"[" * 100_000)
    (deep / "trial.log").write_bytes(b"\xff\xfe\x00" * 1_000 + b"Collect hook in service 'x' failed ('" + b"(" * 9_000)
    (deep / "agent").symlink_to(outside / "agent")
    (deep / "verifier").mkdir()
    (deep / "verifier" / "test-stdout.txt").symlink_to(outside / "agent" / "oracle.txt")
    os.mkfifo(deep / "exception.txt")
    (job_folder / "one__linked").symlink_to(outside)
    large = job_folder / "notes"
    large.mkdir()
    with (large / "result.json").open("wb") as file:
        file.truncate(10 << 30)
    before = [(path, path.lstat().st_mtime_ns) for path in sorted(job_folder.rglob("*"))]
    state, liveness = foreign.state_of(job_folder)
    assert liveness is Liveness.STALE
    assert set(state.trials) == {strange, "one__deep", "notes"}
    assert state.trials[strange].state == "passed"
    assert {log.label for log in HARBOR.logs(job_folder, "one__deep")} == {"trial", "job"}
    assert HARBOR.trial_folder(job_folder, "../outside/one__secret").parent == job_folder
    assert [(path, path.lstat().st_mtime_ns) for path in sorted(job_folder.rglob("*"))] == before


def test_only_jobs_are_taken_for_jobs(tmp_path: Path) -> None:
    job = Job(tmp_path / "jobs" / "job")
    trial = job.end("one__aaaaaaa")
    task = tmp_path / "task"
    task.mkdir()
    (task / "task.toml").write_text("")
    (task / "config.json").write_text("{}")
    for folder in (tmp_path, job.folder.parent, trial, task, tmp_path / "no\x00where", tmp_path / "missing"):
        assert not HARBOR.is_run(folder)
    (job.folder / "config.json").write_text("{")
    assert HARBOR.is_run(job.folder)
    (job.folder / "events.jsonl").write_text('{"type":"engine_started","at":"2026-01-01T00:00:00Z"}\n')
    found = recognise(job.folder)
    assert found is not None
    assert found.kind == "trialdeck"


def test_thousands_of_trials_come_in_parts_and_all_come(job_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.readers.harbor_reader.BUDGET_SEC", 0.0)
    job = Job(job_folder, attempts=30)
    for number in range(30):
        job.end(f"one__{number:07}", start=2 + number)
    job.says(90, finished=True)
    reader = HARBOR.reader(job_folder)
    assert sum(isinstance(event, TrialFinished) for event in reader.poll()) == 1
    reader.close()
    state, liveness = foreign.state_of(job_folder)
    assert (state.count("passed"), liveness) == (30, Liveness.FINISHED)
    assert [trial.attempt for trial in state.trials.values()] == list(range(1, 31))
