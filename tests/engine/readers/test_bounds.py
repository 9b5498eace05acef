"""What no folder can make its reader do: list without an end, leave the folder, be taken for another one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine.readers import owner_process, swe_bench_layout
from engine.readers.agentcompass import AGENTCOMPASS
from engine.readers.harbor import HARBOR
from engine.readers.json_file import parse_json
from engine.readers.open_run import open_run, recognise
from engine.readers.reader import Liveness
from engine.readers.run_folder import TRIALDECK
from engine.readers.swe_bench import SWE_BENCH
from engine.readers.terminal_bench_plan import run_plan
from tests.engine.readers import foreign
from tests.engine.readers.agentcompass_samples import Sample
from tests.engine.readers.harbor_samples import Job
from tests.engine.readers.swe_bench_samples import summary


@pytest.fixture(autouse=True)
def nobody_at_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(owner_process, "worked_on_here", lambda *given: False)


def test_trials_that_never_started_are_listed_up_to_a_bound_and_counted_beyond_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.readers.harbor_reader.MOST_TRIALS", 50)
    job = Job(tmp_path / "job")
    config = json.loads((job.folder / "config.json").read_text())
    job.write("config.json", {**config, "n_attempts": 10**18})
    (job.folder / "lock.json").unlink()
    job.total = 10**18
    job.says()
    state, liveness = foreign.state_of(job.folder)
    assert liveness is Liveness.STALE
    assert state.plan is not None
    assert (len(state.trials), state.plan.trials) == (50, 10**18)
    assert "999,999,999,999,999,950 trials that never started are counted and not listed" in state.run_issues[0].message


def test_ten_thousand_trials_that_never_started_are_named_one_by_one(tmp_path: Path) -> None:
    """Not by trying every name that is taken."""
    job = Job(tmp_path / "job", attempts=10_000)
    job.says(9)
    state, _ = foreign.state_of(job.folder)
    assert len(state.trials) == 10_000
    assert [one.attempt for one in state.trials.values()] == list(range(1, 10_001))


def test_attempts_that_a_results_folder_claims_are_listed_up_to_a_bound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.readers.agentcompass_reader.MOST_TRIALS", 25)
    sample = Sample(tmp_path / "r", tasks=tuple(f"t{number}" for number in range(10)), attempts=10)
    sample.begin()
    state, _ = foreign.state_of(sample.folder)
    assert state.plan is not None
    assert (len(state.trials), state.plan.tasks, state.plan.trials) == (30, 10, 100)


def test_an_attempt_of_a_mad_number_is_one_attempt(tmp_path: Path) -> None:
    sample = Sample(tmp_path / "r", attempts=2)
    sample.begin()
    sample.attempt("hello", number=10**18)
    state, _ = foreign.state_of(sample.folder)
    assert sorted(one.attempt for one in state.trials.values()) == [1, 2, 10**18]


def test_a_report_is_read_once_however_many_trials_ask_where_they_lie(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = summary(tmp_path, resolved=[f"a__b-{number}" for number in range(50)])
    read: list[bytes] = []

    def parse(data: bytes) -> object:
        read.append(data)
        return parse_json(data)

    monkeypatch.setattr(swe_bench_layout, "parse_json", parse)
    for number in range(50):
        assert SWE_BENCH.trial_folder(report, f"a__b-{number}") == tmp_path
    assert len(read) == 1
    report.write_text("{}")
    assert recognise(report) is None


def test_attempts_that_a_terminal_bench_run_claims_are_bounded(tmp_path: Path) -> None:
    said = {"run_id": "r", "agent_name": "a", "task_ids": [f"t{n}" for n in range(30_000)], "n_attempts": 1_000}
    (tmp_path / "run_metadata.json").write_text(json.dumps(said))
    plan = run_plan(tmp_path)
    assert (len(plan.tasks), plan.attempts) == (30_000, 6)


def test_a_file_of_ours_in_somebody_elses_folder_does_not_make_it_ours(tmp_path: Path) -> None:
    """Labels would be written into it."""
    job = Job(tmp_path / "job")
    sample = Sample(tmp_path / "results")
    sample.begin()
    for content in (b"", b"\0\0", b'{"id": 1, "timestamp": "2026", "source": "agent"}\n', b"[1, 2]\n"):
        for folder, known in ((job.folder, HARBOR), (sample.folder, AGENTCOMPASS)):
            (folder / "events.jsonl").write_bytes(content)
            found = recognise(folder)
            assert found is not None
            assert (found.format, found.ours) == (known, False)


def test_events_of_another_program_are_no_run_of_ours(tmp_path: Path) -> None:
    (tmp_path / "events.jsonl").write_text('{"id": 1, "timestamp": "2026", "source": "agent"}\n')
    assert recognise(tmp_path) is None


def test_a_run_of_ours_whose_first_line_is_broken_is_still_ours(tmp_path: Path) -> None:
    """Case 80."""
    (tmp_path / "events.jsonl").write_bytes(b'{"type": "engine_sta')
    assert open_run(tmp_path).ours
    assert recognise(tmp_path) is not None
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "card.toml").write_text('digest = "a"\n')
    found = recognise(tmp_path)
    assert found is not None
    assert found.ours


@pytest.mark.parametrize("trial", ["..", "../other", "a/../../other", "/other", "", "a\0b"])
def test_a_trial_whose_name_leads_out_of_a_run_has_no_folder_there(tmp_path: Path, trial: str) -> None:
    for part in ("other/agent", "agent", "run"):
        (tmp_path / part).mkdir(parents=True)
    (tmp_path / "other" / "agent" / "secret.txt").write_text("secret")
    (tmp_path / "agent" / "secret.txt").write_text("secret")
    run = tmp_path / "run"
    assert TRIALDECK.trial_folder(run, trial) == run / "none"
    assert TRIALDECK.logs(run, trial) == []


def test_a_log_that_is_a_link_out_of_a_run_is_no_log_of_it(tmp_path: Path) -> None:
    agent = tmp_path / "run" / "t" / "agent"
    agent.mkdir(parents=True)
    (tmp_path / "secret.txt").write_text("secret")
    (agent / "secret.txt").symlink_to(tmp_path / "secret.txt")
    (agent / "own.txt").write_text("own")
    (agent / "same.txt").symlink_to("own.txt")
    assert [log.label for log in TRIALDECK.logs(tmp_path / "run", "t")] == ["own", "same"]


def test_a_log_of_the_whole_run_that_is_a_link_out_of_it_is_no_log_of_it(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("secret")
    sample = Sample(tmp_path / "r")
    sample.begin()
    sample.attempt("hello")
    log = sample.folder / "run.log"
    log.write_text("00:28:54 INFO harnesses begun\n")
    (trial,) = foreign.state_of(sample.folder)[0].trials
    assert [one.label for one in AGENTCOMPASS.logs(sample.folder, trial)] == ["run.log"]
    log.unlink()
    log.symlink_to(tmp_path / "secret.txt")
    assert AGENTCOMPASS.logs(sample.folder, trial) == []


def test_results_that_are_a_link_out_of_an_entry_are_not_shown(tmp_path: Path) -> None:
    entry = tmp_path / "20250101_agent"
    (entry / "results").mkdir(parents=True)
    (tmp_path / "elsewhere.json").write_text(json.dumps({"resolved": ["a__b-1"], "no_generation": []}))
    results = entry / "results" / "results.json"
    results.write_bytes((tmp_path / "elsewhere.json").read_bytes())
    assert [log.path for log in SWE_BENCH.logs(entry, "a__b-1")] == [results]
    results.unlink()
    results.symlink_to(tmp_path / "elsewhere.json")
    assert SWE_BENCH.logs(entry, "a__b-1") == []
