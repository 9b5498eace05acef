"""Real containers: a trial that failed for its infrastructure runs again, and a recorded one is replayed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine.readers.open_run import open_run
from engine.runs.card import read_card
from engine.triage.causes import Cause
from engine.triage.label_store import open_labels
from engine.triage.new_label import new_label
from tests.end_to_end.deck import codes, only_run, state_of, trial_of, trialdeck
from tests.end_to_end.small_tasks import small_task

pytestmark = pytest.mark.docker

SCORED_WHERE_ASKED = '[verifier.env]\nVERDICT = "${VERDICT:-}"\n'
TEST = '[ -n "$VERDICT" ] && echo 1 > /logs/verifier/reward.txt\ntrue\n'


def label(run: Path, task: str, arm: str, cause: Cause) -> None:
    trial = trial_of(state_of(run), task, arm)
    store = open_labels(open_run(run))
    store.append(new_label(store.run_identity, trial, "ada", cause=cause))


def test_what_failed_for_its_infrastructure_runs_again_in_both_arms_and_nothing_else_does(tmp_path: Path) -> None:
    for name in ("lost", "judged"):
        small_task(tmp_path / "tasks" / name, toml=SCORED_WHERE_ASKED, test=TEST)
    (tmp_path / "tasks" / "judged" / "tests" / "test.sh").write_text("echo 0 > /logs/verifier/reward.txt\n")
    arms = ("--agent", "oracle", "--agent", "nop")
    first = trialdeck("run", "tasks", *arms, "--allow-host-env", "VERDICT", "--plain", cwd=tmp_path)
    assert first.returncode == 3, first.stdout + first.stderr
    run = only_run(tmp_path)
    untouched = (run / trial_of(state_of(run), "judged", "oracle").trial / "result.json").read_bytes()

    nothing = trialdeck("rerun", str(run), "--plain", cwd=tmp_path)
    assert nothing.returncode == 2 and "nothing runs again" in nothing.stderr
    for arm in ("oracle", "nop"):
        label(run, "lost", arm, Cause.INFRASTRUCTURE)
        label(run, "judged", arm, Cause.MODEL)
    named = trial_of(state_of(run), "lost", "oracle").trial
    dry = trialdeck("rerun", str(run), named, "--dry-run", cwd=tmp_path)
    assert dry.returncode == 0 and "with the other arm" in dry.stdout

    again = trialdeck("rerun", str(run), named, "--plain", cwd=tmp_path, env={"VERDICT": "1"})
    assert again.returncode == 0, again.stdout + again.stderr
    state = state_of(run)
    for arm in ("oracle", "nop"):
        trial = trial_of(state, "lost", arm)
        assert (trial.state, trial.run_number, trial.reruns) == ("passed", 2, 1)
        assert (run / trial.earlier[0].folder / "trial.log").is_file()
        assert trial_of(state, "judged", arm).run_number == 1
    assert (run / trial_of(state, "judged", "oracle").trial / "result.json").read_bytes() == untouched

    label(run, "lost", "oracle", Cause.INFRASTRUCTURE)
    more = trialdeck("rerun", str(run), named, "--plain", cwd=tmp_path)
    assert more.returncode == 2 and "the card allows 1" in more.stderr


def test_recorded_commands_are_replayed_in_a_fresh_environment_and_set_beside_the_first_time(tmp_path: Path) -> None:
    small_task(tmp_path / "tasks" / "word", test="grep -q yes /app/word && echo 1 > /logs/verifier/reward.txt\ntrue\n")
    step = {
        "step_id": 1,
        "source": "agent",
        "message": "write it",
        "tool_calls": [
            {"tool_call_id": "c", "function_name": "bash", "arguments": {"command": "echo yes > /app/word"}}
        ],
    }
    session = {"schema_version": "ATIF-v1.6", "agent": {"name": "a", "version": "1"}, "steps": [step]}
    (tmp_path / "word.json").write_text(json.dumps(session))
    first = trialdeck("run", "tasks", "--agent", "replay:sessions=word.json", "--plain", cwd=tmp_path)
    assert first.returncode == 0, first.stdout + first.stderr
    run = only_run(tmp_path)
    before = (run / "events.jsonl").read_bytes()

    again = trialdeck("replay", str(run), "word", "--times", "2", "--runs-dir", "again", "--plain", cwd=tmp_path)
    assert again.returncode == 0, again.stdout + again.stderr
    assert again.stdout.splitlines()[-3:] == [
        "then: passed, reward 1",
        "now:  passed, reward 1",
        "now:  passed, reward 1",
    ]
    (replayed,) = (tmp_path / "again").iterdir()
    assert [codes(trial) for trial in state_of(replayed).trials.values()] == [set(), set()]
    assert (run / "events.jsonl").read_bytes() == before


def test_what_a_trial_left_is_verified_again_without_its_agent_case_55(tmp_path: Path) -> None:
    """Both verdicts on equal artifacts: the tests are flaky, whatever the agent did."""
    task = tmp_path / "tasks" / "coin"
    toml = 'artifacts = ["/app"]\n[verifier]\nenvironment_mode = "separate"\n[verifier.env]\nCOIN = "${COIN:-1}"\n'
    test = 'grep -qx yes /app/word && [ ! -e /app/old ] && echo "$COIN" > /logs/verifier/reward.txt\n'
    image = "FROM debian:bookworm-slim\nWORKDIR /app\nRUN touch /app/old\n"
    small_task(task, toml=toml, solve="echo yes > word; rm old\n", test=test, environment__Dockerfile=image)
    allowed = ("--allow-host-env", "COIN", "--plain")
    first = trialdeck("run", "tasks", "--agent", "oracle", *allowed, cwd=tmp_path)
    assert first.returncode == 0, first.stdout + first.stderr
    run = only_run(tmp_path)
    before = (run / "events.jsonl").read_bytes()
    again = ("replay", str(run), "coin", "--artifacts", "--times", "2", "--runs-dir", "again", "--plain")
    for coin, ended in (("1", "passed, reward 1"), ("0", "failed, reward 0")):
        answer = trialdeck(*again, cwd=tmp_path, env={"COIN": coin})
        assert answer.returncode == 0, answer.stdout + answer.stderr
        assert answer.stdout.splitlines()[-3:] == ["then: passed, reward 1", f"now:  {ended}", f"now:  {ended}"]
    assert (run / "events.jsonl").read_bytes() == before
    digests = {
        row.sha256
        for folder in (run, *(tmp_path / "again").iterdir())
        for trial in state_of(folder).trials.values()
        for row in trial.artifacts
        if row.source == "/app"
    }
    assert len(digests) == 1


def test_a_trial_that_left_no_recording_can_not_be_replayed(tmp_path: Path) -> None:
    small_task(tmp_path / "tasks" / "plain")
    assert trialdeck("run", "tasks", "--agent", "nop", "--plain", cwd=tmp_path).returncode == 0
    answer = trialdeck("replay", "last", "plain", cwd=tmp_path)
    assert answer.returncode == 2 and "left no trajectory.json" in answer.stderr


def test_a_run_of_a_card_measures_what_the_card_says(tmp_path: Path) -> None:
    half = "echo 0.5 > /logs/verifier/reward.txt\n"
    small_task(tmp_path / "tasks" / "half", test=half)
    assert trialdeck("card", "new", "card.toml", cwd=tmp_path).returncode == 0
    card = tmp_path / "card.toml"
    card.write_text(card.read_text().replace('"reward == 1"', '"reward >= 0.5"'))
    assert trialdeck("card", "freeze", "card.toml", cwd=tmp_path).returncode == 0
    done = trialdeck("run", "card.toml", "--concurrency", "2", "--plain", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    run = only_run(tmp_path)
    assert {trial.state for trial in state_of(run).trials.values()} == {"passed"}
    same = trialdeck("card", "diff", "card.toml", str(run), "--json", cwd=tmp_path)
    assert same.returncode == 0, same.stdout
    assert {one["field"].partition(".")[0] for one in json.loads(same.stdout)["differences"]} == {"conduct"}
    assert f'digest = "{read_card(run).digest}"' in card.read_text()
