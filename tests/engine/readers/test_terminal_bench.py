"""Run folders of Terminal-Bench 0.x: two real submissions, and made ones that grow, break or mean harm."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from engine.analysis.compare import compare
from engine.analysis.from_state import arm_outcomes
from engine.issues import Code, Phase
from engine.readers.open_run import recognise
from engine.readers.owner_process import Pulse
from engine.readers.reader import Liveness
from engine.readers.terminal_bench import TERMINAL_BENCH
from engine.readers.terminal_bench_reader import TerminalBenchReader
from engine.state import RunState
from tests.engine.readers import foreign
from tests.engine.readers.foreign import tree_digest
from tests.shared_data import shared_data

CORE = "terminal-bench-core-0.1.1"
CLAUDE = "20250923_droid_claude-4-sonnet"
GPT = "20250924_droid_gpt-5"


def state_of(folder: Path) -> RunState:
    found = recognise(folder)
    assert found is not None
    assert (found.kind, found.ours) == ("terminal-bench", False)
    return foreign.state_of(folder)[0]


@pytest.mark.parametrize(
    ("name", "passed", "modes"),
    [
        (GPT, 210, {"agent_timeout": 52, "test_timeout": 10, "parse_error": 6}),
        (CLAUDE, 202, {"agent_timeout": 86, "test_timeout": 10, "parse_error": 1}),
    ],
)
def test_a_submission_of_five_runs_is_one_arm_with_five_attempts(name: str, passed: int, modes: dict[str, int]) -> None:
    folder = shared_data(CORE, name)
    before = tree_digest(folder)
    state = state_of(folder)
    (arm,) = state.arms.values()
    assert arm.info.name == name.partition("_")[2]
    assert (arm.passed, arm.assigned, arm.finished) == (passed, 400, 400)
    assert Counter(trial.attempt for trial in state.trials.values()) == {number: 80 for number in range(1, 6)}
    issues = [issue for trial in state.trials.values() for issue in trial.issues]
    assert Counter(issue.message.partition(":")[0] for issue in issues) == modes
    assert sum(trial.timed_out for trial in state.trials.values()) == modes["agent_timeout"]
    assert state.plan is not None
    assert (state.plan.tasks, state.plan.trials, state.plan.attempts, state.plan.concurrency) == (80, 400, 5, 3)
    assert (state.plan.task_set.name, state.plan.task_set.version) == ("terminal-bench-core", "0.1.1")
    assert state.finished is not None
    assert state.finished.exit_code == 3
    assert tree_digest(folder) == before


def test_the_known_answers_of_the_pair() -> None:
    sides = [arm_outcomes(state_of(shared_data(CORE, name))) for name in (GPT, CLAUDE)]
    (gpt,), (claude,) = (tuple(side.values()) for side in sides)
    found = compare(gpt, claude)
    assert [arm.rate for arm in found.arms] == [0.525, 0.505]
    assert found.difference.estimate == pytest.approx(0.020)
    assert found.difference.standard_error == pytest.approx(0.03272, abs=5e-6)
    assert (found.table.both, found.table.a_only, found.table.b_only, found.table.neither) == (34, 5, 9, 32)
    assert found.mcnemar.exact == pytest.approx(0.4240, abs=5e-5)


def test_one_run_of_a_submission_opens_by_itself() -> None:
    folder = shared_data(CORE, CLAUDE, "tb_rc2_sonnet_1")
    state = state_of(folder)
    (arm,) = state.arms.values()
    assert (arm.info.name, arm.assigned, arm.passed) == ("Factory Droid", 80, 43)
    assert TERMINAL_BENCH.identity(folder) == "bb8cc93c-f716-4efd-a498-92247818376c"
    assert TERMINAL_BENCH.identity(folder) != TERMINAL_BENCH.identity(folder.parent)


def test_a_real_trial_s_phases_lie_inside_its_time_and_its_tests_are_counted() -> None:
    state = state_of(shared_data(CORE, CLAUDE, "tb_rc2_sonnet_2"))
    trial = next(trial for trial in state.trials.values() if trial.task == "path-tracing")
    assert trial.trial == "path-tracing/path-tracing.1-of-1.tb_rc2_sonnet_2"
    assert (trial.state, trial.reward, trial.tests_passed, trial.tests_total) == ("passed", 1.0, 4, 4)
    assert [span.phase for span in trial.phases] == [Phase.PREPARE, Phase.AGENT, Phase.VERIFY, Phase.CLEANUP]
    assert trial.seconds == pytest.approx(783.320, abs=0.001)
    assert sum(span.seconds or 0.0 for span in trial.phases) == pytest.approx(trial.seconds, abs=0.001)
    assert trial.agent_seconds == pytest.approx(660.123, abs=0.001)
    (issue,) = trial.issues
    assert (issue.code, issue.evidence[0].file, issue.evidence[0].line) == (Code.HARNESS_TIMEOUT, "results.json", 7)
    assert (trial.tokens_in, trial.tokens_out) == (None, None)


def test_neither_the_folder_of_submissions_nor_a_task_in_a_run_is_a_run() -> None:
    core = shared_data(CORE)
    task = core / CLAUDE / "tb_rc2_sonnet_1" / "hello-world"
    assert recognise(core) is None
    assert recognise(task) is None
    assert recognise(next(task.iterdir())) is None


# --- made ones ---


def make_run(folder: Path, tasks: tuple[str, ...] = ("a", "b"), attempts: int = 1, **metadata: Any) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    told = {
        "run_id": folder.name,
        "uuid": f"uuid-of-{folder.name}",
        "agent_name": "terminus",
        "model_name": "some/model",
        "dataset_name": "core",
        "dataset_version": "1",
        "task_ids": list(tasks),
        "n_attempts": attempts,
        "n_concurrent_trials": 2,
        "start_time": "2026-01-01T00:00:00+00:00",
        "end_time": None,
        **metadata,
    }
    (folder / "run_metadata.json").write_text(json.dumps(told))
    return folder


def result(resolved: bool | None = True, mode: str = "unset", minute: int = 1, **more: Any) -> dict[str, Any]:
    return {
        "task_id": "a",
        "is_resolved": resolved,
        "failure_mode": mode,
        "parser_results": {"one": "passed", "two": "failed"},
        "total_input_tokens": 12,
        "total_output_tokens": 3,
        "trial_started_at": f"2026-01-01T00:{minute:02}:00+00:00",
        "agent_started_at": f"2026-01-01T00:{minute:02}:10+00:00",
        "agent_ended_at": f"2026-01-01T00:{minute:02}:20+00:00",
        "test_started_at": f"2026-01-01T00:{minute:02}:21+00:00",
        "test_ended_at": f"2026-01-01T00:{minute:02}:30+00:00",
        "trial_ended_at": f"2026-01-01T00:{minute:02}:40+00:00",
        **more,
    }


def end_trial(run: Path, task: str, number: int = 1, of: int = 1, **said: Any) -> Path:
    trial = run / task / f"{task}.{number}-of-{of}.{run.name}"
    trial.mkdir(parents=True, exist_ok=True)
    (trial / "results.json").write_text(json.dumps(result(**said)))
    return trial


class Watching:
    """A reader that looks at once whenever it is asked, and what its events add up to."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in ("LOOK_SEC", "OVER_SEC", "OWNER_SEC"):
            monkeypatch.setattr(f"engine.readers.terminal_bench_reader.{name}", 0.0)
        self.reader = TerminalBenchReader(folder, Pulse(silent_sec=1e9))
        self.state = RunState()

    def look(self) -> RunState:
        self.state.apply_all(self.reader.poll())
        return self.state


