"""Runs of AgentCompass as they grow, end, and break."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from engine import events as ev
from engine.issues import Code, Severity
from engine.readers import agentcompass_reader, owner_process
from engine.readers.agentcompass import AGENTCOMPASS
from engine.readers.agentcompass_plan import trial_id
from engine.readers.open_run import open_run, recognise
from engine.readers.reader import Liveness
from engine.state import RunState
from tests.engine.readers.agentcompass_samples import KEY, Sample
from tests.engine.readers.foreign import read_all, state_of

HELLO = trial_id("hello", 1)


@pytest.fixture(autouse=True)
def nobody_at_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agentcompass_reader, "LOOK_SEC", 0.0)
    monkeypatch.setattr(owner_process, "worked_on_here", lambda *given: False)


@pytest.fixture
def sample(tmp_path: Path) -> Sample:
    return Sample(tmp_path / "r1")


def passed(sample: Sample) -> None:
    sample.begin()
    sample.finish("hello", 1, sample.attempt("hello"))
    sample.result("hello", cost=0.25)
    sample.end(12)


# --- a run that grows ---


def test_a_run_is_followed_from_its_beginning_to_its_end(sample: Sample) -> None:
    sample.begin()
    reader, state = open_run(sample.folder).reader(), RunState()
    state.apply_all(read_all(reader))
    assert state.trials[HELLO].state == "queued"
    sample.attempt("hello", until="run_harness")
    state.apply_all(read_all(reader))
    trial = state.trials[HELLO]
    assert (trial.state, str(trial.phase), trial.activity, trial.limit()) == ("running", "agent", "run harness", 120.0)
    running = sample.attempt_folder("hello", state="running")
    assert open_run(sample.folder).trial_folder(HELLO) == running
    sample.line("attempt_finished", 9, task_id="hello", category="cat1", attempt=1, status="completed")
    state.apply_all(read_all(reader))
    assert state.trials[HELLO].state == "running"  # its record is not there yet
    shutil.rmtree(sample.folder / "details")
    sample.result("hello", state="normal", cost=0.25)
    state.apply_all(read_all(reader))
    trial = state.trials[HELLO]
    assert (trial.state, trial.seconds, trial.cost_usd) == ("passed", 8.0, 0.25)
    assert (trial.tokens_in, trial.tokens_out, trial.steps) == (20, 10, 2)
    assert open_run(sample.folder).trial_folder(HELLO).parent.parent.name == "normal"
    assert state.finished is None
    sample.end(12)
    state.apply_all(read_all(reader))
    assert state.finished is not None and (state.finished.exit_code, state.finished.seconds) == (0, 12.0)
    assert reader.liveness() is Liveness.FINISHED


def test_a_line_that_is_not_whole_yet_waits_for_its_end(sample: Sample) -> None:
    sample.begin()
    reader, state = open_run(sample.folder).reader(), RunState()
    with (sample.folder / "progress.jsonl").open("a") as file:
        file.write('{"run_id": "r1", "event": "attempt_started", "timestamp": 1795994935.0, "task_id": "hel')
    state.apply_all(read_all(reader))
    assert state.trials[HELLO].state == "queued"
    with (sample.folder / "progress.jsonl").open("a") as file:
        file.write('lo", "attempt": 1}\n')
    state.apply_all(read_all(reader))
    assert state.trials[HELLO].state == "running"


def test_a_killed_run_is_stale_and_not_live_whatever_its_files_dates_case_76(sample: Sample) -> None:
    sample.begin()
    sample.attempt("hello", until="run_harness")
    reader, state = open_run(sample.folder).reader(), RunState()
    state.apply_all(read_all(reader))
    assert reader.liveness() is Liveness.STALE
    assert state.last_event_at is not None and state.last_event_at.timestamp() == pytest.approx(1_795_994_938)


def test_content_that_moves_is_a_sign_of_life(sample: Sample) -> None:
    sample.begin()
    reader = open_run(sample.folder).reader()
    read_all(reader)
    assert reader.liveness() is Liveness.STALE
    sample.attempt("hello", until="run_harness")
    read_all(reader)
    assert reader.liveness() is Liveness.LIVE


def test_a_living_owner_is_one_until_it_ends(sample: Sample, monkeypatch: pytest.MonkeyPatch) -> None:
    sample.begin()
    reader = open_run(sample.folder).reader()
    read_all(reader)
    monkeypatch.setattr(owner_process, "worked_on_here", lambda *given: True)
    assert reader.liveness() is Liveness.LIVE
    sample.attempt("hello", until="run_harness")
    read_all(reader)
    monkeypatch.setattr(owner_process, "worked_on_here", lambda *given: False)
    assert reader.liveness() is Liveness.STALE


def test_the_log_of_the_run_is_there_before_the_attempts_folder(sample: Sample) -> None:
    sample.begin()
    sample.log("00:28:54 INFO     runtime.runner   x")
    assert [log.path for log in open_run(sample.folder).logs(HELLO)] == [sample.folder / "run.log"]
    folder = sample.attempt_folder("hello", state="running")
    (log,) = open_run(sample.folder).logs(HELLO)
    assert log.path.resolve() == sample.folder / "run.log" and log.path.is_relative_to(folder)


# --- ends ---


def test_a_run_that_was_cancelled_says_so(sample: Sample) -> None:
    sample.begin(2)
    sample.attempt("hello", until="run_harness")
    sample.end(9, "cancelled", "cancelled")
    state, liveness = state_of(sample.folder)
    assert liveness is Liveness.FINISHED
    assert state.finished is not None and state.finished.exit_code == 130
    assert state.trials[HELLO].state == "cancelled"


def test_a_run_that_broke_says_why(sample: Sample) -> None:
    sample.begin()
    sample.end(2, "failed", "FileNotFoundError: no dataset")
    state, _ = state_of(sample.folder)
    assert [(issue.code, issue.message) for issue in state.run_issues] == [
        (Code.ENGINE_FAILED, "FileNotFoundError: no dataset")
    ]


def test_a_missing_reward_is_no_verdict_though_it_is_booked_as_one_case_59(sample: Sample) -> None:
    sample.begin()
    sample.finish("hello", 1, sample.attempt("hello"))
    issue = {"severity": "warning", "phase": "evaluate", "code": "verifier_result_invalid", "message": "No reward file"}
    sample.result("hello", reward=None, issues=(issue,))
    sample.end(12)
    trial = state_of(sample.folder)[0].trials[HELLO]
    assert (trial.state, trial.reward) == ("unscored", None)
    assert [issue.severity for issue in trial.issues] == [Severity.WARNING, Severity.ERROR]


def test_a_verdict_stands_beside_an_agents_exit_code_case_71(sample: Sample) -> None:
    sample.begin()
    sample.finish("hello", 1, sample.attempt("hello"))
    sample.result("hello", exit_code=137)
    sample.end(12)
    trial = state_of(sample.folder)[0].trials[HELLO]
    assert (trial.state, trial.agent_exit) == ("passed", 137)
    assert [issue.code for issue in trial.issues] == [Code.KILLED_UNKNOWN]


@pytest.mark.parametrize(
    ("code", "phase", "ours"),
    [
        ("artifact_collect_failed", "collect", Code.ARTIFACT_COLLECT_FAILED),
        ("harness_timeout", "run", Code.HARNESS_TIMEOUT),
        ("environment_open_failed", "setup", Code.ENVIRONMENT_FAILED),
        ("something_new", "collect", Code.ARTIFACT_COLLECT_FAILED),
        ("something_new", "cleanup", Code.LEFTOVER),
        ("something_new", "", Code.ENGINE_FAILED),
    ],
)
def test_codes_keep_their_names_or_their_words(sample: Sample, code: str, phase: str, ours: Code) -> None:
    sample.begin()
    sample.finish("hello", 1, sample.attempt("hello"))
    sample.result("hello", issues=({"severity": "error", "phase": phase, "code": code, "message": "why"},))
    sample.end(12)
    issue = state_of(sample.folder)[0].trials[HELLO].issues[0]
    assert issue.code is ours
    assert issue.message == ("why" if str(ours) == code else f"{code}: why")
    assert issue.evidence[0].line > 0


def test_a_whole_attempt_that_is_tried_again_keeps_its_cost_case_68(sample: Sample) -> None:
    sample.begin()
    after = sample.attempt("hello", until="run_harness")
    retries = sample.attempt_folder("hello", state="running") / "retries"
    retries.mkdir()
    issue = {"severity": "fatal", "phase": "run", "code": "harness_failed", "message": "529 overloaded"}
    spent = {"artifacts": {"raw_claude_events": [{"type": "result", "total_cost_usd": 0.5}]}}
    (retries / "x.json").write_text(json.dumps({"issues": [issue], "discarded_result": spent}, indent=2))
    payload = {"retry": 1, "max_retries": 2, "stage": "run", "scope": "attempt", "retry_detail": "/gone/retries/x.json"}
    sample.line("attempt_retry", after, task_id="hello", attempt=1, payload=payload)
    sample.line("phase_changed", after, task_id="hello", attempt=1, phase="retry_wait", payload={})
    state, _ = state_of(sample.folder)
    trial = state.trials[HELLO]
    assert (trial.run_number, trial.discarded_cost_usd) == (2, 0.5)
    assert trial.issues[0].message == "tried again (1 of 2) after: 529 overloaded"
    assert trial.activity == "waiting to try again"


def test_a_resumed_run_counts_each_trial_once_case_82(sample: Sample) -> None:
    passed(sample)
    sample.line("run_started", 100)
    sample.line("attempt_started", 101, task_id="hello", attempt=1)
    sample.finish("hello", 1, 105)
    sample.end(110)
    state, _ = state_of(sample.folder)
    assert (state.done, len(state.trials), state.sessions) == (1, 1, 2)
    assert state.finished is not None


# --- what is missing, broken or hostile ---


@pytest.mark.parametrize("content", [b"", b'{"status": "compl', b"[]", b"null", b"\xff\xfe\x00"])
def test_a_half_written_result_is_one_broken_trial_case_80(tmp_path: Path, content: bytes) -> None:
    sample = Sample(tmp_path / "r1", ("hello", "redis"))
    sample.begin(2)
    sample.finish("hello", 1, sample.attempt("hello"))
    sample.finish("redis", 1, sample.attempt("redis"))
    sample.result("hello").write_bytes(content)
    sample.result("redis")
    sample.end(12)
    state, _ = state_of(sample.folder)
    assert state.trials[HELLO].state == "unscored"
    assert [issue.code for issue in state.trials[HELLO].issues] == [Code.VERIFIER_RESULT_INVALID]
    assert state.trials[trial_id("redis", 1)].state == "passed"


@pytest.mark.parametrize("name", ["run_info.json", "progress.jsonl", "run.log", "details", "progress.json"])
def test_any_of_its_files_may_be_missing(sample: Sample, name: str) -> None:
    passed(sample)
    sample.log("23:28:55 WARNING  environments.docker   careful")
    path = sample.folder / name
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
    assert recognise(sample.folder) is not None
    state, liveness = state_of(sample.folder)
    assert liveness is Liveness.FINISHED
    assert state.trials[HELLO].state == ("unscored" if name == "details" else "passed")


def test_without_events_the_records_tell(sample: Sample) -> None:
    passed(sample)
    (sample.folder / "progress.jsonl").unlink()
    trial = state_of(sample.folder)[0].trials[HELLO]
    assert [(str(span.phase), span.seconds) for span in trial.phases] == [("agent", 3.0), ("verify", 3.0)]
    assert trial.seconds == pytest.approx(8.158719)


def test_times_of_any_zone_are_one_time_case_77(sample: Sample) -> None:
    passed(sample)
    sample.log("00:28:55 WARNING  environments.docker   careful")  # the log is in the writer's zone, +01:00
    state, _ = state_of(sample.folder)
    assert state.feed[0].at.timestamp() == pytest.approx(1_795_994_935)
    assert state.started_at is not None and state.started_at.isoformat() == "2026-11-29T23:28:54+00:00"


def test_lines_of_a_log_go_to_the_trial_they_name(tmp_path: Path) -> None:
    sample = Sample(tmp_path / "r1", ("hello",), attempts=2)
    sample.begin()
    sample.log(
        "00:28:54 DEBUG    runtime.runner   ▶ Attempt started | task=hello | category=cat1 | attempt=2 | k=2",
        "00:28:59 WARNING  harnesses.x      the model answered with nothing | task=hello | tries=3",
    )
    sample.finish("hello", 2, sample.attempt("hello", 2))
    sample.result("hello", 2)
    sample.end(12)
    state, _ = state_of(sample.folder)
    (issue,) = state.trials[trial_id("hello", 2)].issues
    assert "answered with nothing" in issue.message
    assert issue.evidence[0].line == 2
    assert state.trials[trial_id("hello", 1)].state == "cancelled"


def test_no_key_of_the_request_reaches_an_event(sample: Sample) -> None:
    passed(sample)
    sample.log(f"00:28:55 ERROR    harnesses.x      401: {KEY} is not valid | task=hello | attempt=1")
    issue = {"severity": "error", "phase": "run", "code": "harness_failed", "message": f"401: {KEY}"}
    sample.result("hello", issues=(issue,), output=f"export KEY={KEY}")
    events = read_all(open_run(sample.folder).reader())
    assert KEY not in b"".join(ev.encode(event) for event in events).decode()
    plan = next(event for event in events if isinstance(event, ev.RunPlanned))
    assert plan.arms[0].parameters == {"effort": "high", "api_protocol": "anthropic"}


@pytest.mark.parametrize(
    "line",
    [
        b"[]",
        b"{}",
        b'{"event": "attempt_started", "timestamp": "x", "task_id": 7, "attempt": -1}',
        b'{"event": "phase_changed", "timestamp": 1e300, "task_id": "a", "attempt": 1}',
        b'{"event": "phase_changed", "timestamp": 1795994935, "task_id": "../../x", "attempt": 1, "phase": {}}',
        b'{"event": "attempt_retry", "timestamp": 1795994935, "task_id": "\\u001b[2J", "attempt": 9, "payload": []}',
        b"\xff\xfe" * 50,
        b"[" * 100_000,
    ],
)
def test_hostile_lines_raise_nothing_and_lead_nowhere(sample: Sample, line: bytes) -> None:
    sample.begin()
    with (sample.folder / "progress.jsonl").open("ab") as file:
        file.write(line + b"\n")
    sample.finish("hello", 1, sample.attempt("hello"))
    sample.result("hello")
    state, _ = state_of(sample.folder)
    assert state.trials[HELLO].state == "passed"
    opened = open_run(sample.folder)
    for name in state.trials:
        assert opened.trial_folder(name).is_relative_to(sample.folder / "details")
    assert opened.trial_folder("../../../etc/attempt-1") == sample.folder / "details" / "running" / "unknown"


def test_links_out_of_the_folder_are_not_followed(sample: Sample, tmp_path: Path) -> None:
    passed(sample)
    outside = tmp_path / "outside"
    outside.write_text((sample.folder / "progress.jsonl").read_text())
    (sample.folder / "progress.jsonl").unlink()
    (sample.folder / "progress.jsonl").symlink_to(outside)
    events = read_all(open_run(sample.folder).reader())
    assert not any(isinstance(event, ev.PhaseStarted) and str(event.phase) == "prepare" for event in events)


def test_the_identity_stays_while_the_run_goes_on_and_moves(sample: Sample, tmp_path: Path) -> None:
    sample.begin()
    before = AGENTCOMPASS.identity(sample.folder)
    sample.finish("hello", 1, sample.attempt("hello"))
    sample.result("hello")
    sample.end(12)
    moved = tmp_path / "elsewhere" / "renamed"
    shutil.copytree(sample.folder, moved)
    assert AGENTCOMPASS.identity(moved) == before
    other = Sample(tmp_path / "other", started_at="2026-11-30T00:28:55+01:00")
    assert AGENTCOMPASS.identity(other.folder) != before
