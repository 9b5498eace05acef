from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine import events as ev
from engine.issues import Code, Severity
from engine.readers import owner_process, swe_bench_reader
from engine.readers.open_run import open_run, recognise
from engine.readers.reader import Liveness
from engine.readers.swe_bench import SWE_BENCH
from engine.state import RunState
from engine.trial_state import TrialState
from tests.engine.readers.foreign import read_all, state_of, tree_digest
from tests.engine.readers.swe_bench_samples import (
    MODEL,
    RUN,
    broken,
    evaluated,
    instance,
    log_lines,
    run_folder,
    summary,
    trace,
)

HOSTILE = "x\x1b[2J\x1b]52;c;AAAA\x07[/bold]"


@pytest.fixture(autouse=True)
def utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with monkeypatch.context() as patched:
        patched.setenv("TZ", "UTC")
        time.tzset()
        yield
    time.tzset()


def trial(state: RunState, task: str) -> TrialState:
    return next(trial for trial in state.trials.values() if trial.task == task)


def codes(found: TrialState) -> list[Code]:
    return [issue.code for issue in found.issues]


@pytest.fixture
def whole(tmp_path: Path) -> Path:
    """One of each kind, with the harness's own report; returns where it was started."""
    evaluated(tmp_path, "django__django-1", True)
    evaluated(tmp_path, "django__django-2", False)
    apply_failed = ">>>>> Patch Apply Failed:\nerror: corrupt patch at line 9"
    broken(tmp_path, "django__django-3", apply_failed, trace=trace("EvaluationError: >>>>> Patch Apply Failed"))
    summary(
        tmp_path,
        completed=["django__django-1", "django__django-2"],
        resolved=["django__django-1"],
        unresolved=["django__django-2"],
        error=["django__django-3"],
        empty_patch=["django__django-4"],
        incomplete=["django__django-5"],
        submitted=[f"django__django-{number}" for number in (1, 2, 3, 4)],
    )
    return tmp_path


def test_each_ending_of_an_evaluation_is_told_from_the_others(whole: Path) -> None:
    state, liveness = state_of(run_folder(whole))
    assert liveness is Liveness.FINISHED
    assert {trial.task[-1]: trial.state for trial in state.trials.values()} == {
        "1": "passed",
        "2": "failed",
        "3": "unscored",
        "4": "unscored",
        "5": "cancelled",
    }
    assert state.finished is not None and state.finished.exit_code == 3
    assert list(state.arms) == [MODEL]
    assert (state.arms[MODEL].passed, state.arms[MODEL].assigned) == (1, 5)  # case 86: none leaves the denominator


def test_tests_and_times_come_from_report_and_log(whole: Path) -> None:
    found = trial(state_of(run_folder(whole))[0], "django__django-2")
    assert (found.tests_passed, found.tests_total) == (2, 3)
    assert found.rewards == {"fail_to_pass": 0.5, "pass_to_pass": 1.0}
    assert found.started_at is not None and found.started_at.isoformat() == "2024-07-02T13:01:00.123000+00:00"
    assert [(span.phase, span.seconds) for span in found.phases] == [("prepare", 5.0), ("verify", 3.0)]
    assert found.seconds == 8.0
    assert found.category == "django/django"


def test_a_patch_that_did_not_apply_is_its_own_outcome_case_56(whole: Path) -> None:
    found = trial(state_of(run_folder(whole))[0], "django__django-3")
    (issue,) = found.issues
    assert (issue.code, issue.severity) == (Code.ARTIFACT_TRANSFER_FAILED, Severity.FATAL)
    line = issue.evidence[0].line
    log = (run_folder(whole) / MODEL / "django__django-3" / issue.evidence[0].file).read_text()
    assert "Patch Apply Failed" in log.splitlines()[line - 1]


def test_an_empty_patch_is_no_verdict(whole: Path) -> None:
    found = trial(state_of(run_folder(whole))[0], "django__django-4")
    assert codes(found) == [Code.NOTHING_HANDED_OVER]
    assert found.reward is None


@pytest.mark.parametrize(
    ("lines", "error", "code"),
    [
        (("Test runtime: 9.00 seconds", "Test timed out after 9 seconds."), "", Code.VERIFIER_TIMEOUT),
        ((), "docker.errors.APIError: 409 Client Error: Conflict", Code.ENVIRONMENT_FAILED),
        ((), "swebench.harness.docker_build.BuildImageError: Error building image sweb.eval", Code.BUILD_FAILED),
        (("Eval script for x written to eval.sh; copying",), "KeyError: 'x'", Code.VERIFIER_CRASHED),
    ],
)
def test_what_broke_an_evaluation_is_read_from_its_log(
    tmp_path: Path, lines: tuple[str, ...], error: str, code: Code
) -> None:
    broken(tmp_path, "django__django-1", *lines, trace=trace(error) if error else "")
    found = trial(state_of(run_folder(tmp_path))[0], "django__django-1")
    assert found.state == "unscored"
    (issue,) = found.issues
    assert issue.code is code
    assert issue.evidence[0].line > 0