def test_planned_trials_are_there_before_their_folders(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", attempts=2)
    end_trial(run, "a", 1, 2, minute=9)
    end_trial(run, "a", 2, 2, minute=3)
    state = state_of(run)
    assert {name: (trial.attempt, trial.state) for name, trial in state.trials.items()} == {
        "a/a.2-of-2.run": (1, "passed"),
        "a/a.1-of-2.run": (2, "passed"),
        "b/b.1-of-2.run": (1, "queued"),
        "b/b.2-of-2.run": (2, "queued"),
    }
    trial = state.trials["a/a.2-of-2.run"]
    assert (trial.tokens_in, trial.tokens_out, trial.tests_passed, trial.tests_total) == (12, 3, 1, 2)
    (arm,) = state.arms.values()
    assert (arm.info.name, arm.info.model, arm.info.agent) == ("some/model terminus", "some/model", "terminus")


@pytest.mark.parametrize(
    ("mode", "resolved", "code", "state"),
    [
        ("test_timeout", None, Code.VERIFIER_TIMEOUT, "unscored"),
        ("parse_error", None, Code.VERIFIER_RESULT_INVALID, "unscored"),
        ("unknown_agent_error", False, Code.HARNESS_FAILED, "failed"),
        ("agent_installation_failed", None, Code.AGENT_SETUP_FAILED, "unscored"),
        ("context_length_exceeded", False, Code.HARNESS_FAILED, "failed"),
        ("something_new", False, Code.HARNESS_FAILED, "failed"),
    ],
)
def test_failure_modes_keep_their_name(
    tmp_path: Path, mode: str, resolved: bool | None, code: Code, state: str
) -> None:
    run = make_run(tmp_path / "run", ("a",))
    end_trial(run, "a", mode=mode, resolved=resolved)
    (trial,) = state_of(run).trials.values()
    assert trial.state == state
    (issue,) = trial.issues
    assert issue.code is code
    assert issue.message.startswith(f"{mode}: ")


def test_times_that_a_record_lacks_are_unknown(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", ("a", "b"), start_time=None)
    nothing: dict[str, Any] = {
        f"{name}_at": None for name in ("trial_started", "agent_started", "agent_ended", "test_started", "test_ended")
    }
    end_trial(run, "a", **nothing, trial_ended_at=None)
    end_trial(run, "b", **nothing)
    (run / "results.json").write_text("{}")
    found = {trial.task: trial for trial in state_of(run).trials.values()}
    assert (found["a"].state, found["a"].started_at, found["a"].finished_at) == ("passed", None, None)
    assert [trial.seconds for trial in found.values()] == [None, None]
    assert found["b"].finished_at is not None


def test_a_run_that_grows_is_live_and_then_finished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = make_run(tmp_path / "run")
    watching = Watching(run, monkeypatch)
    assert watching.look().count("queued") == 2
    assert watching.reader.liveness() is Liveness.STALE
    trial = run / "a" / "a.1-of-1.run"
    (trial / "sessions").mkdir(parents=True)
    (trial / "sessions" / "agent.log").write_text("one")
    watching.look()
    (trial / "sessions" / "agent.log").write_text("one two")
    state = watching.look()
    assert watching.reader.liveness() is Liveness.LIVE
    assert state.trials["a/a.1-of-1.run"].state == "running"
    end_trial(run, "a")
    assert watching.look().trials["a/a.1-of-1.run"].state == "passed"
    end_trial(run, "b", resolved=False, minute=5)
    state = watching.look()
    assert state.finished is not None
    assert (state.finished.exit_code, state.count("passed", "failed")) == (0, 2)
    assert watching.reader.liveness() is Liveness.FINISHED


def test_a_run_left_behind_is_stale_and_its_last_sign_of_life_is_from_its_content(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run")
    end_trial(run, "a")
    (run / "b" / "b.1-of-1.run").mkdir(parents=True)
    state, liveness = foreign.state_of(run)
    assert liveness is Liveness.STALE
    cut = state.trials["b/b.1-of-1.run"]
    assert (cut.state, [issue.code for issue in cut.issues]) == ("interrupted", [Code.HARNESS_INTERRUPTED])
    assert state.finished is None
    assert state.last_event_at == datetime(2026, 1, 1, 0, 1, 40, tzinfo=UTC)


def test_half_written_results_are_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Case 80."""
    run = make_run(tmp_path / "run", ("a",))
    path = end_trial(run, "a") / "results.json"
    whole = path.read_text()
    path.write_text(whole[:60])
    watching = Watching(run, monkeypatch)
    state = watching.look()
    (trial,) = state.trials.values()
    assert trial.state == "interrupted"
    assert "is not whole JSON" in trial.issues[0].message
    path.write_text(whole)
    (trial,) = watching.look().trials.values()
    assert trial.state == "passed"
    path.write_text(json.dumps(result(resolved=False)))
    (trial,) = watching.look().trials.values()
    assert (trial.state, trial.earlier[-1].state, len(trial.phases)) == ("failed", "passed", 4)


def test_results_left_out_are_read_from_the_run_s_own_list(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", ("a",))
    row = result(trial_name="a.1-of-1.run", mode="agent_timeout")
    (run / "results.json").write_text(json.dumps({"results": [row, None, {"trial_name": []}]}))
    (trial,) = state_of(run).trials.values()
    assert (trial.state, trial.timed_out) == ("passed", True)


def test_runs_that_measure_different_things_are_no_submission(tmp_path: Path) -> None:
    make_run(tmp_path / "s" / "one")
    make_run(tmp_path / "s" / "two")
    assert recognise(tmp_path / "s") is not None
    make_run(tmp_path / "s" / "three", model_name="another/model")
    assert recognise(tmp_path / "s") is None
    shutil.rmtree(tmp_path / "s" / "three")
    (tmp_path / "s" / "notes").mkdir()
    assert recognise(tmp_path / "s") is None


def test_hostile_runs_raise_nothing_and_lead_nowhere(tmp_path: Path) -> None:
    outside = end_trial(make_run(tmp_path / "elsewhere"), "a")
    names = ("../elsewhere/a", "/etc", "..", "x\x00y", "a\x1b[31m\nb", "c")
    run = make_run(tmp_path / "run", names, run_id="../../elsewhere")
    (run / "linked").symlink_to(outside.parent)
    (run / "c").mkdir()
    (run / "c" / "c.1-of-1.run").symlink_to(outside)
    deep = run / "a\x1b[31m\nb" / "a\x1b[31m\nb.1-of-1.run"
    deep.mkdir(parents=True)
    (deep / "results.json").write_bytes(b'{"a":' * 100_000)
    mad = run / "mad" / "mad.1-of-1.run"
    mad.mkdir(parents=True)
    said = {"is_resolved": "yes", "failure_mode": 5, "parser_results": [1], "trial_started_at": {"x": 1}}
    (mad / "results.json").write_text(json.dumps({**said, "agent_ended_at": "2026-01-01T00:00:00"}))
    before = tree_digest(tmp_path)
    state = state_of(run)
    assert {trial.task: trial.state for trial in state.trials.values()} == {
        "a\x1b[31m\nb".replace("\x1b[31m", "").replace("\n", " ⏎ "): "interrupted",
        "mad": "unscored",
    }
    logs = [log.path for trial in (*state.trials, "../elsewhere/a") for log in TERMINAL_BENCH.logs(run, trial)]
    assert logs == []
    assert TERMINAL_BENCH.trial_folder(run, "../../x") == run / "x"
    assert tree_digest(tmp_path) == before


def test_logs_come_with_what_they_are(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", ("a",))
    trial = end_trial(run, "a")
    for name in (
        "sessions/agent.log", "sessions/agent.cast", "sessions/tests.log", "panes/pre-agent.txt", "panes/post-test.txt",
        "commands.txt", "agent-logs/episode-0/response.txt",
    ):  # fmt: skip
        (trial / name).parent.mkdir(parents=True, exist_ok=True)
        (trial / name).write_text("x")
    (run / "run.log").write_text("x")
    assert [(log.kind, log.label) for log in TERMINAL_BENCH.logs(run, "a/a.1-of-1.run")] == [
        ("agent", "agent"),
        ("agent", "pre-agent"),
        ("agent", "commands"),
        ("agent", "response"),
        ("agent", "agent.cast"),
        ("verifier", "tests"),
        ("verifier", "post-test"),
        ("engine", "run.log"),
    ]
