"""Where things lie in a run folder, and which logs a trial has."""

from __future__ import annotations

from pathlib import Path

from engine.layout import EVENTS, find_runs, is_run_folder, trial_logs

LOGS = (
    "agent/oracle.txt",
    "agent/trajectory.json",
    "verifier/test-stdout.txt",
    "verifier/ctrf.json",
    "logs/services/redis.log",
    "logs/services/main.log",
    "logs/hooks.log",
    "logs/build.log",
    "logs/compose.log",
    "logs/verifier/build.log",
    "logs/verifier/services/main.log",
    "steps/one/agent/replay.txt",
    "steps/one/verifier/test-stdout.txt",
    "trial.log",
    "config.json",
    "interrupted-1/agent/oracle.txt",
)


def test_runs_are_the_folders_that_hold_events(tmp_path: Path) -> None:
    for name in ("b", "a"):
        (tmp_path / name).mkdir()
        (tmp_path / name / EVENTS).touch()
    (tmp_path / "other").mkdir()
    (tmp_path / "file").touch()
    assert find_runs(tmp_path) == [tmp_path / "a", tmp_path / "b"]
    assert not is_run_folder(tmp_path / "other")
    assert find_runs(tmp_path / "missing") == []


def test_every_log_of_a_trial_is_found_in_the_order_a_person_reads_them(tmp_path: Path) -> None:
    for name in LOGS:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    found = [(log.kind, log.label) for log in trial_logs(tmp_path)]
    assert found == [
        ("agent", "oracle"),
        ("agent", "one: replay"),
        ("service", "main"),
        ("service", "redis"),
        ("service", "verifier: main"),
        ("hooks", "hooks"),
        ("verifier", "test-stdout"),
        ("verifier", "ctrf"),
        ("verifier", "one: test-stdout"),
        ("build", "build"),
        ("build", "compose"),
        ("build", "verifier: build"),
        ("engine", "engine"),
    ]


def test_a_trial_that_has_nothing_yet_has_no_logs(tmp_path: Path) -> None:
    assert trial_logs(tmp_path / "not-there") == []
