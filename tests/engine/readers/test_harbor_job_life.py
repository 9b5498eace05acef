"""A Harbor job from its start to its end: growing, killed, resumed, retried, regraded, cancelled."""

from __future__ import annotations

import os
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from engine.issues import Code, Phase
from engine.readers.reader import Liveness
from tests.engine.readers import foreign
from tests.engine.readers.harbor_samples import Job, Watching, exception

T0 = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def job_folder(tmp_path: Path) -> Path:
    return tmp_path / "jobs" / "job"


def test_a_running_job_grows_and_ends(job_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    job = Job(job_folder, attempts=2)
    job.start("one__aaaaaaa")
    job.says(running=1)
    watching = Watching(job_folder, monkeypatch)
    watching.owner = True
    state = watching.look()
    assert watching.reader.liveness() is Liveness.LIVE
    assert state.plan is not None
    assert (state.plan.trials, state.count("queued"), state.count("running")) == (2, 1, 1)
    trial = state.trials["one__aaaaaaa"]
    assert (trial.state, trial.phase, trial.activity) == ("running", Phase.PREPARE, "prepares, or its agent works")
    (job_folder / "one__aaaaaaa" / "agent").mkdir()
    (job_folder / "one__aaaaaaa" / "agent" / "oracle.txt").write_text("x")
    assert watching.look().trials["one__aaaaaaa"].phase is Phase.AGENT
    (job_folder / "one__aaaaaaa" / "trial.log").write_text("Collecting main service artifacts\n")
    assert watching.look().trials["one__aaaaaaa"].phase is Phase.COLLECT
    job.end("one__aaaaaaa")
    job.start("one__bbbbbbb")
    state = watching.look()
    done = state.trials["one__aaaaaaa"]
    assert (done.state, done.seconds, done.started_at) == ("passed", 20.0, T0 + timedelta(seconds=2))
    assert [(span.phase, span.started_at, span.seconds) for span in done.phases] == [
        (Phase.PREPARE, T0 + timedelta(seconds=2), 4.0),
        (Phase.AGENT, T0 + timedelta(seconds=6), 6.0),
        (Phase.COLLECT, T0 + timedelta(seconds=12), 2.0),
        (Phase.VERIFY, T0 + timedelta(seconds=14), 5.0),
        (Phase.CLEANUP, T0 + timedelta(seconds=19), 3.0),
    ]
    assert (done.tokens_in, done.tokens_cached, done.tokens_out, done.cost_usd) == (100, 40, 7, 0.25)
    assert state.trials["one__bbbbbbb"].state == "running"
    job.end("one__bbbbbbb", start=30, reward=0.0)
    job.says(60, finished=True)
    watching.owner = False
    state = watching.look()
    assert watching.reader.liveness() is Liveness.FINISHED
    assert state.finished is not None
    assert (state.finished.exit_code, state.finished.seconds, state.finished.reason) == (0, 60.0, "done")
    assert [trial.state for trial in state.trials.values()] == ["passed", "failed"]
    assert watching.reader.poll() == []


def test_a_killed_job_goes_stale_though_its_result_says_running_for_ever(
    job_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = Job(job_folder, attempts=3)
    job.end("one__aaaaaaa")
    job.start("one__bbbbbbb")
    job.says(25, running=1)
    watching = Watching(job_folder, monkeypatch)
    watching.owner = True
    assert watching.look().trials["one__bbbbbbb"].state == "running"
    (job_folder / "job.log").write_text("one more line\n" * 9)  # its last words
    watching.owner = False
    state = watching.look()
    assert watching.reader.liveness() is Liveness.STALE
    assert {name: trial.state for name, trial in state.trials.items()} == {
        "one__aaaaaaa": "passed",
        "one__bbbbbbb": "interrupted",
        "one~not-started-1": "queued",
    }
    assert state.arms["oracle"].assigned == 3
    assert state.trials["one__bbbbbbb"].issues[0].code is Code.HARNESS_INTERRUPTED
    assert not state.engine_running
    assert state.last_event_at == T0 + timedelta(seconds=25)
    assert watching.reader.poll() == []


def test_content_that_moves_is_a_sign_of_life_where_no_process_is_to_be_seen(
    job_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = Job(job_folder)
    folder = job.start("one__aaaaaaa")
    watching = Watching(job_folder, monkeypatch)
    assert watching.look().trials["one__aaaaaaa"].state == "interrupted"
    assert watching.reader.liveness() is Liveness.STALE
    os.utime(folder / "trial.log", (2_000_000_000, 2_000_000_000))  # a date is no sign of life
    watching.look()
    assert watching.reader.liveness() is Liveness.STALE
    (folder / "trial.log").write_text("Running healthcheck: true\n")
    state = watching.look()
    assert watching.reader.liveness() is Liveness.LIVE
    assert (state.trials["one__aaaaaaa"].state, state.sessions) == ("running", 2)


def test_what_waits_is_counted_while_a_job_runs_and_begins_under_a_name_of_its_own_case_82(
    job_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = Job(job_folder, tasks=("one", "two"), attempts=2)
    job.start("one__aaaaaaa")
    watching = Watching(job_folder, monkeypatch)
    watching.owner = True
    state = watching.look()
    assert (state.count("running"), state.count("queued"), state.arms["oracle"].assigned) == (1, 3, 4)
    job.start("two__bbbbbbb", "two")
    job.start("one__ccccccc")
    (job_folder / "two__ddddddd").mkdir()  # its config is not written yet
    state = watching.look()
    assert (state.count("running"), state.count("queued"), state.arms["oracle"].assigned) == (4, 0, 4)
    assert sorted((one.task, one.attempt) for one in state.trials.values()) == [
        ("one", 1),
        ("one", 2),
        ("two", 1),
        ("two", 2),
    ]


def test_a_trial_that_a_resume_runs_anew_has_the_attempt_of_the_one_it_replaces(
    job_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At once: Harbor deletes the old folder and makes the new one while somebody watches."""
    monkeypatch.setattr("engine.readers.harbor_reader.GONE_SEC", 1e9)
    job = Job(job_folder, attempts=2)
    job.start("one__aaaaaaa")
    job.start("one__bbbbbbb")
    watching = Watching(job_folder, monkeypatch)
    watching.look()
    watching.owner = True
    for old, new in (("aaaaaaa", "ccccccc"), ("bbbbbbb", "ddddddd")):
        shutil.rmtree(job_folder / f"one__{old}")
        watching.look()
        job.start(f"one__{new}")
        watching.look()
    state = watching.state
    assert {name: one.attempt for name, one in state.trials.items()} == {"one__ccccccc": 1, "one__ddddddd": 2}
    assert (state.count("running"), state.arms["oracle"].assigned) == (2, 2)


def test_a_resumed_job_has_new_trials_in_the_place_of_those_cut_off(
    job_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = Job(job_folder, attempts=3)
    job.end("one__aaaaaaa")
    job.start("one__bbbbbbb")
    watching = Watching(job_folder, monkeypatch)
    assert len(watching.look().trials) == 3
    shutil.rmtree(job_folder / "one__bbbbbbb")
    job.start("one__ccccccc")
    watching.owner = True
    state = watching.look()
    assert {name: trial.state for name, trial in state.trials.items()} == {
        "one__aaaaaaa": "passed",
        "one__ccccccc": "running",
        "one~not-started-2": "queued",
    }
    job.end("one__ccccccc", start=100)
    job.end("one__ddddddd", start=130)
    job.says(200, finished=True)
    watching.owner = False
    state = watching.look()
    assert sorted(state.trials) == ["one__aaaaaaa", "one__ccccccc", "one__ddddddd"]
    assert (state.arms["oracle"].assigned, state.arms["oracle"].passed, state.sessions) == (3, 3, 2)
    assert sorted(trial.attempt for trial in state.trials.values()) == [1, 2, 3]
    assert state.finished is not None


def test_a_retried_trial_keeps_what_its_first_run_ended_as(job_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    job = Job(job_folder)
    job.end("one__aaaaaaa", reward=None, exception_info=exception("ApiOverloadedError", "529"))
    watching = Watching(job_folder, monkeypatch)
    watching.owner = True
    assert watching.look().trials["one__aaaaaaa"].state == "unscored"
    shutil.rmtree(job_folder / "one__aaaaaaa")
    with (job_folder / "job.log").open("a") as log:
        log.write("Trial one__aaaaaaa failed with exception ApiOverloadedError. Retrying in 1.00 seconds...\n")
    watching.look()
    job.start("one__aaaaaaa")
    trial = watching.look().trials["one__aaaaaaa"]
    assert (trial.state, trial.run_number) == ("running", 2)
    assert [(run.run_number, run.state, run.cost_usd) for run in trial.earlier] == [(1, "unscored", 0.25)]
    job.end("one__aaaaaaa", start=40)
    job.says(70, finished=True, retries=1)
    watching.owner = False
    trial = watching.look().trials["one__aaaaaaa"]
    assert (trial.state, trial.run_number, trial.discarded_cost_usd, len(trial.phases)) == ("passed", 2, 0.25, 5)
    assert [found.code for found in trial.issues] == [Code.HARNESS_FAILED]


def test_a_regraded_trial_is_told_anew(job_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    job = Job(job_folder)
    job.end("one__aaaaaaa", reward=0.0)
    job.says(30, finished=True)
    watching = Watching(job_folder, monkeypatch)
    assert watching.look().trials["one__aaaaaaa"].state == "failed"
    job.end("one__aaaaaaa", reward=1.0)
    trial = watching.look().trials["one__aaaaaaa"]
    assert (trial.state, trial.run_number, len(trial.phases), trial.earlier[0].reward) == ("passed", 1, 5, 0.0)
    assert watching.reader.liveness() is Liveness.FINISHED


def test_a_cancelled_job_shows_cancelled_with_what_never_started(job_folder: Path) -> None:
    job = Job(job_folder, attempts=2)
    job.end("one__aaaaaaa", reward=None, exception_info=exception("CancelledError"), verifier=None)
    job.says(23, cancelled=1)
    state, liveness = foreign.state_of(job_folder)
    assert liveness is Liveness.FINISHED
    assert [trial.state for trial in state.trials.values()] == ["cancelled", "cancelled"]
    assert state.finished is not None
    assert (state.finished.exit_code, state.finished.reason) == (130, "cancelled")


def test_a_job_killed_while_it_cancelled_is_stale(job_folder: Path) -> None:
    job = Job(job_folder, attempts=2)
    job.end("one__aaaaaaa", reward=None, exception_info=exception("CancelledError"))
    job.start("one__bbbbbbb")
    job.says(23, cancelled=1, running=1)
    assert foreign.state_of(job_folder)[1] is Liveness.STALE


def test_a_trial_taken_for_cut_off_while_its_files_are_copied_here_is_as_if_it_had_never_been(
    job_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = Job(job_folder, attempts=2)
    job.start("one__aaaaaaa")
    job.start("one__bbbbbbb")
    watching = Watching(job_folder, monkeypatch)
    watching.owner = False
    state = watching.look()
    assert [trial.state for trial in state.trials.values()] == ["interrupted", "interrupted"]
    attempts = {name: trial.attempt for name, trial in state.trials.items()}
    job.end("one__aaaaaaa")
    watching.owner = True
    state = watching.look()
    assert [state.trials[name].state for name in sorted(state.trials)] == ["passed", "running"]
    job.end("one__bbbbbbb", start=30, reward=0.0)
    job.says(60, finished=True)
    state = watching.look()
    assert {name: trial.attempt for name, trial in state.trials.items()} == attempts
    assert not any(trial.issues or trial.earlier for trial in state.trials.values())
    assert not any(state.severities.values())