def test_a_report_alone_opens_by_its_path(whole: Path) -> None:
    path = summary(whole / "logs", resolved=["a__b-1"], unresolved=["a__b-2"], completed=["a__b-1", "a__b-2"])
    opened = recognise(path)
    assert opened is not None and opened.kind == "swe-bench"
    state, liveness = state_of(path)
    assert liveness is Liveness.FINISHED
    assert [trial.state for trial in state.trials.values()] == ["passed", "failed"]
    assert state.plan is not None and state.plan.source == "swe-bench"
    assert [log.path for log in opened.logs("a__b-1")] == [path]


def test_a_report_alone_knows_no_time(tmp_path: Path) -> None:
    state, _ = state_of(summary(tmp_path, resolved=["a__b-1"], completed=["a__b-1"], submitted=["a__b-1"]))
    [found] = state.trials.values()
    assert (found.state, found.seconds, found.started_at, found.finished_at) == ("passed", None, None, None)
    assert state.finished is not None and state.finished.seconds is None and state.took is None


def test_dots_in_names_are_told_apart_by_the_logs(whole: Path) -> None:
    state, _ = state_of(whole / f"{MODEL}.{RUN}.json")
    assert state.plan is not None
    assert state.plan.run == RUN
    assert list(state.arms) == [MODEL]
    assert trial(state, "django__django-2").tests_total == 3


def test_two_models_of_a_run_are_its_arms(whole: Path) -> None:
    evaluated(whole, "django__django-1", False, model="other")
    state, _ = state_of(run_folder(whole))
    assert sorted(state.arms) == [MODEL, "other"]
    one, _ = state_of(run_folder(whole) / "other")
    assert list(one.arms) == ["other"]


def test_an_entry_of_the_leaderboard_opens_and_says_what_it_does_not_name(tmp_path: Path) -> None:
    entry = tmp_path / "20240620_agent"
    (entry / "results").mkdir(parents=True)
    results = {"no_generation": ["a__b-1"], "no_logs": ["a__b-2"], "resolved": ["a__b-3"]}
    (entry / "results" / "results.json").write_text(json.dumps(results))
    state, liveness = state_of(entry)
    assert liveness is Liveness.FINISHED
    assert [trial(state, f"a__b-{n}").state for n in (1, 2, 3)] == ["unscored", "unscored", "passed"]
    assert "no rate can be told" in state.run_issues[0].message


def test_an_entry_with_details_tells_what_each_instance_cost(tmp_path: Path) -> None:
    entry = tmp_path / "20250726_mini"
    entry.mkdir()
    rows = {
        "a__b-1": {"cost": 0.72, "api_calls": 32, "resolved": True},
        "a__b-2": {"cost": None, "api_calls": 3, "resolved": False},
    }
    (entry / "per_instance_details.json").write_text(json.dumps(rows))
    state, liveness = state_of(entry)
    assert liveness is Liveness.FINISHED
    assert [(trial(state, name).state, trial(state, name).cost_usd) for name in rows] == [
        ("passed", 0.72),
        ("failed", None),
    ]
    assert not state.run_issues


def test_the_first_version_of_reports_opens(tmp_path: Path) -> None:
    path = tmp_path / "agent.json"
    lists = {"no_generation": ["a__b-1"], "generated": ["a__b-2", "a__b-3", "a__b-4"], "with_logs": ["a__b-2"]}
    lists |= {"no_apply": ["a__b-2"], "applied": ["a__b-3", "a__b-4"], "resolved": ["a__b-4"]}
    path.write_text(json.dumps(lists))
    state, _ = state_of(path)
    assert [trial(state, f"a__b-{n}").state for n in (1, 2, 3, 4)] == ["unscored", "unscored", "failed", "passed"]


def test_pending_instances_are_still_to_come(tmp_path: Path) -> None:
    path = tmp_path / "hosted.json"
    path.write_text(json.dumps({"resolved_ids": ["a__b-1"], "pending_ids": ["a__b-2"], "failed_ids": ["a__b-3"]}))
    state, liveness = state_of(path)
    assert liveness is Liveness.STALE
    assert [trial(state, f"a__b-{n}").state for n in (1, 2, 3)] == ["passed", "queued", "unscored"]


def test_a_report_that_says_the_opposite_of_the_instance_is_shown_case_58(whole: Path) -> None:
    evaluated(whole, "django__django-1", False)
    found = trial(state_of(run_folder(whole))[0], "django__django-1")
    assert found.state == "failed"
    assert codes(found) == [Code.REWARD_CONTRADICTED]


@pytest.mark.parametrize(
    "content", [b"", b'{"django__dj', b"[]", b"\xff\xfe", b'{"django__django-1": {"resolved": 3}}']
)
def test_a_half_written_report_is_one_broken_trial_case_80(whole: Path, content: bytes) -> None:
    (run_folder(whole) / MODEL / "django__django-1" / "report.json").write_bytes(content)
    state, _ = state_of(run_folder(whole))
    found = trial(state, "django__django-1")
    assert found.state == "unscored"
    assert codes(found) == [Code.VERIFIER_RESULT_INVALID]
    assert trial(state, "django__django-2").state == "failed"


def test_an_evaluation_without_its_report_is_stale_until_it_moves_case_76(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(swe_bench_reader, "LOOK_SEC", 0.0)
    monkeypatch.setattr(owner_process, "worked_on_here", lambda *given: False)
    evaluated(tmp_path, "django__django-1", True)
    folder = instance(tmp_path, "django__django-2")
    log = folder / "run_instance.log"
    log.write_text(log_lines("Creating container for django__django-2..."))
    reader, state = open_run(run_folder(tmp_path)).reader(), RunState()
    state.apply_all(read_all(reader))
    assert reader.liveness() is Liveness.STALE
    assert trial(state, "django__django-2").state == "running"
    with log.open("a") as file:
        file.write(log_lines("Eval script for django__django-2 written", minute=2))
    state.apply_all(read_all(reader))
    assert reader.liveness() is Liveness.LIVE
    assert str(trial(state, "django__django-2").phase) == "verify"
    evaluated(tmp_path, "django__django-2", False)
    evaluated(tmp_path, "django__django-3", True)
    summary(
        tmp_path,
        completed=["django__django-1", "django__django-2", "django__django-3"],
        resolved=["django__django-1", "django__django-3"],
        unresolved=["django__django-2"],
    )
    state.apply_all(read_all(reader))
    assert reader.liveness() is Liveness.FINISHED
    assert state.finished is not None and state.done == 3


def test_an_evaluation_whose_instances_all_ended_is_over_without_a_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(owner_process, "worked_on_here", lambda *given: False)
    evaluated(tmp_path, "django__django-1", True)
    reader = open_run(run_folder(tmp_path)).reader()
    read_all(reader)
    assert reader.liveness() is Liveness.FINISHED
    assert any(isinstance(event, ev.RunFinished) for event in read_all(reader))


def test_hostile_names_and_links_lead_nowhere(whole: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret.json"
    secret.write_text("{}")
    report = run_folder(whole) / MODEL / "django__django-1" / "report.json"
    report.unlink()
    report.symlink_to(secret)
    path = whole / f"{MODEL}.{RUN}.json"
    value = json.loads(path.read_text())
    value["resolved_ids"] += ["../../../../etc", "a/b", HOSTILE, 7, None]
    path.write_text(json.dumps(value))
    state, _ = state_of(run_folder(whole))
    assert not any("/" in trial.task or "\x1b" in trial.task for trial in state.trials.values())
    assert "../../../../etc" not in state.trials
    opened = open_run(run_folder(whole))
    for name in (f"{MODEL}/../../x", "../../x", "..", f"{MODEL}/.."):
        assert opened.trial_folder(name) in (run_folder(whole), run_folder(whole) / "unknown")


def test_a_copy_under_another_name_is_the_same_run(tmp_path: Path) -> None:
    """Labels stay with it."""
    evaluated(tmp_path, "a__b-1", True)
    evaluated(tmp_path, "a__b-2", False, minute=3)
    for place in (run_folder(tmp_path), run_folder(tmp_path) / MODEL):
        copy = shutil.copytree(place, tmp_path / f"copy of {place.name}")
        assert SWE_BENCH.identity(copy) == SWE_BENCH.identity(place)
    assert SWE_BENCH.identity(run_folder(tmp_path)) != SWE_BENCH.identity(run_folder(tmp_path) / MODEL)


def test_the_identity_stays_while_instances_and_models_come(tmp_path: Path) -> None:
    evaluated(tmp_path, "django__django-1", True)
    before = SWE_BENCH.identity(run_folder(tmp_path))
    evaluated(tmp_path, "django__django-2", True, minute=3)
    evaluated(tmp_path, "django__django-2", True, model="other", minute=4)
    summary(tmp_path, resolved=["django__django-1"])
    assert SWE_BENCH.identity(run_folder(tmp_path)) == before
    evaluated(tmp_path / "elsewhere", "django__django-1", True, minute=2)
    assert SWE_BENCH.identity(run_folder(tmp_path / "elsewhere")) != before


def test_other_folders_are_no_evaluations(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "report.json").write_text('{"title": "something else"}')
    (tmp_path / "package.json").write_text('{"resolved": "1.0"}')
    assert not SWE_BENCH.is_run(tmp_path)
    assert not SWE_BENCH.is_run(tmp_path / "package.json")
    assert not SWE_BENCH.is_run(tmp_path / "missing")


def test_nothing_is_written_into_it(whole: Path) -> None:
    before = tree_digest(whole)
    opened = open_run(run_folder(whole))
    state, _ = state_of(run_folder(whole))
    for name in state.trials:
        opened.logs(name)
    assert opened.identity
    assert tree_digest(whole) == before


def test_the_logs_of_an_instance_come_with_what_they_are(whole: Path) -> None:
    logs = open_run(run_folder(whole)).logs(f"{MODEL}/django__django-1")
    assert [(log.kind, log.label) for log in logs] == [
        ("verifier", "tests"),
        ("verifier", "report"),
        ("engine", "evaluation"),
        ("agent", "patch"),
        ("other", "eval.sh"),
    ]
